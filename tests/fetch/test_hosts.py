"""What a task learns of hosts, passes on, and minds when it is told."""

from __future__ import annotations

import time
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from gossamer.fetch import host_book as fetch_hosts
from gossamer.fetch.exchange import FetchResult
from gossamer.fetch.host_book import HostBook, RobotsFile
from tests.support.fetched_parts import Fetched, Row, known_host, robots_file, settings, wanted
from tests.support.loopback import Loopback, page

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    Crawl = Callable[..., Fetched]

A = "http://a.test"
HOUR_MS, DAY_MS = 3_600_000, 86_400_000
FORBID_ALL = b"User-agent: *\nDisallow: /"


def now_ms() -> int:
    return int(time.time() * 1000)


def robots(fetched_ms: int, body: bytes, status: int = 200, origin: str = A) -> list[Row]:
    return [robots_file(origin, body, fetched_ms, status)]


@pytest.fixture
def crawl(tmp_path: Path, server: Loopback) -> Crawl:
    def run(rows: Iterable[Row | str], hosts: Sequence[Row] = (), **changes: object) -> Fetched:
        full = [wanted(row) if isinstance(row, str) else row for row in rows]
        return Fetched(tmp_path, full, settings(server, **changes), hosts)

    return run


def test_a_host_that_was_contacted_is_a_row(server: Loopback, crawl: Crawl) -> None:
    body = b"User-agent: *\nCrawl-delay: 0.01\nDisallow: /private"
    server.answers |= {"/robots.txt": page(body), "/a": page(b"x" * 100)}
    pages = [wanted(f"{A}/a"), wanted(f"{A}/b", asked=True), wanted(f"{A}/private")]
    before_ms = now_ms()
    (row,) = crawl(pages).hosts.values()
    assert (row["host"], row["address"], row["crawl_delay_s"]) == ("a.test", "127.0.0.1", 0.01)
    assert (row["requests"], row["pages"], row["failures"]) == (3, 1, 0)
    assert row["bytes"] == len(body) + 100
    assert row["outcome"] in {"ok", "not_found"}
    assert before_ms <= row["contacted_ms"] <= now_ms()
    assert row["contacted_ms"] <= row["ready_ms"] <= now_ms() + 10
    (kept,) = row["robots"]
    assert (kept["origin"], kept["status"], kept["body"]) == (A, 200, body)
    assert before_ms <= kept["fetched_ms"] <= now_ms()


def test_a_host_is_as_near_to_the_seeds_as_its_nearest_page(server: Loopback, crawl: Crawl) -> None:
    """Even if that was not asked for. A known host keeps its depth until `update` lowers it."""
    server.answers["/robots.txt"] = page(b"User-agent: *\nDisallow: /private")
    pages = [
        wanted(f"{host}/{path}", depth=depth)
        for host in (A, "http://b.test", "http://c.test")
        for path, depth in (("a", 5), ("private", 3))
    ]
    was = [known_host("b.test", depth=2), known_host("c.test", depth=4)]
    rows = crawl(pages, was).hosts
    assert {host: row["depth"] for host, row in rows.items()} == {
        "a.test": 3,
        "b.test": 2,
        "c.test": 4,
    }


def test_a_host_that_a_robots_txt_redirects_to_is_another_task_s(
    server: Loopback, crawl: Crawl
) -> None:
    """Of which there must be one row."""
    moved = page(status="301 Moved", headers=["Location: http://b.test/robots.txt"])
    server.answers["a.test/robots.txt"] = moved
    server.answers["b.test/robots.txt"] = page(FORBID_ALL)
    fetched = crawl([f"{A}/a"])
    assert [(asked.host, asked.path) for asked in server.asked] == [
        ("a.test", "/robots.txt"),
        ("b.test", "/robots.txt"),
    ]
    assert fetched.outcomes() == ["robots"]
    assert fetched.hosts.keys() == {"a.test"}


def test_counts_go_on_from_round_to_round(server: Loopback, crawl: Crawl) -> None:
    server.answers["/a"] = page(b"12345")
    was = known_host("a.test", requests=10, pages=5, bytes=1_000)
    (row,) = crawl([f"{A}/a"], [was]).hosts.values()
    assert (row["requests"], row["pages"], row["bytes"]) == (12, 6, 1_005)


def test_robots_is_kept_for_a_day(server: Loopback, crawl: Crawl) -> None:
    young = known_host("a.test", robots=robots(now_ms() - DAY_MS + 60_000, FORBID_ALL))
    fetched = crawl([f"{A}/a"], [young])
    assert fetched.outcomes() == ["robots"]
    assert not server.asked
    assert not fetched.hosts, "it was not contacted"


@pytest.mark.parametrize("age_ms", [DAY_MS + 1, -60_000])
def test_robots_is_not_kept_for_longer(server: Loopback, crawl: Crawl, age_ms: int) -> None:
    old = known_host("a.test", robots=robots(now_ms() - age_ms, FORBID_ALL))
    assert crawl([f"{A}/a"], [old]).outcomes() == ["not_found"]
    assert server.paths == ["/robots.txt", "/a"]


def test_that_there_is_no_robots_is_kept_too(server: Loopback, crawl: Crawl) -> None:
    assert crawl([f"{A}/a"], [known_host("a.test", robots=robots(now_ms(), b"", 404))]).rows
    assert server.paths == ["/a"]


def test_a_crawl_delay_that_was_kept_is_minded(server: Loopback, crawl: Crawl) -> None:
    body = b"User-agent: *\nCrawl-delay: 0.02"
    crawl([f"{A}/{n}" for n in range(3)], [known_host("a.test", robots=robots(now_ms(), body))])
    assert len(server.asked) == 3
    assert all(after.begun_s - before.begun_s >= 0.02 for before, after in pairwise(server.asked))


def test_the_delay_holds_from_round_to_round(server: Loopback, crawl: Crawl) -> None:
    ready_ms = now_ms() + 100
    kept = known_host("a.test", robots=robots(now_ms(), b"", 404), ready_ms=ready_ms)
    crawl([f"{A}/a"], [kept])
    assert time.time() * 1000 >= ready_ms
    assert server.paths == ["/a"]


def test_a_host_that_must_be_left_alone_for_long_is_not_waited_for(
    server: Loopback, crawl: Crawl
) -> None:
    fetched = crawl([f"{A}/a"], [known_host("a.test", ready_ms=now_ms() + 61_000)])
    assert fetched.counts == {"postponed_waiting": 1}
    assert not server.asked


YEAR_MS = 365 * DAY_MS


@pytest.mark.parametrize(
    ("contacted_ms", "ready_ms"), [(YEAR_MS, YEAR_MS + 1), (0, YEAR_MS), (2 * DAY_MS, 2 * DAY_MS)]
)
def test_a_wait_of_a_clock_that_was_ahead_is_not_believed(
    server: Loopback, crawl: Crawl, contacted_ms: int, ready_ms: int
) -> None:
    times = {"contacted_ms": now_ms() + contacted_ms, "ready_ms": now_ms() + ready_ms}
    assert crawl([f"{A}/a"], [known_host("a.test", **times)]).outcomes() == ["not_found"]
    assert server.paths == ["/robots.txt", "/a"]


def test_failures_are_counted_from_round_to_round(server: Loopback, crawl: Crawl) -> None:
    server.answers["/a"] = page(status="503 No")
    was = known_host("a.test", failures=7, robots=robots(now_ms(), b"", 404))
    fetched = crawl([wanted(f"{A}/a", score=2.0), f"{A}/b"], [was])
    assert fetched.outcomes() == ["busy", "postponed"]
    assert fetched.counts == {"busy": 1, "postponed_failing": 1}


def test_a_robots_that_cannot_be_had_is_asked_for_an_hour_later(
    server: Loopback, crawl: Crawl
) -> None:
    server.answers["/robots.txt"] = page(status="500 Oops")
    (row,) = crawl([f"{A}/a"]).hosts.values()
    assert row["ready_ms"] == pytest.approx(now_ms() + 3_600_000, abs=60_000)
    assert row["robots"] == []


def test_a_robots_that_cannot_be_had_for_long_is_asked_for_ever_more_rarely(
    server: Loopback, crawl: Crawl
) -> None:
    server.answers["/robots.txt"] = page(status="500 Oops")
    for away_ms, wait_ms in ((5 * HOUR_MS, 5 * HOUR_MS), (9 * DAY_MS, DAY_MS), (-DAY_MS, HOUR_MS)):
        known = known_host("a.test", away_ms=now_ms() - away_ms)
        (row,) = crawl([f"{A}/a"], [known]).hosts.values()
        assert row["ready_ms"] == pytest.approx(now_ms() + wait_ms, abs=60_000)
        assert row["away_ms"] <= now_ms()


def test_a_host_is_away_since_the_first_failure_after_its_last_answer(
    server: Loopback, crawl: Crawl
) -> None:
    kept = known_host("a.test", robots=robots(now_ms(), b"", 404))
    (row,) = crawl([wanted(f"{A}/a", score=2.0), f"{A}/b"], [kept]).hosts.values()
    away_ms = row["away_ms"]
    assert now_ms() - 60_000 < away_ms <= row["contacted_ms"]
    (row,) = crawl([f"{A}/a"], [kept | {"away_ms": 7}]).hosts.values()
    assert row["away_ms"] == 7
    server.answers["/b"] = page(b"b")
    (row,) = crawl([wanted(f"{A}/a", score=2.0), f"{A}/b"], [kept]).hosts.values()
    assert row["away_ms"] is None


def test_all_origins_of_a_host_stand_in_its_row(server: Loopback, crawl: Crawl) -> None:
    old = robots(now_ms(), b"", 404, "https://a.test")
    server.answers["/robots.txt"] = page(FORBID_ALL)
    (row,) = crawl([f"{A}/a"], [known_host("a.test", robots=old)]).hosts.values()
    assert {kept["origin"] for kept in row["robots"]} == {A, "https://a.test"}


def test_a_site_may_have_a_delay_of_its_own(server: Loopback, crawl: Crawl) -> None:
    sites = ({"hosts": "a.*", "delay_s": 0.02}, {"hosts": "*", "delay_s": 0.0})
    crawl([f"{A}/{n}" for n in range(2)], sites=_sites(sites), delay_s=60.0)
    assert len(server.asked) == 3
    assert all(after.begun_s - before.begun_s >= 0.02 for before, after in pairwise(server.asked))


def _sites(tables: Sequence[Row]) -> tuple[object, ...]:
    from gossamer.config import SiteConfig

    return tuple(SiteConfig(**table) for table in tables)


def test_robots_of_many_hosts_take_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_hosts, "MAX_ROBOTS_BYTES", 1_000)
    book = HostBook()
    for number in range(50):
        book.keep_robots(f"http://h{number}", RobotsFile(0, 200, b"#" * 100))
    assert [book.robots(f"http://h{n}", 1) is None for n in (0, 39, 40, 49)] == [1, 1, 0, 0]
    book.record_contact("h49", FetchResult("ok", 0))
    assert book.robots("http://h49", 1) is not None


def test_sitemaps_on_other_hosts_are_kept_longer_than_the_file(
    server: Loopback, crawl: Crawl
) -> None:
    body = b"Sitemap: /own.xml\nSitemap: http://a.test/too.xml\nSitemap: HTTP://cdn.test/a/../s.xml"
    server.answers |= {"/robots.txt": page(body), "/a": page(b"x")}
    (row,) = crawl([f"{A}/a"]).hosts.values()
    assert row["sitemaps"] == ["http://cdn.test/s.xml"]
    other = {"sitemaps": ["http://cdn.test/old.xml"]}
    unread = {"own_hosts": ("a.test",), "own_robots": False}
    (row,) = crawl([f"{A}/a"], [known_host("a.test", **other)]).hosts.values()
    assert row["sitemaps"] == ["http://cdn.test/s.xml"]
    (row,) = crawl([f"{A}/a"], [known_host("a.test", **other)], **unread).hosts.values()
    assert row["sitemaps"] == ["http://cdn.test/old.xml"]
