"""Programs that follow the changes of an index, and keep what they lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.index.changes.cursor import decode_cursor, encode_cursor
from gossamer.index.changes.reading import ChangeLog

if TYPE_CHECKING:
    from gossamer.index.changes.reading import Change
    from gossamer.state.workspace import Workspace

STAYS = ("added", "changed")


class Reader:
    """Applies changes to a set of pages that is empty at first, and checks that each makes sense.

    `pages`: by URL, the round of the document as the changes say.
    """

    def __init__(self) -> None:
        self.pages: dict[str, int | None] = {}
        self.met: list[Change] = []
        self._kept = ""

    def read(self, work: Workspace, count: int = 1_000) -> bool:
        """Read some changes; returns whether there were any. Raises ForgottenChanges."""
        log, crawl = ChangeLog(work), work.store.manifest.crawl
        since = log.cursor(self._kept)
        found, after = log.read(since, count)
        for placed in found:
            self._apply(placed.change)
        self._kept = encode_cursor(after, crawl)
        assert decode_cursor(self._kept, crawl) == after
        return after != since

    def read_all(self, work: Workspace, count: int = 1_000) -> None:
        while self.read(work, count):
            pass

    def _apply(self, change: Change) -> None:
        self.met.append(change)
        assert (change.url in self.pages) == (change.change != "added")
        if change.change in STAYS:
            self.pages[change.url] = change.round
        else:
            self.pages.pop(change.url, None)
