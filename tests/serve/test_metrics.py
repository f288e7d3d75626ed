"""The figures of the crawl at /metrics."""

from __future__ import annotations

from collections import Counter
from math import inf
from typing import TYPE_CHECKING

import pytest
from prometheus_client.parser import text_string_to_metric_families

from gossamer.serve.web.crawl_metrics import Fetches
from gossamer.state import pausing
from gossamer.state.heartbeats import Heartbeat
from gossamer.status.busy_hosts import SHOWN_HOSTS
from gossamer.storage.store import StepReport
from tests.support.search_server import samples, serving
from tests.support.small_index import crawl
from tests.support.stored_web import put_rows

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

    from gossamer.state.workspace import Workspace

pytestmark = pytest.mark.server

HOUR_MS = 3_600_000
NO_LABELS: frozenset[tuple[str, str]] = frozenset()


def value(client: httpx.Client, name: str, **labels: str) -> float | None:
    return samples(client).get((f"gossamer_{name}", frozenset(labels.items())))


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    made = crawl(tmp_path / "crawl")
    made.clock_ms = 1_800_000_000_000
    return made


def fetched(round_: int, **counts: int) -> StepReport:
    return StepReport("fetch", round_, 0, 1.0, counts)


def test_the_crawl_s_state(work: Workspace) -> None:
    with work.step("fetch", 3) as draft:
        draft.counts.update(ok=5)
    with serving(work) as client:
        assert value(client, "round") == 3
        assert value(client, "index_generation") == work.store.manifest.version
        assert value(client, "index_pages") == 0
        assert value(client, "paused") == 0
        assert value(client, "running") == 0
        assert value(client, "disk_full_seconds") == inf
        (report,) = work.store.manifest.history
        assert value(client, "last_commit_timestamp_seconds") == report.ended_ms / 1000
        assert value(client, "last_step_duration_seconds", step="fetch") == report.seconds
        pausing.pause(work.root)
        with work.store.lock():
            assert value(client, "running") == 1
        assert value(client, "paused") == 1


def test_fetches_are_counted_while_they_run(work: Workspace) -> None:
    with work.step("fetch", 1) as draft:
        draft.counts.update(ok=5, timeout=1)
    with serving(work) as client:
        assert value(client, "fetches_total", outcome="ok") == 0
        Heartbeat(work.root, "fetch", 2, "0", 100).beat(25, "ok")
        assert value(client, "fetches_total", outcome="ok") == 25
        assert value(client, "running_step_left", step="fetch") is None, "its clock is another"
        with work.step("fetch", 2) as draft:
            draft.counts.update(ok=90, timeout=10)
        assert value(client, "fetches_total", outcome="ok") == 90
        assert value(client, "fetches_total", outcome="timeout") == 10


def test_counts_never_shrink() -> None:
    counter = Fetches()
    looks = [
        ([fetched(1, ok=7)], {"ok": 20}),  # 20 were counted before
        ([fetched(1, ok=7)], {"ok": 50}),
        ([fetched(1, ok=7)], {"ok": 3}),  # killed, and begun again
        ([fetched(1, ok=7), fetched(2, ok=90)], {}),
        ([fetched(3, ok=10), fetched(4, timeout=1)], {"ok": 1}),  # the oldest are forgotten
    ]
    told = [counter.look(history, Counter(running))["ok"] for history, running in looks]
    assert told == [0, 30, 30, 70, 81]


def test_the_queue_and_freshness(work: Workspace) -> None:
    now_ms = work.now_ms()
    interval_s = 30 * 86_400
    rows = [
        {"from_ms": 0, "fetched": False, "pages": 7},
        {"from_ms": now_ms - 2 * HOUR_MS, "fetched": True, "pages": 2},
        {"from_ms": now_ms + HOUR_MS // 2, "fetched": True, "pages": 30},
        {"from_ms": now_ms + 20 * HOUR_MS, "fetched": True, "pages": 100},
    ]
    with serving(work) as client:
        assert value(client, "due_pages", within="now") is None
        put_rows(work, "due_times", [{"interval_s": interval_s, **row} for row in rows])
        due = [value(client, "due_pages", within=within) for within in ("now", "hour", "day")]
        assert due == [9, 39, 139]
        assert value(client, "fetched_pages") == 132
        assert value(client, "overdue_pages") == 2
        assert value(client, "most_overdue_seconds") == 6_600


def test_labels_with_hosts_are_bounded(work: Workspace) -> None:
    rows = [
        {"host": f"h{n}.example", "requests": 1, "failures": n, "latency_ms": 1_000 * n}
        for n in range(3 * SHOWN_HOSTS)
    ]
    put_rows(work, "hosts", rows)
    with serving(work) as client:
        hosts = [name for name, labels in samples(client) for key, _ in labels if key == "host"]
        assert Counter(hosts) == dict.fromkeys(
            ("gossamer_host_failures", "gossamer_host_response_seconds"), SHOWN_HOSTS
        )
        assert value(client, "hosts") == 30
        assert value(client, "failing_hosts") == 29
        assert value(client, "host_response_seconds", host="h29.example") == 29


def test_every_metric_has_a_help_text_and_a_name_by_the_conventions(work: Workspace) -> None:
    with serving(work) as client:
        families = list(text_string_to_metric_families(client.get("/metrics").text))
    for family in families:
        assert family.documentation.endswith("."), family.name
        assert family.name.startswith("gossamer_")
        assert family.type in ("counter", "gauge", "histogram")
        assert not family.name.endswith(("_ms", "_gb", "_days", "_total"))


def test_damaged_hosts_are_no_reason_to_be_silent(work: Workspace) -> None:
    put_rows(work, "hosts", [{"host": "a.example", "failures": 1}])
    (path,) = work.paths("hosts")
    with open(path, "ab") as file:  # noqa: PTH123  # a test of damage
        file.write(b"x")
    with serving(work) as client:
        assert value(client, "failing_hosts") is None
        assert value(client, "round") == 0
        assert path in client.get("/status").text
        assert path in client.get("/api/v1/status").json()["problems"][0]
