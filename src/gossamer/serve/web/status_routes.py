"""Routes for the state of the crawl, and for whether an index is being served."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec
from starlette.exceptions import HTTPException
from starlette.routing import Route

from gossamer.dedup.dispositions import REASONS
from gossamer.errors import StoreError
from gossamer.serve.drawing import charts
from gossamer.serve.web import responses
from gossamer.serve.web.expensive_responses import Guard
from gossamer.state.heartbeats import TaskProgress  # noqa: TC001  # msgspec reads the annotations
from gossamer.status.busy_hosts import Hosts  # noqa: TC001  # as above
from gossamer.status.disk_space import Disk  # noqa: TC001  # as above
from gossamer.status.due_queue import Freshness, Queue  # noqa: TC001  # as above
from gossamer.status.fetch_progress import Lane, Outcome, Round, outcomes
from gossamer.storage.store import StepReport  # noqa: TC001  # as above

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from gossamer.links.graph.queries import Spread
    from gossamer.search.searcher import Searcher
    from gossamer.serve.cluster.cover import Cover
    from gossamer.serve.graphs import Graphs
    from gossamer.status.overview import CrawlWatch


class DegreeRange(msgspec.Struct, frozen=True):
    """How many pages have `least` to `most` inlinks, and outlinks."""

    least: int
    most: int
    with_inlinks: int
    with_outlinks: int


class Held(msgspec.Struct, frozen=True):
    """The size of a dataset."""

    rows: int
    bytes: int
    layers: int
    files: int


class CrawlStatus(msgspec.Struct, frozen=True):
    """The result of gossamer.status.overview: totals over all steps, the last steps, and tasks."""

    path: str
    at_ms: int
    running: str | None
    """The command that holds the crawl's lock for writing."""
    waiting: str | None
    """Until when a crawl without end waits, if it does."""
    problems: list[str]
    """Why some of the figures are missing."""
    version: int
    round: int
    paused: str | None
    """Why the crawl pauses."""
    datasets: dict[str, Held]
    counts: dict[str, dict[str, int]]
    refused: dict[str, int]
    duplicates: dict[str, int]
    truncated: int
    lanes: list[Lane]
    """The steps that are running."""
    rounds: list[Round]
    errors: list[Outcome]
    """Failures of the last ten rounds."""
    hosts: Hosts | None
    queue: Queue | None
    freshness: Freshness | None
    last_commit_ms: int | None
    disk: Disk
    steps: list[StepReport]
    tasks: list[TaskProgress]


class Health(msgspec.Struct, frozen=True):
    """An index with this many pages is being served."""

    status: str
    pages: int


class Status:
    def __init__(
        self, watch: CrawlWatch, opened: Callable[[], Searcher | Cover | None], graphs: Graphs
    ) -> None:
        """`opened` returns the index that answers at this moment."""
        self._watch = watch
        self._opened = opened
        self._graphs = graphs

    def routes(self, kept_s: float) -> list[Route]:
        guard = Guard("status", kept_s=kept_s)
        return [
            Route("/status", guard(self.page)),
            Route("/api/v1/status", guard(self.api)),
            Route("/health", self.health),
        ]

    def page(self, request: Request) -> Response:
        crawl = self._watch.look()
        rounds = crawl["rounds"]
        rates = self._watch.history.rates()
        return responses.page(
            request.scope,
            "status.html",
            crawl=crawl,
            outcomes=outcomes(crawl["counts"].get("fetch", {})),
            rounds_chart=charts.bar_chart(
                [
                    (f"round {done.number}: {done.asked:,} URLs", done.asked, done.failed)
                    for done in rounds
                ],
                f"URLs requested in each of the last {len(rounds)} rounds",
            ),
            rates=rates,
            rates_chart=charts.curve_chart(rates, "Pages per second, since somebody first looked"),
            reasons=REASONS,
            degrees=degrees(spread := self._spread()),
            degree_charts=charts.degree_chart(spread) if spread else (),
        )

    def _spread(self) -> Spread | None:
        """The degrees of pages; None without a graph that can be read."""
        try:
            return self._graphs.ask("page", lambda graph: graph.spread)
        except StoreError:
            return None

    def api(self, _: Request) -> Response:
        return responses.json(self._watch.look())

    def health(self, _: Request) -> Response:
        index = self._opened()
        if index is None:
            raise HTTPException(503, "no index yet")
        return responses.json(Health("ok", index.pages))


def degrees(spread: Spread | None) -> list[DegreeRange]:
    """Count pages by their numbers of links, in ranges that double: 0, 1, 2 to 3, 4 to 7 etc."""
    if spread is None:
        return []
    counts: list[Counter[int]] = []
    for points in spread:
        counts.append(Counter())
        for degree, pages in points:
            counts[-1][degree.bit_length()] += pages
    last = max((bits for count in counts for bits in count), default=-1)
    return [
        DegreeRange((1 << bits) >> 1, (1 << bits) - 1, *(count[bits] for count in counts))
        for bits in range(last + 1)
    ]
