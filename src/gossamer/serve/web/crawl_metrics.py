"""The figures of the crawl at /metrics, read from it at each request.

By Prometheus' conventions: base units in the names, counters that only grow, times as seconds since
1970. A label has few values: outcomes, datasets, steps, and of hosts the ten with most failures and
the ten slowest.
"""

from __future__ import annotations

import threading
from collections import Counter
from math import inf
from typing import TYPE_CHECKING, Any

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from gossamer.errors import StoreError
from gossamer.status.fetch_progress import running_counts
from gossamer.tables.outcomes import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from prometheus_client import Metric

    from gossamer.search.searcher import Searcher
    from gossamer.serve.cluster.cluster import Cluster
    from gossamer.serve.cluster.cover import Cover
    from gossamer.serve.cluster.nodes import Nodes
    from gossamer.status.busy_hosts import Hosts
    from gossamer.status.due_queue import Freshness, Queue
    from gossamer.status.overview import CrawlWatch
    from gossamer.storage.store import StepReport


class CrawlMetrics(Collector):
    def __init__(
        self,
        watch: CrawlWatch,
        opened: Callable[[], Searcher | Cover | None],
        elsewhere: Cluster | Nodes | None,
    ) -> None:
        self._watch = watch
        self._opened = opened
        self._elsewhere = elsewhere
        self._fetches = Fetches()

    def collect(self) -> Iterator[Metric]:
        try:
            index = self._opened()
        except StoreError:  # the other figures are still reported
            index = None
        well = GaugeMetricFamily(
            "gossamer_node_up",
            "Whether the last request to a search process succeeded.",
            labels=["group", "address"],
        )
        for group, address, is_well in self._elsewhere.health() if self._elsewhere else ():
            well.add_metric([group, address], float(is_well))
        yield well
        crawl = self._watch.look()
        pages = index.pages if index else 0
        yield _gauge("index_pages", "Pages in the index.", pages)
        yield _gauge(
            "index_generation",
            "The number of the commit that requests are answered from.",
            crawl["version"],
        )
        yield from _crawl_state(crawl)
        yield from _dataset_metrics(crawl["datasets"])
        if crawl["hosts"] is not None:
            yield from _host_metrics(crawl["hosts"])
        if crawl["queue"] is not None:
            yield from _queue_metrics(crawl["queue"], crawl["freshness"])
        yield self._fetched(crawl)

    def _fetched(self, crawl: Mapping[str, Any]) -> Metric:
        history = self._watch.work.store.manifest.history
        fetches = CounterMetricFamily(
            "gossamer_fetches",
            "Requests for pages, by outcome, since the server was started.",
            labels=["outcome"],
        )
        running = running_counts(history, crawl["tasks"])
        for outcome, count in sorted(self._fetches.look(history, running).items()):
            fetches.add_metric([outcome], count)
        return fetches


class Fetches:
    """Counts fetches since it was made, of which the history forgets the oldest. Thread-safe."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._round: int | None = None
        self._committed = Counter[str]()
        self._before: Mapping[str, int] = {}
        """The outcomes so far of the fetch that was running when this was made."""
        self._told = Counter[str]()

    def look(self, history: Sequence[StepReport], running: Mapping[str, int]) -> Mapping[str, int]:
        """The counts by outcome. `running`: those of a fetch that has not committed yet."""
        with self._guard:
            fetches = [report for report in history if report.step == "fetch"]
            if self._round is None:
                self._round = max((report.round for report in fetches), default=0)
                self._before = dict(running)
            for report in fetches:
                if report.round > self._round:
                    self._committed.update(report.counts)
                    self._round = report.round
            counts = Counter(self._committed)
            counts.update(running)
            counts.subtract(self._before)
            # What a killed fetch had counted, its repetition counts again, from zero: that must not
            # look like a restart of the server.
            self._told |= counts
            return {name: self._told[name] for name in OUTCOMES}


def _gauge(name: str, help_: str, value: float) -> GaugeMetricFamily:
    return GaugeMetricFamily(f"gossamer_{name}", help_, value)


def _labelled_gauge(
    name: str, help_: str, label: str, values: Mapping[str, float]
) -> GaugeMetricFamily:
    gauge = GaugeMetricFamily(f"gossamer_{name}", help_, labels=[label])
    for of, value in values.items():
        gauge.add_metric([of], value)
    return gauge


def _crawl_state(crawl: Mapping[str, Any]) -> Iterator[Metric]:
    disk = crawl["disk"]
    yield _gauge("round", "The crawl's last round.", crawl["round"])
    yield _gauge("paused", "Whether the crawl pauses.", float(crawl["paused"] is not None))
    yield _gauge(
        "running",
        "Whether a process holds the crawl's lock for writing.",
        float(crawl["running"] is not None),
    )
    if crawl["last_commit_ms"] is not None:
        yield _gauge(
            "last_commit_timestamp_seconds",
            "When the last step committed.",
            crawl["last_commit_ms"] / 1000,
        )
    last = {step["step"]: step["seconds"] for step in crawl["steps"]}
    yield _labelled_gauge(
        "last_step_duration_seconds", "Duration of the last run of each step.", "step", last
    )
    left = {lane.step: lane.left for lane in crawl["lanes"]}
    yield _labelled_gauge(
        "running_step_left", "Pages or documents that a running step has left.", "step", left
    )
    if disk.free_bytes is not None:
        what = "Free space on the fullest disk that holds the crawl."
        yield _gauge("free_bytes", what, disk.free_bytes)
    yield _gauge(
        "disk_full_seconds",
        "Time until the crawl's growth has used this space up to store.min_free_gb; +Inf: never.",
        inf if disk.full_in_s is None else disk.full_in_s,
    )


def _dataset_metrics(datasets: Mapping[str, Mapping[str, int]]) -> Iterator[Metric]:
    rows = {name: held["rows"] for name, held in datasets.items()}
    yield _labelled_gauge("rows", "Rows per dataset.", "dataset", rows)
    sizes = {name: held["bytes"] for name, held in datasets.items()}
    yield _labelled_gauge("dataset_bytes", "Size per dataset.", "dataset", sizes)


def _host_metrics(hosts: Hosts) -> Iterator[Metric]:
    yield _gauge("hosts", "Hosts that were contacted.", hosts.known)
    yield _gauge("failing_hosts", "Hosts whose last contact failed.", hosts.failing_count)
    yield _labelled_gauge(
        "host_failures",
        "Failures in a row, of the ten hosts with the most.",
        "host",
        {host.host: host.failures for host in hosts.failing},
    )
    yield _labelled_gauge(
        "host_response_seconds",
        "Duration of the last contact, of the ten slowest hosts.",
        "host",
        {host.host: host.latency_ms / 1000 for host in hosts.slowest},
    )


def _queue_metrics(queue: Queue, freshness: Freshness) -> Iterator[Metric]:
    within = {"now": queue.due, "hour": queue.within_hour, "day": queue.within_day}
    yield _labelled_gauge(
        "due_pages", "Pages due within a time; each includes the last.", "within", within
    )
    yield _gauge("fetched_pages", "Pages that are fetched.", freshness.fetched)
    yield _gauge(
        "overdue_pages", "Fetched pages that are due to be fetched again.", freshness.overdue
    )
    yield _gauge(
        "most_overdue_seconds",
        "How long the fetched page that waits longest has been due.",
        freshness.most_overdue_s,
    )
