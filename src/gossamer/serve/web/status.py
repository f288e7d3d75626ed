"""What the crawl does, and whether an index is served."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.routing import Route

from gossamer.monitor import Heartbeat  # noqa: TC001  # msgspec reads the annotations
from gossamer.overview import overview
from gossamer.serve import charts, dashboard
from gossamer.serve.web import answers
from gossamer.store import StepReport  # noqa: TC001  # as above

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from gossamer.lookup import Lookup
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
    def __init__(self, work: Workspace, live: Live, lookup: Lookup) -> None:
        self._work = work
        self._live = live
        self._history = dashboard.History()
        self._hosts = dashboard.Hosts(work, lookup)

    def routes(self) -> list[Route]:
        return [
            Route("/status", self.page),
            Route("/api/status", self.api),
            Route("/health", self.health),
        ]

    def page(self, _: Request) -> Response:
        crawl, now_ms = self._look()
        history = msgspec.to_builtins(self._work.store.manifest.history)
        rounds = dashboard.rounds(history)
        rates = self._history.rates()
        return answers.page(
            "status.html",
            crawl=crawl,
            now=dashboard.now(crawl["tasks"], now_ms),
            outcomes=dashboard.outcomes(crawl["counts"].get("fetch", {})),
            rounds=rounds,
            rounds_chart=charts.bars(
                [
                    (f"round {done.number}: {done.asked:,} URLs", done.asked, done.failed)
                    for done in rounds
                ],
                f"URLs asked for in each of the last {len(rounds)} rounds",
            ),
            rates=rates,
            rates_chart=charts.curve(rates, "Pages a second, while somebody looked"),
            hosts=self._hosts.busiest(),
        )

    def api(self, _: Request) -> Response:
        return answers.json(self._look()[0])

    def _look(self) -> tuple[dict[str, Any], int]:
        """The state in figures, and when; it is remembered how far tasks are."""
        crawl, now_ms = overview(self._work), self._work.now_ms()
        self._history.note(crawl["tasks"], now_ms)
        return crawl, now_ms

    def health(self, _: Request) -> Response:
        searcher = self._live.searcher()
        if searcher is None:
            raise HTTPException(503, "no index yet")
        return answers.json(Health("ok", searcher.pages))
