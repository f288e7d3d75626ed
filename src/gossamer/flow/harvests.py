"""Harvests beside the rounds of a crawl without end: when, and in which thread?

A harvest reads the crawl as it was after a round (`Workspace.branch`) while the next rounds are
fetched, and then merges layers. There is one at a time. It costs about as much as what changed, but
never nothing, and shares the cores with the fetch. So while pages are due, harvests take at most
one part in PARTS of the time: one begins when as long has passed since the last one as that took.
While rounds are brief (round_length.py), one begins after each round that has brought something:
cores that wait for feeds are idle, and half of a harvest's time is what news would wait longer.

A crawl without delays can fetch faster than its pages become searchable. Each harvest would find
more than the one before, and take longer and more memory. So when MOST_BEHIND documents wait, the
next harvest begins as soon as the running one has ended, and rounds wait for that (`is_full`).

In a crawl that can be searched already, a harvest begins with what makes new pages searchable
(`rounds.SEARCHABLE`). What their links say of other pages takes longer, above all in a large crawl:
its steps pass over all ranks and links, however few have changed. So these steps follow
(`rounds.NEW_FIRST`) only when they take at most one part in LINK_PARTS of the time, and the next
harvest brings what they find into the index. When nothing is left to fetch, one more harvest takes
up what is missing, and then the crawl is as a harvest in the usual order would leave it.
"""

from __future__ import annotations

import threading
import time
from contextlib import ExitStack
from itertools import chain
from typing import TYPE_CHECKING

from gossamer.flow import rounds

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport

PARTS = 2
LINK_PARTS = 6
"""With ten million pages and thirty million links, the steps of links take 11 to 17 seconds on two
cores (bench/in_proportion.py). So anchors and ranks are up to a minute and a half old."""
MOST_BEHIND = 20_000
"""Documents for whose harvest rounds wait. A round with its limit of pages brings as many."""
END_S = 2.0
"""Seconds that a harvest may take to end which is given up. It can commit nothing any more."""


class Harvests:
    """The harvests of one crawl; a context manager that gives up the one that is running.

    `announce` and `report` are called in the thread of the harvest.
    """

    def __init__(
        self,
        announce: Callable[[str, int], None],
        report: Callable[[StepReport], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._announce, self._report, self._clock = announce, report, clock
        self._took_s, self._ended_s = 0.0, clock()
        self._links_took_s, self._links_ended_s = 0.0, clock()
        self._thread: threading.Thread | None = None
        self._branch = ExitStack()
        self._error: BaseException | None = None
        self.is_stale = True
        """Whether anything may have changed since the last one began."""
        self.behind = 0
        """Documents that came since the last one began."""
        self._links_wait = False
        """Whether the last one has left links for a later one."""
        self._index_lacks_links = False
        """Whether the last one has changed ranks and inlinks after it changed the index."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._branch.close()
        self.wait(END_S)

    @property
    def is_behind(self) -> bool:
        """Whether anything may still be missing in the index when the running one has ended."""
        return self.is_stale or self._links_wait or self._index_lacks_links

    @property
    def is_full(self) -> bool:
        """Whether so much waits for the next one that no further round may begin before it."""
        return self.behind >= MOST_BEHIND

    def are_due(self, *, found: bool, is_new: bool = True, hurries: bool = False) -> bool:
        """Whether it is time, after a round that `found` something to do, or nothing.

        `is_new`: whether what it found may change what is searchable. `hurries`: whether the next
        harvest need not wait as long as the last one took.

        Raises what `is_running` does.
        """
        self.is_stale |= found and is_new
        if self.is_running() or not (self.is_stale or (self.is_behind and not found)):
            return False
        has_rested = self._clock() - self._ended_s >= (PARTS - 1) * self._took_s
        return not found or hurries or self.is_full or has_rested

    def begin(self, work: Workspace) -> None:
        """Harvest what there is now."""
        branch = self._branch.enter_context(work.branch())
        steps = self._steps(branch)
        self._links_wait = steps == rounds.SEARCHABLE and (self._links_wait or self.is_stale)
        self._index_lacks_links = steps == rounds.NEW_FIRST
        self.is_stale, self.behind = False, 0
        self._thread = threading.Thread(target=self._run, args=(branch, steps), daemon=True)
        self._thread.start()

    def is_running(self) -> bool:
        """Whether a harvest runs. Raises the error that has ended one."""
        if self._thread is None:
            return False
        if self._thread.is_alive():
            return True
        self._thread = None
        self._branch.close()
        if self._error is not None:
            raise self._error
        return False

    def wait(self, seconds: float) -> None:
        """Wait until no harvest runs, but not for longer."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _steps(self, work: Workspace) -> tuple[str, ...]:
        """Those of the next harvest. Without a first index, new pages could not join it."""
        if not all(work.store.manifest.layers(name) for name in ("ranks", "index")):
            return tuple(rounds.HARVEST)
        if not self.is_stale:
            return tuple(rounds.HARVEST) if self._links_wait else rounds.SEARCHABLE
        rested_s = self._clock() - self._links_ended_s
        are_due = rested_s >= (LINK_PARTS - 1) * self._links_took_s
        return rounds.NEW_FIRST if are_due else rounds.SEARCHABLE

    def _run(self, branch: Workspace, steps: tuple[str, ...]) -> None:
        began_s = done_s = self._clock()
        links_s = 0.0
        try:
            with branch.errors():
                for done in chain(
                    rounds.harvest(branch, self._announce, steps),
                    rounds.merge_layers(branch, self._announce),
                ):
                    self._report(done)
                    before_s, done_s = done_s, self._clock()
                    if done.step in rounds.OF_LINKS:
                        links_s += done_s - before_s
                        self._links_took_s, self._links_ended_s = links_s, done_s
        except BaseException as error:  # noqa: BLE001  # `is_running` raises it
            self._error = error
        self._ended_s = self._clock()
        self._took_s = self._ended_s - began_s
