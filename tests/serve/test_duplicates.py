"""Duplicates and older versions over HTTP: in results, of a page, in the status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from gossamer.dedup.dispositions import REASONS
from gossamer.search.page_info import MAX_REDIRECTS
from tests.support.search_server import EVIL, dom, known, one, serving
from tests.support.small_index import put_index
from tests.support.standing_pages import COPY, NEW, OLD, put_standing, standing
from tests.support.stored_web import put_inlinks, put_pages, put_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import httpx

    from gossamer.state.workspace import Workspace

ALSO = "http://a.example/"
MOVED = "http://a.example/moved"
HIDDEN = "http://a.example/hidden"
HOSTILE = f"http://evil.example/{EVIL}"
TRAP = "javascript:alert(1)//x"


@pytest.fixture(scope="module")
def client(new_work: Callable[[], Workspace]) -> Iterator[httpx.Client]:
    work = new_work()
    older = [OLD, OLD.replace("3.9", "3.10"), OLD.replace("3.9", "2.7")]
    copies = [
        (COPY, "near", 0.917),
        (ALSO, "text", 1.0),
        (HOSTILE, "body", 1.0),
        (TRAP, "text", 1.0),
    ]
    put_standing(work, [*copies, *((url, "version", 0.5) for url in older)])
    put_rows(work, "dispositions", [standing(HIDDEN, disposition="dropped_noindex")])
    pages = dict.fromkeys((NEW, *older, COPY, ALSO, HOSTILE, HIDDEN), "fetched")
    put_pages(work, pages | {MOVED: "redirected"})
    put_rows(work, "responses", [{"url": NEW, "outcome": "ok"}])
    moved = {"url": MOVED, "outcome": "redirect", "redirect_url": NEW}
    back = {"url": f"{MOVED}/back", "outcome": "redirect", "redirect_url": NEW}
    put_rows(work, "responses", [moved, back])
    put_rows(work, "responses", [back | {"outcome": "ok", "redirect_url": None}])
    put_inlinks(work, NEW, [("http://b.example/", "re")], 1)
    put_inlinks(work, OLD, [("http://b.example/", "3.9 docs")], 12)
    put_inlinks(work, COPY, [("http://b.example/", "print")], 3)
    shelf: list[dict[str, Any]] = [
        {"url": NEW, "title": "Regular", "text": "expressions", "copies": 5, "versions": 3},
        {"url": f"{ALSO}one", "title": "One", "text": "expressions", "copies": 1, "versions": 1},
        {"url": f"{ALSO}lone", "title": "Lone", "text": "expressions"},
    ]
    put_index(work, shelf)
    with work.step("dedup", 1) as draft:
        draft.counts.update({"documents": 9, "duplicate_text": 1_200, "duplicate_version": 3})
    with serving(work) as opened:
        yield opened


def test_a_result_names_the_pages_that_it_stands_for(client: httpx.Client) -> None:
    shown = dom(client, "/search", q="expressions")
    folded = {
        one(hit, "h2").text(): [
            (link.text(), link.attributes["href"]) for link in hit.css(".folded a")
        ]
        for hit in shown.css(".hits article")
    }
    page = "/page?url=http%3A%2F%2Fa.example%2F"
    assert folded == {
        "Regular": [
            ("3 more versions", f"{page}3.13%2Fre#versions"),
            ("Also at 5 other addresses", f"{page}3.13%2Fre#copies"),
        ],
        "One": [
            ("1 more version", f"{page}one#versions"),
            ("Also at 1 other address", f"{page}one#copies"),
        ],
        "Lone": [],
    }
    hits = client.get("/api/v1/search", params={"q": "expressions"}).json()["hits"]
    numbers = {hit["title"]: (hit["copies"], hit["versions"]) for hit in hits}
    assert numbers == {"Regular": (5, 3), "One": (1, 1), "Lone": (0, 0)}


def test_each_version_is_two_clicks_from_its_result(client: httpx.Client) -> None:
    link = one(dom(client, "/search", q="expressions regular"), ".folded a").attributes["href"]
    assert link is not None
    path, _, anchor = link.partition("#")
    (versions,) = LexborHTMLParser(client.get(path).text).css(f"#{anchor} + ul")
    shown = [(one(each, "a").text(), one(each, ".hint").text()) for each in versions.css("li")]
    assert shown == [
        (OLD.replace("3.9", "3.10"), "3.10 · 50 % similar · Details"),
        (OLD, "3.9 · 50 % similar · Details"),
        (OLD.replace("3.9", "2.7"), "2.7 · 50 % similar · Details"),
    ]
    assert [one(each, "a").attributes["href"] for each in versions.css("li")] == [
        url for url, _ in shown
    ]


def test_a_page_lists_its_other_addresses(client: httpx.Client) -> None:
    shown = dom(client, "/page", url=NEW)
    assert one(shown, "#versions").text() == "3 older versions"
    assert one(shown, "#copies").text() == "Also at 5 other addresses"
    hints = [each.text() for each in shown.css("#copies + ul .hint")]
    assert hints[:2] == ["nearly the same text · 91 % similar · Details", "same text · Details"]
    assert "Only 4 are named." in one(shown, "main").text()
    assert "15 further links lead to pages for which this one stands" in one(shown, "main").text()
    facts = one(shown, ".facts").text()
    assert "yes" in facts
    assert MOVED in facts
    page = known(client, NEW)
    assert page["redirects"] == [MOVED]
    assert page["inlinks"] | {"links": []} == {"total": 1, "known": 1, "to_copies": 15, "links": []}
    assert [copy["url"] for copy in page["duplicates"]["copies"]] == [COPY, ALSO, HOSTILE, TRAP]
    assert (page["duplicates"]["copies_total"], page["duplicates"]["versions_total"]) == (5, 3)
    assert not dom(client, "/page", url=NEW, offset=50).css("#copies, #versions")


def test_hostile_urls_of_duplicates_are_text(client: httpx.Client) -> None:
    shown = dom(client, "/page", url=NEW)
    assert not shown.css("main script, main b[onclick]")
    links = [one(each, "a") for each in shown.css("#copies + ul li")]
    assert [each.text() for each in links] == [COPY, ALSO, HOSTILE, TRAP]
    assert links[-1].attributes["href"] == "#"


@pytest.mark.parametrize(
    ("url", "why"),
    [
        (
            OLD,
            f"Searches find {NEW} instead of this page: it is an older version of that page (50 %",
        ),
        (COPY, "the main texts differ in few words (91 % similar)"),
        (ALSO, "main text and title have the same words."),
    ],
)
def test_a_duplicate_names_the_page_that_stands_for_it(
    client: httpx.Client, url: str, why: str
) -> None:
    shown = one(dom(client, "/page", url=url), ".standing")
    assert why in shown.text()
    assert one(shown, "a").text() == NEW
    assert known(client, url)["duplicates"]["survivor"] == NEW


def test_a_page_that_is_left_out_says_why(client: httpx.Client) -> None:
    facts = one(dom(client, "/page", url=HIDDEN), ".facts").text()
    assert "no: it asks search engines to leave it out (noindex)" in facts
    answer = client.get("/api/v1/page", params={"url": TRAP})
    assert answer.status_code in (400, 404)


def test_the_search_for_a_url_leads_to_the_page_that_stands_for_it(client: httpx.Client) -> None:
    (hit,) = dom(client, "/search", q=f"url:{OLD}").css(".hits h2 a")
    assert hit.attributes["href"] == NEW
    link = one(dom(client, "/search", q=f'url:"{HIDDEN}"'), ".note a[href^='/page']")
    assert link.attributes["href"] == "/page?url=http%3A%2F%2Fa.example%2Fhidden"


def test_the_status_counts_duplicates_and_explains_them(client: httpx.Client) -> None:
    shown = dom(client, "/status")
    rows = [
        [cell.text() for cell in row.css("td")]
        for row in shown.css("[aria-labelledby=duplicates] tr")
    ]
    assert rows[1:] == [
        ["same text", "1,200", REASONS["text"].meaning],
        ["older version", "3", REASONS["version"].meaning],
    ]
    assert client.get("/api/v1/status").json()["duplicates"] == {"text": 1_200, "version": 3}


def test_only_some_redirects_are_named(work: Workspace) -> None:
    put_pages(work, {NEW: "fetched"})
    moved = [{"url": f"{MOVED}/{n}", "outcome": "redirect", "redirect_url": NEW} for n in range(30)]
    put_rows(work, "responses", moved, files=2)
    with serving(work) as client:
        assert len(known(client, NEW)["redirects"]) == MAX_REDIRECTS
