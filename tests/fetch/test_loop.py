"""Turns of several hosts, as their servers see them."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from gossamer.config import SiteConfig
from gossamer.fetch import fetch_loop
from gossamer.fetch.fetch_loop import FetchLoop
from gossamer.state import stopping
from tests.support.fetched_parts import Fetched, Row, known_host, settings, wanted
from tests.support.loopback import SILENCE, Loopback, page

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from gossamer.fetch.exchange import FetchResult

    Crawl = Callable[..., Fetched]

FORBID_ALL = b"User-agent: *\nDisallow: /"


@pytest.fixture
def crawl(tmp_path: Path, server: Loopback) -> Crawl:
    def run(rows: Iterable[Row | str], **changes: object) -> Fetched:
        full = [wanted(row) if isinstance(row, str) else row for row in rows]
        return Fetched(tmp_path, full, settings(server, **changes))

    return run


def moved(target: str) -> bytes:
    return page(b"", (f"Location: {target}",), status="301 Moved")


def test_a_robots_on_another_host_rules_its_owner(server: Loopback, crawl: Crawl) -> None:
    """RFC 9309 §2.3.1.2: even across authorities, in the context of the first."""
    server.answers["a.test/robots.txt"] = moved("http://b.test/rules")
    server.answers["b.test/rules"] = page(FORBID_ALL)
    fetched = crawl(["http://a.test/x", "http://b.test/x"])
    assert fetched.outcomes() == ["robots", "not_found"]
    assert set(fetched.hosts) == {"a.test", "b.test"}


def test_the_other_host_is_not_hurried(server: Loopback, crawl: Crawl) -> None:
    server.answers["a.test/robots.txt"] = moved("http://b.test/rules")
    server.answers["b.test/rules"] = page(b"")
    crawl(["http://a.test/x", *(f"http://b.test/{n}" for n in range(3))], delay_s=0.03)
    for host in ("a.test", "b.test"):
        asked = [request for request in server.asked if request.host == host]
        assert all(after.begun_s - before.begun_s >= 0.03 for before, after in pairwise(asked))
    assert len(server.asked) == 2 + 5


def test_a_robots_may_lead_away_and_home_again(server: Loopback, crawl: Crawl) -> None:
    server.answers["a.test/robots.txt"] = moved("http://b.test/1")
    server.answers["b.test/1"] = moved("http://c.test/2")
    server.answers["c.test/2"] = moved("http://a.test/3")
    server.answers["a.test/3"] = page(FORBID_ALL)
    assert crawl(["http://a.test/x"]).outcomes() == ["robots"]
    assert [request.host[0] for request in server.asked] == ["a", "b", "c", "a"]


def test_a_robots_that_leads_to_a_dead_host_forbids_all_for_now(
    server: Loopback, crawl: Crawl
) -> None:
    server.answers["a.test/robots.txt"] = moved("http://b.test:1/rules")
    resolve = {"a.test": server.address, "b.test": "127.0.0.1:1"}
    fetched = crawl(["http://a.test/x"], host_overrides=resolve)
    assert fetched.counts == {"postponed_no_robots": 1}
    assert fetched.hosts["a.test"]["ready_ms"] > time.time() * 1000 + 3_000_000


def test_a_robots_that_leads_to_a_host_of_others_needs_a_contact(
    server: Loopback, crawl: Crawl
) -> None:
    server.answers["a.test/robots.txt"] = moved("http://stranger.invalid/rules")
    fetched = crawl(["http://a.test/x"])
    assert fetched.counts == {"postponed_no_robots": 1}
    assert set(fetched.hosts) == {"a.test"}
    (detail,) = fetched.details()
    assert "stranger.invalid, a host of others, and fetch.contact is not set" in str(detail)


def test_a_robots_that_leads_to_a_host_in_trouble_forbids_all_for_now(
    server: Loopback, crawl: Crawl
) -> None:
    """The other host is closed before the turn of the robots.txt has come."""
    server.answers["a.test/robots.txt"] = moved("http://b.test/rules")
    server.answers["b.test/robots.txt"] = page(status="503 No")
    rows = [wanted("http://b.test/x", score=9.0), wanted("http://a.test/x")]
    fetched = crawl(rows, hosts_at_once=1)
    assert fetched.counts == {"postponed_no_robots": 2}


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (page(status="503 No"), "busy"),
        (page(status="429 No"), "busy"),
        (page(status="500 No"), "server_error"),
        (moved("http://none.test:1/rules"), "unreachable"),
    ],
)
@pytest.mark.parametrize("days", [29, 31])
def test_pages_whose_robots_is_unavailable_fail_after_a_while_without_a_request(
    server: Loopback, tmp_path: Path, answer: bytes, outcome: str, days: int
) -> None:
    """RFC 9309 §2.3.1.4: all is disallowed; what was disallowed before is never requested."""
    server.answers["a.test/robots.txt"] = answer
    away_ms = int(time.time() * 1000) - days * 86_400_000
    known = known_host("a.test", away_ms=away_ms)
    config = settings(server, host_overrides={"a.test": server.address, "none.test": "127.0.0.1:1"})
    rows = [wanted(f"http://a.test/{n}") for n in range(3)]
    fetched = Fetched(tmp_path, rows, config, [known], away_days=30)
    assert server.paths == ["/robots.txt"]
    assert fetched.outcomes() == ["postponed" if days < 30 else outcome] * 3
    assert all(str(detail).startswith("robots.txt: ") for detail in fetched.details())
    row = fetched.hosts["a.test"]
    assert row["away_ms"] == away_ms
    assert row["ready_ms"] > time.time() * 1000 + 86_000_000


SPELLINGS = {
    "/c.aspx": "/(S(abcdefghij0123456789abcd))/c.aspx",
    "/j": "/j;jsessionid=0A1B2C",
    "/p": "/p?PHPSESSID=abc1",
    "/u?a=1": "/u?utm_source=self&a=1",
    "/e": "/e?",
    "/h/%C3%BC": "/h/%c3%bc",
    "/t/~x": "/t/%7Ex",
    "/v%7Cw": "/v|w",
}


def test_a_page_that_redirects_to_another_spelling_of_itself_is_fetched_there(
    server: Loopback, crawl: Crawl
) -> None:
    server.answers |= {path: moved(target) for path, target in SPELLINGS.items()}
    server.answers |= {target: page(b"found") for target in SPELLINGS.values()}
    fetched = crawl([f"http://a.test{path}" for path in SPELLINGS])
    assert fetched.outcomes() == ["ok"] * len(SPELLINGS)
    assert {row["host"]: row["requests"] for row in fetched.hosts.values()} == {"a.test": 17}
    assert [*server.paths[1:]] == [each for pair in sorted(SPELLINGS.items()) for each in pair]


def test_redirects_among_the_spellings_of_a_page_end(server: Loopback, crawl: Crawl) -> None:
    server.answers["/a"] = moved("/a;jsessionid=1")
    server.answers["/a;jsessionid=1"] = moved("http://a.test/a")
    server.answers |= {f"/b?sid={n:032x}": moved(f"/b?sid={n + 1:032x}") for n in range(99)}
    server.answers["/b"] = moved(f"/b?sid={0:032x}")
    server.answers["/c"] = moved("/c#here")
    fetched = crawl([f"http://a.test/{name}" for name in "abc"])
    assert fetched.outcomes() == ["redirect", "redirect", "redirect"]
    assert len(server.asked) <= 1 + 2 + 7 + 1


def test_a_spelling_that_a_page_redirects_to_must_be_allowed(
    server: Loopback, crawl: Crawl
) -> None:
    server.answers["/robots.txt"] = page(b"User-agent: *\nDisallow: /*;jsessionid")
    server.answers["/a"] = moved("/a;jsessionid=1")
    fetched = crawl(["http://a.test/a"])
    assert fetched.outcomes() == ["robots"]
    assert fetched.details() == {"as http://a.test/a;jsessionid=1"}
    assert server.paths == ["/robots.txt", "/a"]


def test_a_page_is_not_requested_if_the_links_to_it_are_forbidden(
    server: Loopback, crawl: Crawl
) -> None:
    server.answers["/robots.txt"] = page(b"User-agent: *\nDisallow: /*?sid=")
    links = "http://a.test/a?sid=1"
    spelled = {"a": links, "b": None, "c": f"{links}#", "d": "#"}
    fetched = crawl([wanted(f"http://a.test/{name}", spelling=spelled[name]) for name in spelled])
    assert fetched.outcomes() == ["robots", "not_found", "robots", "not_found"]
    assert fetched.details() == {f"as {links}", "HTTP 404"}
    assert sorted(server.paths) == ["/b", "/d", "/robots.txt"]


def test_a_robots_behind_another_spelling_of_itself_is_obeyed(
    server: Loopback, crawl: Crawl
) -> None:
    session = "/(S(abcdefghij0123456789abcd))/robots.txt"
    server.answers |= {"/robots.txt": moved(session), session: page(FORBID_ALL)}
    assert crawl(["http://a.test/x"]).outcomes() == ["robots"]


def test_where_a_page_has_moved_is_kept_as_it_was_written(server: Loopback, crawl: Crawl) -> None:
    server.answers |= {"/a": moved("/b?PHPSESSID=1"), "/c": moved("/d")}
    rows = crawl(["http://a.test/a", "http://a.test/c"]).rows
    session, plain = rows["http://a.test/a"], rows["http://a.test/c"]
    assert (session["redirect_url"], plain["redirect_url"]) == (
        "http://a.test/b",
        "http://a.test/d",
    )
    assert session["redirect_spelling"] == "http://a.test/b?PHPSESSID=1"
    assert plain["redirect_spelling"] is None


def test_an_address_is_shared_politely(server: Loopback, crawl: Crawl) -> None:
    hosts = [f"h{n}.test" for n in range(6)]
    crawl([f"http://{host}/" for host in hosts], address_delay_s=0.01, connections_per_address=1)
    assert len(server.asked) == 12
    assert all(after.begun_s - before.begun_s >= 0.01 for before, after in pairwise(server.asked))


def test_a_host_is_spared_for_as_long_as_it_took(server: Loopback, crawl: Crawl) -> None:
    """The server measures it: from when it was asked to when it had answered."""
    took_s: list[float] = []

    async def answer_slowly(_: StreamReader, writer: StreamWriter) -> None:
        began_s = time.monotonic()
        heard = asyncio.Event()
        asyncio.get_running_loop().call_later(0.02, heard.set)
        await heard.wait()
        took_s.append(time.monotonic() - began_s)
        writer.write(page(b"x", ("Connection: close",)))
        await writer.drain()

    server.answers |= {"/robots.txt": page(b""), **{f"/{n}": answer_slowly for n in range(3)}}
    fetched = crawl([f"http://a.test/{n}" for n in range(3)], delay_factor=4.0, max_delay_s=60.0)
    assert fetched.outcomes() == ["ok"] * 3
    begun_s = [asked.begun_s for asked in server.asked if asked.path != "/robots.txt"]
    for (before_s, after_s), slow_s in zip(pairwise(begun_s), took_s, strict=False):
        assert after_s - before_s >= slow_s + 4.0 * (slow_s - 0.001)  # whole milliseconds count


def test_a_stop_commits_what_was_fetched_and_gives_back_the_rest(
    server: Loopback, crawl: Crawl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch_loop, "GRACE_S", 0.05)
    monkeypatch.setattr(fetch_loop, "LOOK_S", 0.02)

    async def answer_and_stop(_: StreamReader, writer: StreamWriter) -> None:
        writer.write(page(b"x"))
        await writer.drain()
        stopping.request(str(tmp_path))

    server.answers |= {"a.test/1": answer_and_stop, "slow.test/1": SILENCE}
    pages = [wanted("http://a.test/1", score=2.0), wanted("http://a.test/2")]
    pages += [wanted("http://slow.test/1", score=2.0), wanted("http://slow.test/2")]
    fetched = crawl(pages, sites=(SiteConfig(hosts="a.*", delay_s=0.1),), max_delay_s=60.0)
    assert fetched.outcomes() == ["ok", "postponed", "postponed", "postponed"]
    assert fetched.details() == {None, "the fetch was stopped"}


def test_the_end_of_the_round_cuts_off_what_is_open(
    server: Loopback, crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch_loop, "GRACE_S", 0.05)
    monkeypatch.setattr(fetch_loop, "LOOK_S", 0.02)
    server.answers |= {"/robots.txt": page(b""), "/1": SILENCE}
    fetched = crawl(["http://a.test/1", "http://a.test/2"], round_minutes=0.002, timeout_s=60.0)
    assert fetched.outcomes() == ["postponed"] * 2
    assert fetched.counts == {"postponed_time": 2}


def test_a_stop_before_the_first_request_counts(
    server: Loopback, crawl: Crawl, tmp_path: Path
) -> None:
    stopping.request(str(tmp_path))
    assert crawl([wanted("http://a.test/1")]).outcomes() == ["postponed"]
    assert server.asked == []


def test_a_stop_counts_while_pages_are_refused_without_a_request(
    server: Loopback, crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused: list[FetchResult] = []
    record = FetchLoop._record

    def note(loop: FetchLoop, row: int, answer: FetchResult) -> None:
        refused.append(answer)
        record(loop, row, answer)

    monkeypatch.setattr(FetchLoop, "_record", note)
    monkeypatch.setattr(fetch_loop, "LOOK_S", 0.0)
    monkeypatch.setattr(stopping, "requested", lambda _: bool(refused))
    server.answers["/robots.txt"] = page(FORBID_ALL)
    outcomes = crawl([f"http://a.test/{n}" for n in range(500)]).outcomes()
    assert {*outcomes} == {"robots", "postponed"}
