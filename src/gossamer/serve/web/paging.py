"""What is known of a page, as a page and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.routing import Route

from gossamer.serve import copies
from gossamer.serve.web import answers

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from gossamer.serve.pages import KnownPage, Pages
    from gossamer.workspace import Workspace

SHOWN_LINKS = 50
MAX_LINKS = 500


class Paging:
    def __init__(self, work: Workspace, pages: Pages) -> None:
        self._work = work
        self._pages = pages

    def routes(self) -> list[Route]:
        return [Route("/page", self.page), Route("/api/page", self.api)]

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
            raise HTTPException(400, f"limit: at most {MAX_LINKS}")
        return answers.json(self._known(request, offset, limit))

    def _known(self, request: Request, offset: int, limit: int) -> KnownPage:
        url = answers.address(request, self._pages)
        self._work.store.refresh()
        shown = isinstance(copies.find(self._work, self._pages, url), copies.Copy)
        known = self._pages.known(url, offset, limit, copy=shown)
        if known is None:
            raise HTTPException(404, "The crawl has never met this URL.")
        return known
