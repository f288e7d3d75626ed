"""What is due, how fresh a crawl is, how it grows, and which hosts fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gossamer.schedule.due.due_counts import SLOT_MS, DueSlot
from gossamer.state import pausing
from gossamer.state.lookup import Lookup
from gossamer.status import disk_space
from gossamer.status.busy_hosts import SHOWN_HOSTS, HostWatch
from gossamer.status.due_queue import DAY_MS, HOUR_MS, Freshness, Queue, due_queue, freshness
from gossamer.status.overview import CrawlWatch
from gossamer.storage.store import File, Layer, Manifest, Stack, StepReport
from tests.support.bare_stores import unlisted
from tests.support.stored_web import put_rows

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.state.workspace import Workspace

NOW_MS = 3_000 * SLOT_MS
DAY_S = 86_400


def test_what_is_due_now_within_an_hour_and_within_a_day() -> None:
    counts = {
        DueSlot(0, DAY_S, fetched=False): 1,
        DueSlot(NOW_MS, DAY_S, fetched=True): 10,
        DueSlot(NOW_MS + HOUR_MS, DAY_S, fetched=True): 100,
        DueSlot(NOW_MS + DAY_MS, None, fetched=False): 1_000,
        DueSlot(NOW_MS + DAY_MS + SLOT_MS, DAY_S, fetched=True): 10_000,
    }
    assert due_queue(counts, NOW_MS, DAY_S) == Queue(11, 111, 1_111)


def test_a_changed_interval_shifts_pages_that_did_not_fail() -> None:
    counts = {
        DueSlot(NOW_MS - HOUR_MS, DAY_S, fetched=True): 1,
        DueSlot(NOW_MS - HOUR_MS, None, fetched=True): 10,
        DueSlot(0, DAY_S, fetched=True): 100,
    }
    assert due_queue(counts, NOW_MS, DAY_S).due == 111
    assert due_queue(counts, NOW_MS, 2 * DAY_S).due == 110
    assert due_queue(counts, NOW_MS, DAY_S // 2).within_hour == 111


def test_pages_are_overdue_when_all_of_their_ten_minutes_have_passed() -> None:
    counts = {
        DueSlot(NOW_MS - 3 * SLOT_MS, DAY_S, fetched=True): 1,
        DueSlot(NOW_MS, DAY_S, fetched=True): 3,
        DueSlot(0, DAY_S, fetched=False): 1_000,
        DueSlot(NOW_MS - HOUR_MS, None, fetched=False): 1_000,
    }
    assert freshness(counts, NOW_MS, DAY_S) == Freshness(4, 1, 1_200.0)
    assert freshness(counts, NOW_MS, DAY_S).share == 0.75
    assert freshness(counts, NOW_MS + SLOT_MS, DAY_S).overdue == 4
    assert freshness({}, NOW_MS, DAY_S).share == 1


def test_refreshed_pages_are_overdue_but_nobody_knows_since_when() -> None:
    counts = {DueSlot(0, DAY_S, fetched=True): 2}
    assert freshness(counts, NOW_MS, DAY_S) == Freshness(2, 2, 0.0)


def test_growth_is_the_slope_of_the_sizes() -> None:
    assert disk_space.growth([]) is None
    assert disk_space.growth([(0, 5), (disk_space.LEAST_MS - 1, 10)]) is None
    assert disk_space.growth([(0, 100), (DAY_MS, 350)]) == 250
    hours = range(24 * 7)
    jagged = [(hour * HOUR_MS, 1_000 * hour + (5_000 if hour % 2 else 0)) for hour in hours]
    assert disk_space.growth(jagged) == pytest.approx(24_000, rel=0.02)


def test_a_disk_is_full_when_the_crawl_would_pause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pausing, "fullest_disk", lambda _: pausing.Disk(500_000_000, "/disk"))
    history = tuple(
        StepReport("fetch", day, day * DAY_MS, 0.0, bytes=size)
        for day, size in ((1, 0), (2, 100_000_000), (3, 200_000_000))
    )
    layer = Layer(1, (File("warc/x", 1, 300_000_000),))
    datasets = {"warc": Stack(newest=(layer,))}
    manifest = Manifest(
        1, "crawl", datasets=datasets, reports=Stack(newest=history), reader=unlisted
    )
    found = disk_space.usage(str(tmp_path), manifest, 0.1, 4 * DAY_MS)
    assert (found.folder, found.free_bytes, found.used_bytes) == ("/disk", 500_000_000, 300_000_000)
    assert found.bytes_per_day == 100_000_000
    assert found.full_in_s == 4 * DAY_S
    assert disk_space.usage(str(tmp_path), manifest, 10, 4 * DAY_MS).full_in_s == 0
    empty = disk_space.usage(str(tmp_path), Manifest(1, "crawl", reader=unlisted), 0.1, 4 * DAY_MS)
    assert (empty.bytes_per_day, empty.full_in_s) == (None, None)


def test_the_size_of_a_crawl_is_in_the_report_of_each_step(work: Workspace) -> None:
    put_rows(work, "hosts", [{"host": "a.example"}])
    put_rows(work, "hosts", [{"host": "b.example"}])
    first, second = (report.bytes for report in work.store.manifest.history)
    assert 0 < first < second == work.store.manifest.bytes
    assert CrawlWatch(work).look()["disk"].used_bytes == second


def row(name: str, failures: int = 0, latency_ms: int = 0, requests: int = 1) -> dict[str, object]:
    return {
        "host": f"{name}.example",
        "failures": failures,
        "latency_ms": latency_ms,
        "requests": requests,
    }


def test_hosts_are_judged_by_their_newest_rows(work: Workspace) -> None:
    watch = HostWatch(work, Lookup(work))
    assert watch.look().known == 0
    put_rows(work, "hosts", [row("healed", 9, 9_000), row("bad", 2, 10, 7), row("slow", 0, 500)])
    assert [host.host for host in watch.look().failing] == ["healed.example", "bad.example"]
    put_rows(work, "hosts", [row("healed", 0, 5)])
    hosts = watch.look()
    assert (hosts.known, hosts.failing_count) == (3, 1)
    assert [host.host for host in hosts.failing] == ["bad.example"]
    slowest = [host.host for host in hosts.slowest]
    assert slowest == ["slow.example", "bad.example", "healed.example"]
    assert [host.requests for host in hosts.busiest] == [7, 1, 1]


def test_the_lists_of_hosts_are_bounded(work: Workspace) -> None:
    put_rows(work, "hosts", [row(f"h{n}", n, n) for n in range(1, 50)])
    hosts = HostWatch(work, Lookup(work)).look()
    assert [host.failures for host in hosts.failing] == list(range(49, 49 - SHOWN_HOSTS, -1))
    assert hosts.failing_count == 49


def test_hosts_are_read_once_per_commit_of_them(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_rows(work, "hosts", [row("a")])
    watch = HostWatch(work, Lookup(work))
    before = watch.look()
    monkeypatch.setattr(watch, "_read_hosts", lambda: pytest.fail("read again"))
    with work.step("other", 1):
        pass
    assert watch.look() is before
