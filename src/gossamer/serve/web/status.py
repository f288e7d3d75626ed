"""Routes for the state of the crawl, and for whether an index is being served."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from starlette.exceptions import HTTPException
from starlette.routing import Route

from gossamer.duplicates import REASONS
from gossamer.errors import StoreError
from gossamer.monitor import TaskProgress  # noqa: TC001  # msgspec reads the annotations
from gossamer.serve import charts, dashboard
from gossamer.serve.web import answers
from gossamer.serve.web.guard import Guard
from gossamer.status import overview
from gossamer.store import StepReport  # noqa: TC001  # as above

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from gossamer.graph.queries import Spread
    from gossamer.lookup import Lookup
    from gossamer.serve.graphs import Graphs
    from gossamer.serve.reloader import Live
    from gossamer.workspace import Workspace


class Held(msgspec.Struct, frozen=True):
    """The size of a dataset."""

    rows: int
    bytes: int
    layers: int
    files: int


class CrawlStatus(msgspec.Struct, frozen=True):
    """The result of gossamer.status.overview: totals over all steps, the last steps, and tasks."""

    path: str
    version: int
    round: int
    paused: str | None
    """Why the crawl pauses."""
    datasets: dict[str, Held]
    counts: dict[str, dict[str, int]]
    refused: dict[str, int]
    duplicates: dict[str, int]
    truncated: int
    steps: list[StepReport]
    tasks: list[TaskProgress]


class Health(msgspec.Struct, frozen=True):
    """An index with this many pages is being served."""

    status: str
    pages: int


class Status:
    def __init__(self, work: Workspace, live: Live, lookup: Lookup, graphs: Graphs) -> None:
        self._work = work
        self._live = live
        self._graphs = graphs
        self._history = dashboard.History()
        self._hosts = dashboard.Hosts(work, lookup)

    def routes(self, kept_s: float) -> list[Route]:
        guard = Guard("status", kept_s=kept_s)
        return [
            Route("/status", guard(self.page)),
            Route("/api/status", guard(self.api)),
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
                f"URLs requested in each of the last {len(rounds)} rounds",
            ),
            rates=rates,
            rates_chart=charts.curve(rates, "Pages per second, while this page was open"),
            hosts=self._hosts.busiest(),
            reasons=REASONS,
            degrees=dashboard.degrees(spread := self._spread()),
            degree_charts=charts.degrees(spread) if spread else (),
        )

    def _spread(self) -> Spread | None:
        """The degrees of pages; None without a graph that can be read."""
        try:
            return self._graphs.ask("page", lambda graph: graph.spread)
        except StoreError:
            return None

    def api(self, _: Request) -> Response:
        return answers.json(self._look()[0])

    def _look(self) -> tuple[dict[str, Any], int]:
        """The state of the crawl and the time in ms; add a sample of the progress of tasks."""
        crawl, now_ms = overview(self._work), self._work.now_ms()
        self._history.note(crawl["tasks"], now_ms)
        return crawl, now_ms

    def health(self, _: Request) -> Response:
        searcher = self._live.searcher()
        if searcher is None:
            raise HTTPException(503, "no index yet")
        return answers.json(Health("ok", searcher.pages))
