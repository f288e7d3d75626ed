"""The changes of the index, for programs that keep a copy of what it holds.

    with Crawl.open("my-web") as crawl:
        for change, cursor in crawl.changes.each(since=kept):
            ...

Whoever applies them in their order, from the beginning or from a cursor, has the pages that the
index has. `added` and `changed` replace what there is of the page; the others remove it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from gossamer.index.changes.cursor import encode_cursor
from gossamer.index.changes.reading import Change, ChangeLog
from gossamer.tables import DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gossamer.index.changes.cursor import Cursor
    from gossamer.state.workspace import Workspace

AT_ONCE = 10_000
TEXTS_AT_ONCE = 500
"""Changes whose texts are read together, and held in memory."""
_TEXT = ("title", "description", "language", "published_ms", "modified_ms", "wishes")


class PageText(msgspec.Struct, frozen=True):
    """What the index holds of a page. Times are ms since 1970, UTC.

    `wishes`: of its publisher, about uses of the text (docs/wishes.md).
    """

    title: str | None
    description: str | None
    language: str | None
    published_ms: int | None
    modified_ms: int | None
    wishes: str | None
    text: str | None


class NextChange(NamedTuple):
    """A change, the cursor of a reader who has it, and the page's text if it was asked for."""

    change: Change
    cursor: str
    page: PageText | None = None


class CrawlChanges:
    """The changes up to the last harvest."""

    def __init__(self, work: Workspace) -> None:
        self._work = work
        self._log = ChangeLog(work)

    @property
    def now(self) -> str:
        """The cursor of a reader who wants only what comes from now on."""
        return self._encoded(self._log.end())

    def each(self, since: str = "", site: str = "", *, texts: bool = False) -> Iterator[NextChange]:
        """Yield all changes after a cursor; without one, all pages first.

        `site`: only pages of this host, or of hosts below it. `texts`: with the text of each page
        that was added or has changed. Raises InvalidCursor, and ForgottenChanges if the changes
        after the cursor are not kept any more.
        """
        self._work.store.refresh()
        after = self._log.cursor(since)
        while True:
            self._work.store.refresh()  # the files of older states may be deleted meanwhile
            with self._work.errors():
                found, end = self._log.read(after, TEXTS_AT_ONCE if texts else AT_ONCE, site)
                changes = [placed.change for placed in found]
                pages = self._texts(changes) if texts else {}
            for change, cursor in found:
                page = pages.get((change.url, change.round))
                yield NextChange(change, self._encoded(cursor), page)
            if end == after:
                return
            after = end

    def _encoded(self, cursor: Cursor) -> str:
        return encode_cursor(cursor, self._work.store.manifest.crawl)

    def _texts(self, changes: Sequence[Change]) -> dict[tuple[str, int | None], PageText]:
        """By URL and round, the texts of changed pages: of their documents, or of the next ones.

        A document that a newer one has replaced may be merged away. If the newer one differs, a
        later change says so.
        """
        from pyspark.sql import functions as F

        wanted = [(change.url, change.round) for change in changes if change.round is not None]
        if not wanted:
            return {}
        pages = self._work.engine.spark.createDataFrame(wanted, "url string, since int")
        documents = self._work.engine.read_some(self._work.paths(DOCUMENTS.name), DOCUMENTS.ddl)
        rows = (
            documents.where("outcome = 'parsed'")
            .select("url", "round", *_TEXT, F.col("main_text").alias("text"))
            .join(pages, on="url", how="inner")
            .where("round >= since")
            .orderBy(F.desc("round"))  # so that the first of them is the last to be kept
        )
        return {
            (row["url"], row["since"]): PageText(
                **{name: row[name] for name in PageText.__struct_fields__}
            )
            for row in rows.toLocalIterator()
        }
