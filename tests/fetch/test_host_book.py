"""What a task keeps of its hosts, without a fetch."""

from __future__ import annotations

import math
import time
from types import SimpleNamespace
from typing import Any

import pytest

from gossamer.fetch import host_book
from gossamer.fetch.exchange import FetchResult
from gossamer.fetch.host_book import HostBook, HostRecord, RobotsFile
from gossamer.web.robots_txt import keep_robots_s

A = "http://a.test"
FORBIDDING = b"User-agent: *\nDisallow: /"


@pytest.mark.parametrize(
    ("status", "age_ms", "known"),
    [
        (200, 0, True),
        (200, -1, False),
        (200, int(keep_robots_s(200) * 1000) - 1, True),
        (200, int(keep_robots_s(200) * 1000), False),
        (404, int(keep_robots_s(404) * 1000) - 1, True),
    ],
)
def test_robots_are_kept_for_a_time(status: int, age_ms: int, known: bool) -> None:
    book = HostBook()
    book.keep_robots(A, RobotsFile(5_000, status, FORBIDDING))
    assert (book.robots(A, 5_000 + age_ms) is not None) is known
    assert (book.robots(A, 5_000) is not None) is known, "a file that was too old is forgotten"
    assert book.robots("http://b.test", 5_000) is None


def test_the_oldest_robots_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_book, "MAX_ROBOTS_BYTES", 100)
    book = HostBook()
    for name in "abcb":
        book.keep_robots(f"http://{name}.test", RobotsFile(0, 200, b"#" * 50))
    assert [book.robots(f"http://{name}.test", 0) is not None for name in "abc"] == [0, 1, 1]
    book.keep_robots("http://d.test", RobotsFile(0, 200, b"#"))
    assert [book.robots(f"http://{name}.test", 0) is not None for name in "bcd"] == [1, 0, 1]


def test_a_host_was_never_asked_before_it_is() -> None:
    record = HostBook().record("a.test")
    numbers = ("contacted_ms", "latency_ms", "requests", "pages", "bytes", "ready_ms", "failures")
    assert [getattr(record, name) for name in numbers] == [0] * len(numbers)
    assert not record.touched


def test_requests_are_counted() -> None:
    book = HostBook()
    book.record_contact("a.test", FetchResult("ok", 1_000, 20, body=b"12345", address="192.0.2.1"))
    book.record_contact("a.test", FetchResult("timeout", 2_000, 30))
    assert book.record("a.test") == HostRecord(
        address="192.0.2.1",
        outcome="timeout",
        contacted_ms=2_030,
        latency_ms=30,
        requests=2,
        bytes=5,
        touched=True,
    )
    assert [name for name, _ in book.records()] == ["a.test"]


def test_a_host_is_away_from_its_first_silence_on() -> None:
    book = HostBook()
    assert book.record_silence("a.test", 100) == 0
    assert book.record_silence("a.test", 130) == 30
    assert book.record_silence("a.test", 90) == 0, "the clock was set back"
    book.record_outcome("a.test", "timeout", 95)
    assert book.record("a.test").away_ms == 90
    book.record_outcome("a.test", "robots_denied", 99)
    assert book.record("a.test").away_ms == 90
    book.record_outcome("a.test", "redirect", 99)
    assert book.record("a.test").away_ms is None
    book.record_outcome("a.test", "timeout", 95)
    assert book.record("a.test").away_ms == 95


def row_of(
    book: HostBook, depths: dict[str, int], ready_s: float = 0.0, failures: int = 0
) -> dict[str, Any] | None:
    host: Any = SimpleNamespace(name="a.test", ready_s=ready_s, failures=failures)
    rows = [row for batch in book.rows([host], depths, 40.0) for row in batch.to_pylist()]
    return rows[0] if rows else None


def contacted(**known: Any) -> HostBook:
    book = HostBook()
    book.record_contact("a.test", FetchResult("ok", 1_000))
    for name, value in known.items():
        setattr(book.record("a.test"), name, value)
    return book


@pytest.mark.parametrize(
    ("ready_s", "wait_s"), [(45.5, 5.5), (40.0, 0), (39.0, 0), (-math.inf, 0), (math.inf, 0)]
)
def test_a_host_is_ready_after_its_wait(ready_s: float, wait_s: float) -> None:
    before = int(time.time() * 1000)
    row = row_of(contacted(), {"a.test": 2}, ready_s, failures=3)
    assert row is not None
    assert before <= row["ready_ms"] - wait_s * 1000 <= time.time() * 1000
    assert (row["failures"], row["host"], row["depth"]) == (3, "a.test", 2)


def test_hosts_without_a_row() -> None:
    assert row_of(contacted(), {}) is None
    assert row_of(contacted(touched=False), {"a.test": 1}) is None
    assert row_of(HostBook(), {"a.test": 1}) is None


def test_a_known_host_keeps_its_depth() -> None:
    row = row_of(contacted(depth=0), {"a.test": 5})
    assert row is not None
    assert row["depth"] == 0


def test_the_robots_of_a_host_name_sitemaps_elsewhere() -> None:
    known = contacted(sitemaps=["http://old.test/s.xml"])
    row = row_of(known, {"a.test": 1})
    assert row is not None
    assert (row["robots"], row["sitemaps"]) == ([], ["http://old.test/s.xml"])
    body = b"Sitemap: http://z.test/s\nSitemap: http://b.test/s\nSitemap: /own\nSitemap: x y:"
    known.keep_robots(A, RobotsFile(7, 200, body))
    known.keep_robots("http://other.test", RobotsFile(7, 200, body))
    row = row_of(known, {"a.test": 1})
    assert row is not None
    assert row["sitemaps"] == ["http://b.test/s", "http://z.test/s"]
    assert row["robots"] == [{"origin": A, "fetched_ms": 7, "status": 200, "body": body}]


def test_rows_come_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_book, "ROWS_PER_BATCH", 2)
    book, names = HostBook(), [f"h{number}.test" for number in range(5)]
    for name in names:
        book.record_contact(name, FetchResult("ok", 0))
    hosts: list[Any] = [SimpleNamespace(name=name, ready_s=0.0, failures=0) for name in names]
    batches = list(book.rows(hosts, dict.fromkeys(names, 0), 0.0))
    assert [batch.num_rows for batch in batches] == [2, 2, 1]
    assert [name for batch in batches for name in batch["host"].to_pylist()] == names
