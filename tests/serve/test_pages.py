"""What the crawl knows about a page, over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gossamer.web.urls import normalize
from tests.support.search_server import EVIL, dom, known, one, serving
from tests.support.stored_rounds import HOME, Fetched, store_round
from tests.support.stored_web import put_inlinks, put_pages, put_rows, store_and_parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import httpx

    from gossamer.state.workspace import Workspace

pytestmark = pytest.mark.server

PAGE = b"""<!doctype html><html lang=en><title>A rose</title><meta name=description content=Flowers>
<p>It is a plant with flowers and thorns that people like very much indeed.
<a href=/tulip>A tulip</a> <a rel=nofollow href=//shop.example.org/>Buy</a>"""


def test_a_page_its_state_and_its_links(work: Workspace) -> None:
    store_and_parse(work, [Fetched(HOME, PAGE)])
    put_inlinks(work, HOME, [("http://a.example/", "roses"), ("http://b.example/", "")], 7)
    put_rows(work, "ranks", [{"url": HOME, "rank": 0.25}])
    with serving(work) as client:
        page = known(client, "HTTPS://Example.org")
        assert (page["url"], page["status"], page["http_status"]) == (HOME, "fetched", 200)
        assert (page["title"], page["description"]) == ("A rose", "Flowers")
        assert (page["rank"], page["copy"]) == (0.25, True)
        assert page["inlinks"] == {
            "total": 7,
            "known": 2,
            "to_copies": 0,
            "links": [
                {"src": "http://a.example/", "anchor": "roses"},
                {"src": "http://b.example/", "anchor": ""},
            ],
        }
        assert page["outlinks"]["total"] == 2
        assert {link["dst"]: link["nofollow"] for link in page["outlinks"]["links"]} == {
            HOME + "tulip": False,
            "https://shop.example.org/": True,
        }
        shown = dom(client, "/page", url=HOME)
        assert one(shown, "h1").text() == "A rose"
        assert "7 pages link here" in one(shown, "#in").text()
        assert "roses" in one(shown, ".links q").text()
        assert one(shown, "a[href^='/copy?']").text() == "Stored copy"


def test_signs_of_a_link_farm_are_shown(work: Workspace) -> None:
    store_and_parse(work, [Fetched(HOME, PAGE)])
    sign = {"members": 40, "supporters": 1, "links": 39, "of_links": 41, "owner": "farm.example"}
    of_host = {"kind": "host", "name": "example.org", "reason": "domain", "factor": 0.05, **sign}
    of_page = {"kind": "page", "name": HOME, "reason": "boosted", "factor": 1.0, **sign}
    other = of_host | {"name": "other.example"}
    put_rows(work, "farms", [of_page, other, of_host])
    with serving(work) as client:
        assert known(client, HOME)["farms"] == [of_host, of_page]
        shown = one(dom(client, "/page", url=HOME), ".facts").text()
        assert "40 hosts of farm.example link to each other" in shown
        assert "39 of 41 hosts" in shown


def test_a_truncated_page_is_marked(work: Workspace) -> None:
    store_and_parse(work, [Fetched(HOME, PAGE, truncated=True), Fetched(HOME + "whole", PAGE)])
    with serving(work) as client:
        assert known(client, HOME)["truncated"]
        assert not known(client, HOME + "whole")["truncated"]
        assert "some text is missing" in one(dom(client, "/page", url=HOME), ".facts").text()
        assert client.get("/api/v1/status").json()["truncated"] == 1
        assert "truncated pages" in one(dom(client, "/status"), ".figures").text()


def test_links_are_those_of_the_last_answer(work: Workspace) -> None:
    store_and_parse(work, [Fetched(HOME, PAGE)])
    store_and_parse(work, [Fetched(HOME, b"<a href=/new>new</a>")], 2)
    store_round(work, [Fetched(HOME, outcome="unchanged")], round_=3)
    with serving(work) as client:
        page = known(client, HOME)
        assert [link["dst"] for link in page["outlinks"]["links"]] == [HOME + "new"]
        assert page["outcome"] == "unchanged"
        assert page["title"] is None


def test_links_are_paged(work: Workspace) -> None:
    many = b"".join(b"<a href=/%d>%d</a>" % (n, n) for n in range(120))
    store_and_parse(work, [Fetched(HOME, many)])
    with serving(work) as client:
        seen = [
            link["dst"]
            for offset in (0, 50, 100)
            for link in known(client, HOME, offset=offset, limit=50)["outlinks"]["links"]
        ]
        assert len(set(seen)) == len(seen) == 120
        assert dom(client, "/page", url=HOME).css("[rel=next]")
        last = dom(client, "/page", url=HOME, offset=100)
        assert len(last.css(".links li")) == 20
        assert last.css("[rel=prev]")
        assert not last.css("[rel=next]")


def test_a_url_that_was_only_met_has_a_state_and_no_more(work: Workspace) -> None:
    put_pages(work, {HOME: "unfetched"})
    with serving(work) as client:
        page = known(client, HOME)
        assert (page["status"], page["outcome"], page["title"]) == ("unfetched", None, None)
        assert not page["copy"]
        assert page["inlinks"]["total"] == page["outlinks"]["total"] == 0


def test_the_newest_state_counts(work: Workspace) -> None:
    put_pages(work, {HOME: "unfetched"})
    put_pages(work, {HOME: "gone"})
    with serving(work) as client:
        assert known(client, HOME)["status"] == "gone"


def test_no_description_of_a_page_that_wants_no_snippet(work: Workspace) -> None:
    asks = b"<meta name=robots content=nosnippet>"
    store_and_parse(work, [Fetched(HOME, asks + PAGE)])
    with serving(work) as client:
        assert known(client, HOME)["description"] is None


@pytest.fixture(scope="module")
def empty(new_work: Callable[[], Workspace]) -> Iterator[httpx.Client]:
    with serving(new_work()) as opened:
        yield opened


@pytest.mark.parametrize(
    ("query", "status", "detail"),
    [
        ("", 400, "url is missing"),
        ("url=nonsense", 404, "url is not a URL"),
        ("url=javascript:alert(1)", 404, "url is not a URL"),
        (
            "url=https://nobody.example/",
            404,
            "The crawl does not hold this URL: it is not on a",
        ),
        (f"url={HOME}&offset=x", 400, "offset must be a whole number"),
        (f"url={HOME}&limit=501", 400, "limit may be at most 500"),
    ],
)
def test_what_is_refused(empty: httpx.Client, query: str, status: int, detail: str) -> None:
    answer = empty.get(f"/api/v1/page?{query}")
    assert (answer.status_code, answer.json()["status"]) == (status, status)
    assert answer.json()["detail"].startswith(detail)
    if "offset" not in query and "limit" not in query:
        assert empty.get(f"/page?{query}").status_code == status


def test_what_strangers_write_stays_text(work: Workspace) -> None:
    hostile = normalize(f"https://evil.example/{EVIL}")
    assert hostile is not None
    store_and_parse(work, [Fetched(HOME, f"<title>{EVIL.replace('<', '&lt;')}</title>".encode())])
    put_inlinks(work, HOME, [(hostile, EVIL)], 1)
    with serving(work) as client:
        page = dom(client, "/page", url=HOME)
        assert one(page, "h1").text() == EVIL
        assert one(page, ".links q").text() == EVIL
        assert not page.css("main script, [onclick]")


@pytest.fixture(scope="module")
def linking(new_work: Callable[[], Workspace]) -> Iterator[httpx.Client]:
    """The server of a crawl that did not follow all links."""
    work = new_work()
    page = b"<p>A <a rel=nofollow href=/login>b</a> <a href=/plain>c</a>"
    store_and_parse(work, [Fetched(HOME, page)])
    sources = [{"src": HOME, "anchor": ""}]
    rows = [{"dst": HOME + name, "count": 1, "sources": sources} for name in ("login", "plain")]
    put_rows(work, "inlinks", rows)
    with serving(work) as opened:
        yield opened


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("https://elsewhere.example/", "filter.scope"),
        (HOME + "logo.png", "filter.skip_extensions"),
        (HOME + "a/b/a/b/a/b/a/b/", "filter.max_repeats"),
        (HOME + "login", "rel=nofollow"),
        (HOME + "plain", "pages link to it"),
        (HOME + "nobody-links-here", "no page that was crawled links to it"),
    ],
)
def test_a_url_that_was_dropped_is_answered_with_the_reason(
    linking: httpx.Client, url: str, why: str
) -> None:
    for place in ("/api/v1/page", "/page"):
        answer = linking.get(place, params={"url": url})
        assert answer.status_code == 404
        assert why in answer.text
