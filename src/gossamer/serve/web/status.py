"""What the crawl does, and whether an index is served."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.routing import Route

from gossamer.overview import overview
from gossamer.serve.web import answers

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from gossamer.serve.live import Live
    from gossamer.workspace import Workspace


class Status:
    def __init__(self, work: Workspace, live: Live) -> None:
        self._work = work
        self._live = live

    def routes(self) -> list[Route]:
        return [
            Route("/status", self.page),
            Route("/api/status", self.api),
            Route("/health", self.health),
        ]

    def page(self, _: Request) -> Response:
        return answers.page("status.html", crawl=overview(self._work))

    def api(self, _: Request) -> Response:
        return answers.json(overview(self._work))

    def health(self, _: Request) -> Response:
        searcher = self._live.searcher()
        if searcher is None:
            raise HTTPException(503, "no index yet")
        return answers.json({"status": "ok", "pages": searcher.pages})
