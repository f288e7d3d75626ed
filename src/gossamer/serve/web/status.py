"""What the crawl does, and whether an index is served."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from starlette.exceptions import HTTPException
from starlette.routing import Route

from gossamer.monitor import Heartbeat  # noqa: TC001  # msgspec reads the annotations
from gossamer.overview import overview
from gossamer.serve.web import answers
from gossamer.store import StepReport  # noqa: TC001  # as above

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from gossamer.serve.live import Live
    from gossamer.workspace import Workspace


class Held(msgspec.Struct, frozen=True):
    """What a dataset holds."""

    rows: int
    bytes: int
    layers: int
    files: int


class CrawlStatus(msgspec.Struct, frozen=True):
    """The form of gossamer.overview: totals of steps, the last of them, and the tasks at work."""

    path: str
    version: int
    round: int
    datasets: dict[str, Held]
    counts: dict[str, dict[str, int]]
    refused: dict[str, int]
    steps: list[StepReport]
    tasks: list[Heartbeat]


class Health(msgspec.Struct, frozen=True):
    """An index is being served, of so many pages."""

    status: str
    pages: int


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
        return answers.json(Health("ok", searcher.pages))
