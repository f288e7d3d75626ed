from __future__ import annotations

import gzip
import io
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.errors import SeedError
from gossamer.schedule import inject
from gossamer.schedule.order import opic
from gossamer.state import lsm
from gossamer.tables import HOSTS, PAGES
from gossamer.web import seed_lists
from gossamer.web.urls import Target, UrlRules
from tests.support.rows import LATER_MS, by_url, put

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.state.workspace import Workspace

RULES = UrlRules()


def read(text: bytes) -> list[str | tuple[int, str]]:
    """URLs, and of bad lines their number and text."""
    entries = seed_lists.parse_seeds(io.BytesIO(text), "test", RULES)
    return [e.url if isinstance(e, Target) else (e.line, e.text) for e in entries]


def test_a_url_a_line() -> None:
    assert read(b"http://a.example\r\n\n  # note\nb.example/x \n") == [
        "http://a.example/",
        "https://b.example/x",
    ]


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("example.org", "https://example.org/"),
        ("example.org:443/a", "https://example.org/a"),
        ("example.org:8443", "https://example.org:8443/"),
        ("localhost:443", "https://localhost/"),
        ("localhost.example.org", "https://localhost.example.org/"),
        ("1.2.3.4.example.org", "https://1.2.3.4.example.org/"),
        ("example.org/a:80/", "https://example.org/a:80/"),
        ("localhost", "http://localhost/"),
        ("LOCALHOST:8117/a", "http://localhost:8117/a"),
        ("docs.localhost", "http://docs.localhost/"),
        ("127.0.0.1:8000", "http://127.0.0.1:8000/"),
        ("192.168.1.5/a", "http://192.168.1.5/a"),
        ("[::1]:8000/a", "http://[::1]:8000/a"),
        ("example.org:8080?q=1", "http://example.org:8080/?q=1"),
    ],
)
def test_a_seed_without_a_scheme_means_https_unless_it_looks_like_a_local_server(
    text: str, url: str
) -> None:
    assert seed_lists.resolve_seed(text, RULES) == Target(url)


def test_the_older_form_of_a_line_per_host() -> None:
    line = b"a.example\thttp://a.example/1\thttp://a.example/2\thtp:\n"
    assert read(line) == ["http://a.example/1", "http://a.example/2", (1, "htp:")]


@pytest.mark.parametrize(
    ("line", "urls"),
    [
        ("http://a.example/\tnutch.score=10\tlang=de", ["http://a.example/"]),
        ("a.example/x\tkey=http://b.example/", ["https://a.example/x"]),
        ("a.example\tkey=", ["https://a.example/"]),
        (
            "http://a.example/\thttp://b.example/?x=1",
            ["http://a.example/", "http://b.example/?x=1"],
        ),
        ("http://a.example/\tA title, 10\t10\tb.example", ["http://a.example/"]),
        ("a.example\ta.example/x?y=1\tkey=value", ["https://a.example/x?y=1"]),
        ("http://a.example/?x=1\t", ["http://a.example/?x=1"]),
        ("<http://a.example/>", ["http://a.example/"]),
        ('http://a.example/?q="x"', ["http://a.example/?q=%22x%22"]),
        ('"http://a.example/"\tkey="value"', ["http://a.example/"]),
    ],
)
def test_lists_of_other_crawlers(line: str, urls: list[str]) -> None:
    """Nutch and StormCrawler: a URL, and metadata after tabs."""
    assert read(line.encode()) == urls


LISTED = "http://a.example/ü\n\n# note\nnot a url\nb.example"
FOUND = ["http://a.example/%C3%BC", (4, "not a url"), "https://b.example/"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"],
)
def test_lists_in_any_encoding_and_with_any_line_end(encoding: str, end: str) -> None:
    text = LISTED.replace("\n", end)
    if encoding == "utf-32-be":
        text = "\ufeff" + text
    assert read(text.encode(encoding)) == FOUND
    assert read((text + end).encode(encoding)) == FOUND


def test_characters_that_contain_the_byte_of_a_line_end_are_characters() -> None:
    assert read("http://a.example/?q=\u0a0a\u0d0d\u100a\n".encode("utf-16")) == [
        "http://a.example/?q=%E0%A8%8A%E0%B4%8D%E1%80%8A"
    ]


def test_joined_lists_have_several_byte_order_marks() -> None:
    one = "http://a.example/\n"
    assert read((one + one).encode("utf-8-sig") + one.encode("utf-8-sig")) == [one.strip()] * 3
    assert read(one.encode("utf-16") * 2) == [one.strip()] * 2


def test_a_wide_text_that_is_cut_is_a_bad_line() -> None:
    assert read("http://a.example/\nb.example".encode("utf-16")[:-1]) == [
        "http://a.example/",
        (2, "b.exampl\xff"),
    ]


def test_lines_of_any_length_are_read_in_bounded_pieces() -> None:
    lines = seed_lists._utf8_lines(io.BytesIO(("x" * 5_000_000).encode("utf-16")))
    assert sum(map(len, lines)) == 5_000_000


@given(st.binary())
@example(b"")
@example(b"\xff\xfe\0")
@example(b"\xff\xfe\0\0\xff\xff\xff\xff")
@example(b"a\0\0\xd8")
def test_any_bytes_are_seeds_or_bad_lines(data: bytes) -> None:
    for entry in seed_lists.parse_seeds(io.BytesIO(data), "test", RULES):
        assert isinstance(entry, Target | seed_lists.BadLine)


def test_bad_lines_have_numbers_and_the_rest_goes_in() -> None:
    text = b"\xef\xbb\xbfhttp://a.example/\nnot a url\nmailto:x@y.example\n\xff\nhttp://b.example/"
    assert read(text) == [
        "http://a.example/",
        (2, "not a url"),
        (3, "mailto:x@y.example"),
        (4, "ÿ"),
        "http://b.example/",
    ]


def test_a_comment_may_follow_a_seed() -> None:
    assert read(b"http://a.example/ # home\nhttp://b.example/#part\n\t# note\n") == [
        "http://a.example/",
        "http://b.example/",
    ]


def test_white_space_around_a_typed_seed_is_ignored() -> None:
    typed = ["  http://localhost/x\n", " example.org "]
    assert list(seed_lists.parse_typed(typed, RULES)) == [
        Target("http://localhost/x"),
        Target("https://example.org/"),
    ]


def test_gzip_is_read(tmp_path: Path) -> None:
    path = tmp_path / "seeds"
    path.write_bytes(gzip.compress(b"http://a.example/\n"))
    assert list(seed_lists.read_list(str(path), RULES)) == [Target("http://a.example/")]


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"http://a.example/\n")))
    assert list(seed_lists.read_list("-", RULES)) == [Target("http://a.example/")]


@pytest.mark.parametrize(
    "content", [None, gzip.compress(b"x" * 99_999, mtime=0)[:-20], b"\x1f\x8bjunk"]
)
def test_a_list_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "seeds.gz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SeedError, match=r"seeds\.gz"):
        list(seed_lists.read_list(str(path), RULES))


def test_seeds_become_pages(work: Workspace, tmp_path: Path) -> None:
    bad: list[seed_lists.BadLine] = []
    listed = tmp_path / "seeds.txt"
    listed.write_text("# seeds\na.example:99999\nhttp://a.example/#x\n")
    report = inject.run(work, ["http://a.example/"], [str(listed)], bad.append)
    assert report.counts == {"seeds": 1, "bad_lines": 1}
    assert str(bad[0]) == f"{listed}:2: not a URL that can be crawled: 'a.example:99999'"
    (page,) = by_url(lsm.current(work, PAGES)).values()
    assert (page["url"], page["status"], page["source"]) == (
        "http://a.example/",
        "unfetched",
        "seed",
    )
    assert (page["depth"], page["cash"], page["next_fetch_ms"]) == (0, opic.UNIT, 0)
    assert page["interval_s"] == work.config.update.interval_days * 24 * 3_600


def test_a_seed_has_the_spelling_in_which_it_was_given(work: Workspace) -> None:
    """robots.txt must allow that, too."""
    a, b, c = (f"http://{host}.example/" for host in "abc")
    known = {"status": "excluded", "outcome": "robots", "next_fetch_ms": 77}
    put(work, "pages", [{"url": b, "spelling": f"{b}?utm_source=2"} | known], round_=0)
    inject.run(work, [f"{a}?utm_source=1", b, f"{c}?sid=1", c])
    pages = by_url(lsm.current(work, PAGES))
    assert {url: pages[url]["spelling"] for url in (a, b, c)} == {
        a: f"{a}?utm_source=1",
        b: None,
        c: None,
    }
    assert pages[b]["next_fetch_ms"] == 0


def test_a_known_page_becomes_a_seed_and_keeps_its_history(work: Workspace) -> None:
    was = {"url": "http://a.example/", "status": "fetched", "depth": 4, "fetches": 2, "inlinks": 3}
    put(work, "pages", [was, {"url": "http://b.example/"}], round_=0)
    inject.run(work, ["http://a.example/"])
    found = by_url(lsm.current(work, PAGES))
    page = found["http://a.example/"]
    assert (page["depth"], page["source"], page["status"]) == (0, "seed", "fetched")
    assert (page["fetches"], page["inlinks"], page["cash"]) == (2, 3, opic.UNIT)
    assert set(found) == {"http://a.example/", "http://b.example/"}


def test_nothing_goes_in_when_a_list_cannot_be_read(work: Workspace, tmp_path: Path) -> None:
    with pytest.raises(SeedError):
        inject.run(work, ["http://a.example/"], [str(tmp_path / "none")])
    assert lsm.current(work, PAGES).collect() == []


def test_a_seed_that_failed_is_due_again_when_it_is_given_again(work: Workspace) -> None:
    urls = [f"http://a.example/{name}" for name in ("gone", "robots", "late", "well", "retry")]
    failed = {"failures": 2, "next_fetch_ms": LATER_MS, "fetched_ms": 1}
    put(
        work,
        "pages",
        [
            {"url": urls[0], "status": "gone", "outcome": "forbidden_address"} | failed,
            {"url": urls[1], "status": "excluded", "outcome": "robots"} | failed,
            {"url": urls[2], "status": "unfetched", "outcome": "postponed"} | failed,
            {"url": urls[3], "status": "fetched", "outcome": "ok", "next_fetch_ms": LATER_MS},
            {"url": urls[4], "status": "fetched", "outcome": "timeout", "fetches": 1} | failed,
            {"url": "http://a.example/other", "status": "gone", "outcome": "tls"} | failed,
        ],
    )
    inject.run(work, urls)
    pages = by_url(lsm.current(work, PAGES))
    found = {
        url: (row["status"], row["failures"], row["next_fetch_ms"]) for url, row in pages.items()
    }
    assert found == {
        urls[0]: ("unfetched", 0, 0),
        urls[1]: ("unfetched", 0, 0),
        urls[2]: ("unfetched", 0, 0),
        urls[3]: ("fetched", 0, LATER_MS),
        urls[4]: ("fetched", 0, 0),
        "http://a.example/other": ("gone", 2, LATER_MS),
    }


def test_the_host_of_a_seed_that_is_given_again_need_not_wait_unless_it_asked_to(
    work: Workspace,
) -> None:
    hosts = {"down.example": "unreachable", "busy.example": "busy", "other.example": "unreachable"}
    robots = [{"origin": "http://x", "fetched_ms": 1, "status": 200, "body": b"Disallow: /"}]
    waits = {"ready_ms": LATER_MS, "failures": 3, "robots": robots}
    put(work, "hosts", [{"host": name, "outcome": how} | waits for name, how in hosts.items()])
    failed = {"status": "unfetched", "failures": 2, "outcome": "postponed"}
    put(work, "pages", [{"url": f"http://{name}/", "host": name} | failed for name in hosts])
    inject.run(work, ["http://down.example/", "http://busy.example/"])
    found = by_url(lsm.current(work, HOSTS), "host")
    assert {name: row["ready_ms"] for name, row in found.items()} == {
        "down.example": 0,
        "busy.example": LATER_MS,
        "other.example": LATER_MS,
    }
    assert (found["down.example"]["failures"], found["down.example"]["robots"]) == (0, [])


def test_nothing_is_left_in_scratch(work: Workspace) -> None:
    inject.run(work, ["http://a.example/"])
    assert list(work.store.backend.sizes("scratch")) == []
