"""Counts of the server and figures of the crawl in Prometheus' text format, at /metrics.

The label `route` is the path of a known route, or `other`, never a path that a stranger made up:
each value of a label costs memory for as long as the server lives.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import prometheus_client as prometheus
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Histogram
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector
from starlette.responses import Response
from starlette.routing import Route

from gossamer.serve.web.crawl_metrics import CrawlMetrics
from gossamer.serve.web.expensive_responses import Guard
from gossamer.serve.web.site_path import route_of

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator

    from prometheus_client import Metric
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from gossamer.search.searcher import Searcher
    from gossamer.serve.cluster.cluster import Cluster
    from gossamer.serve.cluster.cover import Cover
    from gossamer.serve.cluster.nodes import Nodes
    from gossamer.serve.dispatch.cache import Cache
    from gossamer.status.overview import CrawlWatch

BUCKETS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
OTHER = "other"


class Metrics:
    """Counts the requests of one application, and reports them with the figures of its crawl."""

    def __init__(
        self,
        watch: CrawlWatch,
        opened: Callable[[], Searcher | Cover | None],
        elsewhere: Cluster | Nodes | None,
        cache: Cache,
        refused: Counter[str],
        kept_s: float,
    ) -> None:
        """`opened` returns the index that answers now; `elsewhere`: the other processes."""
        self._guard = Guard("metrics", kept_s=kept_s)
        self._registry = CollectorRegistry()
        self._registry.register(_OfLimits(refused))
        self._registry.register(CrawlMetrics(watch, opened, elsewhere))
        self._registry.register(_OfCache(cache))
        self._requests = prometheus.Counter(
            "gossamer_requests",
            "Requests answered, by route and HTTP status.",
            ["route", "status"],
            registry=self._registry,
        )
        self._seconds = Histogram(
            "gossamer_request_seconds",
            "From the request to the end of the answer, by route.",
            ["route"],
            buckets=BUCKETS_S,
            registry=self._registry,
        )

    def routes(self) -> list[Route]:
        return [Route("/metrics", self._guard(self.answer))]

    def answer(self, _: Request) -> Response:
        text = generate_latest(self._registry)
        return Response(text, headers={"cache-control": "no-store"}, media_type=CONTENT_TYPE_LATEST)

    def around(self, inner: ASGIApp) -> ASGIApp:
        """Wrap an application so that its requests are counted and timed."""

        async def counted(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await inner(scope, receive, send)
                return
            status = 500
            started = time.perf_counter()

            async def send_and_note(message: Message) -> None:
                nonlocal status
                if message["type"] == "http.response.start":
                    status = message["status"]
                await send(message)

            try:
                await inner(scope, receive, send_and_note)
            finally:
                route = _matched_route(scope)
                self._requests.labels(route, str(status)).inc()
                self._seconds.labels(route).observe(time.perf_counter() - started)

        return counted


def _matched_route(scope: Scope) -> str:
    """The path of the matched route, or OTHER."""
    path = route_of(scope)
    if path.startswith("/static/"):
        return "/static"
    return path if "endpoint" in scope else OTHER


class _OfCache(Collector):
    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def collect(self) -> Iterator[Metric]:
        searches = CounterMetricFamily(
            "gossamer_searches", "Searches, by whether the answer was cached.", labels=["kept"]
        )
        searches.add_metric(["yes"], self._cache.hits)
        searches.add_metric(["no"], self._cache.misses)
        yield searches
        yield GaugeMetricFamily(
            "gossamer_cached_answers_bytes", "Memory of the cached answers.", self._cache.bytes
        )


class _OfLimits(Collector):
    def __init__(self, refused: Counter[str]) -> None:
        self._refused = refused

    def collect(self) -> Iterator[Metric]:
        refused = CounterMetricFamily(
            "gossamer_refused",
            "Requests refused and connections cut off to stay within a bound, by reason.",
            labels=["reason"],
        )
        for reason, count in sorted(self._refused.items()):
            refused.add_metric([reason], count)
        yield refused
