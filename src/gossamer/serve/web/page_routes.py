"""Routes for what the crawl knows about a page, as HTML and as JSON."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.exceptions import HTTPException
from starlette.routing import Route

from gossamer.dedup.dispositions import reason_of
from gossamer.errors import StoreError
from gossamer.links.graph.queries import UnknownName
from gossamer.serve import stored_copy
from gossamer.serve.drawing import link_map
from gossamer.serve.web import responses
from gossamer.serve.web.expensive_responses import Guard
from gossamer.serve.web.site_path import root_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from gossamer.links.graph.queries import Neighbourhood
    from gossamer.rules.absence import Absence
    from gossamer.search.page_info import KnownPage, PageInfo
    from gossamer.serve.graphs import Graphs
    from gossamer.state.workspace import Workspace

SHOWN_LINKS = 50
MAX_LINKS = 500
DRAWN_PAGES = 33
"""Pages of the drawing, with the one that it is about."""


class Paging:
    def __init__(self, work: Workspace, pages: PageInfo, left_out: Absence, graphs: Graphs) -> None:
        self._work = work
        self._pages = pages
        self._left_out = left_out
        self._graphs = graphs

    def routes(self, kept_s: float) -> list[Route]:
        guard = Guard("page", kept_s=kept_s)
        return [Route("/page", guard(self.page)), Route("/api/v1/page", guard(self.api))]

    def page(self, request: Request) -> Response:
        offset = responses.number_parameter(request, "offset", 0, strict=False)
        known = self._known(request, offset, SHOWN_LINKS)
        more = offset + SHOWN_LINKS < max(known.inlinks.known, known.outlinks.total)
        following = offset + SHOWN_LINKS if more else None
        around = None if offset else self._around(known.url)
        about = partial(_about, root_of(request.scope))
        return responses.page(
            request.scope,
            "page.html",
            page=known,
            why=reason_of(known.duplicates.reason or ""),
            around=around,
            maps=around
            and [draw(around, about) for draw in (link_map.draw_columns, link_map.line)],
            offset=offset,
            shown=SHOWN_LINKS,
            following=following,
        )

    def api(self, request: Request) -> Response:
        offset, limit = responses.span_parameter(request, SHOWN_LINKS, MAX_LINKS)
        return responses.json(self._known(request, offset, limit))

    def _around(self, url: str) -> Neighbourhood | None:
        """The page's neighbourhood; None if no graph that can be read has the page."""
        try:
            return self._graphs.ask("page", lambda graph: graph.neighbourhood(url, 1, DRAWN_PAGES))
        except (UnknownName, StoreError):
            return None

    def _known(self, request: Request, offset: int, limit: int) -> KnownPage:
        url = responses.address_parameter(request, self._pages)
        self._work.store.refresh()
        shown = isinstance(stored_copy.find_copy(self._work, self._pages, url), stored_copy.Copy)
        known = self._pages.describe(url, offset, limit, copy=shown)
        if known is None:
            why = self._left_out.why(url)
            raise HTTPException(404, f"The crawl does not hold this URL: {why}.")
        return known


def _about(root: str, url: str) -> str:
    return f"{root}/page?{urlencode({'url': url})}"
