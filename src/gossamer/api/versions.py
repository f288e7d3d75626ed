"""The versions of pages that the archive holds, and what is different between them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.errors import UsageError
from gossamer.search.page_info import PageInfo
from gossamer.serve.differences import Differences, parse_time
from gossamer.serve.stored_copy import Refusal
from gossamer.state.lookup import Lookup

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.serve.differences import Difference, PageChange
    from gossamer.state.workspace import Workspace

TIME_REMEDY = "give a day (2026-01-31), a time (2026-01-31T12:00:00Z), or 14 digits"


class CrawlVersions:
    """Times are texts: see `gossamer.serve.differences.parse_time`."""

    def __init__(self, work: Workspace) -> None:
        self._work = work
        self._pages = PageInfo(work, Lookup(work))
        self._differences = Differences(work, self._pages)

    def diff(self, url: str, since: str | None = None, until: str | None = None) -> Difference:
        """Compare the versions of a page at two times: by default, the newest and the one before.

        Raises UsageError if the page must not be shown, or the archive has no version of it.
        """
        normal = self._pages.normal(url)
        if normal is None:
            raise UsageError(url, "is not a URL that a crawl could contain", "give a URL of a page")
        since_ms = None if since is None else _time(since)
        until_ms = None if until is None else _time(until, ends=True)
        with self._work.errors():
            found = self._differences.of(normal, since_ms, until_ms)
        if isinstance(found, Refusal):
            remedy = f"to see what the crawl knows: gossamer explain {self._work.root} {normal}"
            raise UsageError(normal, found.why.rstrip("."), remedy)
        return found

    def changed(self, host: str, since: str) -> Iterator[PageChange]:
        """Yield the pages of a host whose text has changed since a time, by URL."""
        since_ms = _time(since)
        with self._work.errors():
            yield from self._differences.of_site(host.strip().lower(), since_ms)


def _time(text: str, *, ends: bool = False) -> int:
    try:
        return parse_time(text, ends=ends)
    except (ValueError, OverflowError):
        raise UsageError(text, "is not a time", TIME_REMEDY) from None
