"""tdmrep.json and RSL files: when they are requested, what is kept of them, and what pages get."""

from __future__ import annotations

import json
import time
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from gossamer.fetch import wish_files
from gossamer.fetch.wish_files import WishFiles
from gossamer.web.publisher_wishes import header_statements, judge
from gossamer.web.robots_txt import ALLOW_ALL, parse_robots_txt
from gossamer.web.tdmrep import PATH
from tests.support.fetched_parts import Fetched, known_host, robots_file, settings, wanted
from tests.support.loopback import Loopback, page

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Crawl = Callable[..., Fetched]

HOUR_MS, DAY_MS = 3_600_000, 86_400_000
RESERVED = {"ai-input": False, "ai-train": False}
RESERVATION = json.dumps([{"location": "/a", "tdm-reservation": 1}]).encode()
RSL = (
    b'<rsl xmlns="https://rslstandard.org/rsl"><content url="/"><license>'
    b'<permits type="usage">ai-input</permits></license></content></rsl>'
)
NAMES_RSL = b"License: http://a.test/rsl.xml\n"


@pytest.fixture
def crawl(tmp_path: Path, server: Loopback) -> Crawl:
    def run(*urls: str, hosts: list[dict[str, object]] | None = None, **changes: object) -> Fetched:
        rows = [wanted(url) for url in urls]
        config = settings(server, **changes)
        return Fetched(tmp_path, rows, config, hosts or [], wish_files=True)

    return run


def said(fetched: Fetched, url: str) -> dict[str, bool]:
    """What site files say about uses of a page."""
    headers: dict[str, str] = {}
    for line in (fetched.rows[url]["headers"] or "").split("\n"):
        name, _, value = line.partition(": ")
        headers[name] = f"{headers[name]}\n{value}" if name in headers else value
    return judge(header_statements(headers))


def moved(target: str) -> bytes:
    return page(b"", (f"Location: {target}",), status="301 Moved")


def kept(url: str, body: bytes, again_ms: int = 0, status: int = 200) -> dict[str, object]:
    return {"url": url, "again_ms": again_ms, "status": status, "body": body}


def test_each_file_is_requested_once_before_the_first_page(server: Loopback, crawl: Crawl) -> None:
    server.answers |= {"/robots.txt": page(NAMES_RSL), PATH: page(RESERVATION)}
    server.answers |= {"/rsl.xml": page(RSL), "/a": page(b"a"), "/b": page(b"b")}
    fetched = crawl("http://a.test/a", "http://a.test/b")
    assert server.paths == ["/robots.txt", PATH, "/rsl.xml", "/a", "/b"]
    assert said(fetched, "http://a.test/a") == RESERVED
    assert said(fetched, "http://a.test/b") == {"ai-input": True, "ai-train": False}
    assert "license" not in str(fetched.rows["http://a.test/b"]["headers"]).lower()
    row = fetched.hosts["a.test"]
    assert row["requests"] == 5
    assert [file["body"] for file in row["wish_files"]] == [RESERVATION, RSL]
    due_ms = int(time.time() * 1000) + DAY_MS
    assert all(due_ms - HOUR_MS < file["again_ms"] <= due_ms for file in row["wish_files"])


def test_robots_txt_may_name_the_path_of_its_rsl_file(server: Loopback, crawl: Crawl) -> None:
    server.answers |= {"/robots.txt": page(b"License: /rsl.xml"), "/rsl.xml": page(RSL)}
    server.answers["/a"] = page(b"a")
    fetched = crawl("http://a.test/a")
    assert server.paths == ["/robots.txt", PATH, "/rsl.xml", "/a"]
    terms = "robots.txt: RSL: ai-input=yes, ai-train=no; http://a.test/rsl.xml"
    assert fetched.rows["http://a.test/a"]["headers"].split("\n")[1:] == [terms]


def test_a_file_that_is_not_there_says_nothing(server: Loopback, crawl: Crawl) -> None:
    server.answers |= {"/robots.txt": page(NAMES_RSL), "/a": page(b"a")}
    server.answers[PATH] = page(b"<html>Sorry, no such page</html>")
    fetched = crawl("http://a.test/a")
    assert server.paths == ["/robots.txt", PATH, "/rsl.xml", "/a"]
    assert said(fetched, "http://a.test/a") == RESERVED, "the RSL file is named, and unread"
    files = fetched.hosts["a.test"]["wish_files"]
    assert [(file["status"], file["body"]) for file in files] == [(200, b""), (404, b"")]


def test_robots_txt_may_forbid_them(server: Loopback, crawl: Crawl) -> None:
    server.answers |= {PATH: page(RESERVATION), "/rsl.xml": page(RSL), "/a": page(b"a")}
    server.answers["/robots.txt"] = page(
        NAMES_RSL + b"User-agent: *\nDisallow: /.well-known/\nDisallow: /rsl.xml"
    )
    fetched = crawl("http://a.test/a")
    assert server.paths == ["/robots.txt", "/a"]
    assert said(fetched, "http://a.test/a") == RESERVED


def test_they_are_not_requested_for_pages_that_are_forbidden(
    server: Loopback, crawl: Crawl
) -> None:
    server.answers["/robots.txt"] = page(b"User-agent: *\nDisallow: /a")
    assert crawl("http://a.test/a").outcomes() == ["robots"]
    assert server.paths == ["/robots.txt"]


def test_own_hosts_are_not_asked(server: Loopback, crawl: Crawl) -> None:
    server.answers |= {PATH: page(RESERVATION), "/a": page(b"a")}
    fetched = crawl("http://a.test/a", own_hosts=("a.test",))
    assert server.paths == ["/robots.txt", "/a"]
    assert said(fetched, "http://a.test/a") == {}


def test_the_delay_of_the_host_is_kept(server: Loopback, crawl: Crawl) -> None:
    server.answers |= {"/robots.txt": page(NAMES_RSL), "/a": page(b"a")}
    crawl("http://a.test/a", "http://a.test/b", delay_s=0.03)
    begun = [request.begun_s for request in server.asked]
    assert len(begun) == 5
    assert all(after - before >= 0.03 for before, after in pairwise(begun))


@pytest.mark.parametrize(
    ("target", "paths"),
    [
        ("/tdm.json", [PATH, "/tdm.json"]),
        ("http://a.test/tdm.json", [PATH, "/tdm.json"]),
        ("http://b.test/tdm.json", [PATH]),
        ("/forbidden.json", [PATH]),
        ("http://127.0.0.1:1/x", [PATH]),
    ],
)
def test_redirects_stay_on_the_host(
    server: Loopback, crawl: Crawl, target: str, paths: list[str]
) -> None:
    for path in ("/tdm.json", "/forbidden.json"):
        server.answers[path] = page(RESERVATION)
    server.answers |= {PATH: moved(target), "/a": page(b"a")}
    server.answers["/robots.txt"] = page(b"User-agent: *\nDisallow: /forbidden")
    fetched = crawl("http://a.test/a")
    assert server.paths == ["/robots.txt", *paths, "/a"]
    assert said(fetched, "http://a.test/a") == (RESERVED if len(paths) == 2 else {})


def test_redirects_in_a_circle_end(server: Loopback, crawl: Crawl) -> None:
    server.answers |= {PATH: moved("/1"), "/1": moved("/2"), "/2": moved("/1"), "/a": page(b"a")}
    fetched = crawl("http://a.test/a")
    assert server.paths == ["/robots.txt", PATH, "/1", "/2", "/1", "/2", "/1", "/a"]
    assert said(fetched, "http://a.test/a") == {}


@pytest.mark.parametrize(
    "named",
    [
        "http://b.test/rsl.xml",
        "http://a.test:8080/rsl.xml",
        "http://127.0.0.1/rsl.xml",
        "https://[::1]/",
        "http://",
    ],
)
def test_rsl_files_elsewhere_are_never_requested(
    server: Loopback, crawl: Crawl, named: str
) -> None:
    server.answers |= {"/robots.txt": page(b"License: %s" % named.encode()), "/a": page(b"a")}
    fetched = crawl("http://a.test/a")
    assert server.paths == ["/robots.txt", PATH, "/a"]
    expected = RESERVED if named != "http://" else {}
    assert said(fetched, "http://a.test/a") == expected


@pytest.mark.parametrize(
    "answer",
    [
        *(page(b"", ("Retry-After: 0",), status=f"{status} No") for status in (429, 500, 503)),
        b"nonsense",
    ],
)
def test_what_was_known_before_stays(server: Loopback, crawl: Crawl, answer: bytes) -> None:
    server.answers |= {PATH: answer, "/a": page(b"a")}
    old = known_host("a.test", wish_files=[kept(f"http://a.test{PATH}", RESERVATION)])
    fetched = crawl("http://a.test/a", hosts=[old], max_failures_per_host=99)
    assert server.paths == ["/robots.txt", PATH, "/a"]
    assert said(fetched, "http://a.test/a") == RESERVED
    (file,) = fetched.hosts["a.test"]["wish_files"]
    assert (file["status"], file["body"]) == (200, RESERVATION)
    assert file["again_ms"] <= int(time.time() * 1000) + HOUR_MS


def test_they_are_read_again_after_a_day(server: Loopback, crawl: Crawl) -> None:
    now_ms = int(time.time() * 1000)
    server.answers["/a"] = page(b"a")
    url = f"http://a.test{PATH}"
    robots = [robots_file("http://a.test", b"", now_ms - HOUR_MS)]
    row = known_host("a.test", robots=robots, wish_files=[kept(url, RESERVATION, now_ms + HOUR_MS)])
    assert said(crawl("http://a.test/a", hosts=[row]), "http://a.test/a") == RESERVED
    assert server.paths == ["/a"]


@pytest.mark.parametrize("again_ms", [-1, 0, 2 * DAY_MS])
def test_they_are_read_again_when_due_or_when_the_clock_was_set_back(
    server: Loopback, crawl: Crawl, again_ms: int
) -> None:
    now_ms = int(time.time() * 1000)
    server.answers["/a"] = page(b"a")
    old = kept(f"http://a.test{PATH}", RESERVATION, now_ms + again_ms)
    fetched = crawl("http://a.test/a", hosts=[known_host("a.test", wish_files=[old])])
    assert server.paths == ["/robots.txt", PATH, "/a"]
    assert said(fetched, "http://a.test/a") == {}, "it is gone"


def test_origins_have_their_own(server: Loopback, crawl: Crawl) -> None:
    server.answers |= {f"a.test{PATH}": page(RESERVATION), "/a": page(b"a")}
    fetched = crawl("http://a.test/a", "http://b.test/a")
    assert said(fetched, "http://a.test/a") == RESERVED
    assert said(fetched, "http://b.test/a") == {}


def test_a_file_that_is_too_long_counts_as_far_as_it_was_read(
    server: Loopback, crawl: Crawl
) -> None:
    long = RESERVATION[:-1] + b"," + b" " * wish_files.MAX_BYTES + b"{}]"
    server.answers |= {PATH: page(long), "/a": page(b"a"), "/b": page(b"b")}
    fetched = crawl("http://a.test/b")
    assert said(fetched, "http://a.test/b") == RESERVED


def test_without_the_setting_nothing_is_requested(server: Loopback, tmp_path: Path) -> None:
    server.answers |= {"/robots.txt": page(NAMES_RSL), "/a": page(b"a")}
    old = known_host("a.test", wish_files=[kept(f"http://a.test{PATH}", RESERVATION)])
    fetched = Fetched(tmp_path, [wanted("http://a.test/a")], settings(server), [old])
    assert server.paths == ["/robots.txt", "/a"]
    assert said(fetched, "http://a.test/a") == RESERVED, "by the line of robots.txt"


def test_the_oldest_files_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wish_files, "MAX_TOTAL_BYTES", 2 * len(RESERVATION))
    files = WishFiles()
    urls = [f"http://{name}.test{PATH}" for name in "abcb"]
    for url in urls:
        files.keep(url, 200, RESERVATION, 0)
    origins = ["http://a.test", "http://b.test", "http://c.test"]
    assert [files.due("x", origin, ALLOW_ALL, 1) for origin in origins] == [urls[0], None, None]


def test_files_that_are_no_longer_named_go() -> None:
    files = WishFiles()
    for day in range(9):
        rules = parse_robots_txt(b"License: http://a.test/%d.xml" % day)
        due = files.due("x", "http://a.test", rules, day * DAY_MS)
        while due is not None:
            files.keep(due, 200, RSL, day * DAY_MS)
            due = files.due("x", "http://a.test", rules, day * DAY_MS)
    rows = files.rows()["a.test"]
    assert len(rows) == wish_files.MAX_FILES_PER_HOST
    assert {row["url"] for row in rows} >= {"http://a.test/8.xml", f"http://a.test{PATH}"}
