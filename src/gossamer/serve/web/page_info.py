"""Routes for what the crawl knows about a page, as HTML and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.routing import Route

from gossamer.serve import cached_copy
from gossamer.serve.web import answers
from gossamer.serve.web.guard import Guard

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from gossamer.search.left_out import LeftOut
    from gossamer.search.page_info import KnownPage, PageInfo
    from gossamer.workspace import Workspace

SHOWN_LINKS = 50
MAX_LINKS = 500


class Paging:
    def __init__(self, work: Workspace, pages: PageInfo, left_out: LeftOut) -> None:
        self._work = work
        self._pages = pages
        self._left_out = left_out

    def routes(self, kept_s: float) -> list[Route]:
        guard = Guard("page", kept_s=kept_s)
        return [Route("/page", guard(self.page)), Route("/api/page", guard(self.api))]

    def page(self, request: Request) -> Response:
        offset = answers.number(request, "offset", 0, strict=False)
        known = self._known(request, offset, SHOWN_LINKS)
        more = offset + SHOWN_LINKS < max(known.inlinks.known, known.outlinks.total)
        following = offset + SHOWN_LINKS if more else None
        return answers.page(
            "page.html", page=known, offset=offset, shown=SHOWN_LINKS, following=following
        )

    def api(self, request: Request) -> Response:
        offset = answers.number(request, "offset", 0)
        limit = answers.number(request, "limit", SHOWN_LINKS)
        if limit > MAX_LINKS:
            raise HTTPException(400, f"limit may be at most {MAX_LINKS}")
        return answers.json(self._known(request, offset, limit))

    def _known(self, request: Request, offset: int, limit: int) -> KnownPage:
        url = answers.address(request, self._pages)
        self._work.store.refresh()
        shown = isinstance(cached_copy.find(self._work, self._pages, url), cached_copy.Copy)
        known = self._pages.known(url, offset, limit, copy=shown)
        if known is None:
            why = self._left_out.why(url)
            raise HTTPException(404, f"The crawl does not hold this URL: {why}.")
        return known
