"""What the page of results offers beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from gossamer.search.broker import MAX_RESULTS
from gossamer.search.results import Count, Results, matches_in_words
from gossamer.serve import rendering
from gossamer.serve.web.search_routes import MAX_PAGES
from tests.support.search_server import dom, one, serving
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

FACETS = ("host", "language", "kind", "year")
NO_FACETS: dict[str, list[Count]] = {name: [] for name in FACETS}
HOME = "http://a.example/apple?b=1"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    work = crawl(tmp_path_factory.mktemp("crawl"))
    put_index(
        work,
        [
            {"url": HOME, "title": "Apple", "language": "en"},
            {"url": "http://a.example/2", "title": "Apple tree", "language": "en"},
            {"url": "http://a.example/3", "title": "Apple leaf", "language": "de"},
            {"url": "http://b.example/", "title": "Apple pie", "language": "de"},
            *(
                {"url": f"http://{n}.example/", "title": f"Page {n}", "text": "word" * (n < 12)}
                for n in range(32)
            ),
        ],
    )
    with serving(work) as opened:
        yield opened


def query(link: LexborNode) -> str:
    """The query that a link leads to."""
    return parse_qs(urlsplit(link.attributes["href"] or "").query)["q"][0]


def test_a_filter_can_be_taken_away(client: httpx.Client) -> None:
    page = dom(client, "/search", q="apple site:a.example -lang:de")
    links = page.css(".narrowed a")
    assert [query(link) for link in links] == ["apple -lang:de", "apple site:a.example"]
    assert [one(link, "bdi").text() for link in links] == ["site:a.example", "-lang:de"]
    assert not dom(client, "/search", q="apple").css(".narrowed")
    alone = one(dom(client, "/search", q="site:a.example"), ".narrowed a")
    assert alone.attributes["href"] == "/"


def test_a_facet_narrows(client: httpx.Client) -> None:
    links = dom(client, "/search", q="apple").css(".facets a")
    facets = {query(link) for link in links}
    assert {"apple site:a.example", "apple lang:de"} <= facets
    assert len(dom(client, "/search", q="apple site:a.example").css(".hits li")) == 3


def test_nothing_found_offers_what_could_help(client: httpx.Client) -> None:
    page = dom(client, "/search", q="quince site:a.example")
    assert query(one(page, ".note li a")) == "quince"
    assert "without site:a.example" in one(page, ".note li").text()
    quoted = dom(client, "/search", q='"pie apple"')
    assert query(one(quoted, ".note li a")) == "pie apple"
    assert one(dom(client, "/search", q="quince"), ".note li a").attributes["href"] == "/status"


def test_a_page_of_results_behind_the_last_is_the_last(client: httpx.Client) -> None:
    pages = [dom(client, "/search", q="page word", page=number) for number in (3, 4, 99, 10**8)]
    texts = [one(page, "main").text() for page in pages]
    urls = [[link.attributes["href"] for link in page.css(".hits h2 a")] for page in pages]
    assert [len(each) for each in urls] == [10, 2, 2, 2]
    assert urls[1] == urls[2] == urls[3]
    assert all("· page 4" in text for text in texts[1:])
    assert [bool(page.css("[rel=next]")) for page in pages] == [True, False, False, False]
    assert "12 pages with all words, 20 more with some of them" in texts[0]
    assert not dom(client, "/search", q="quince", page=7).css(".hits li")


def test_a_walk_notices_that_the_index_has_changed(client: httpx.Client) -> None:
    asked: dict[str, str | int] = {"q": "page word", "offset": 10}
    state = client.get("/api/v1/search", params=asked).json()["state"]
    assert client.get("/api/v1/search", params=asked | {"state": state}).status_code == 200
    changed = client.get("/api/v1/search", params=asked | {"state": "another"})
    assert (changed.status_code, changed.json()["status"]) == (409, 409)
    assert "begin again" in changed.json()["detail"]


def test_what_cannot_be_listed_is_said() -> None:
    many = Results(20_000, [], 0.1, facets=NO_FACETS, reachable=MAX_RESULTS)
    last = shown(many, number=MAX_PAGES, last=MAX_PAGES)
    assert "Only the first 10,000 results can be listed" in one(last, "main .hint").text()
    assert not shown(many, number=2, last=MAX_PAGES).css(".hint")


@pytest.mark.parametrize(
    ("total", "whole", "given", "words"),
    [
        (1, 1, {}, "1 page"),
        (1_234, 1_234, {}, "1,234 pages"),
        (40, 12, {}, "12 pages with all words, 28 more with some of them"),
        (40, 1, {"estimated": True}, "1 page with all words, at least 39 more with some of them"),
        (40, 40, {"estimated": True}, "about 40 pages"),
        (900, 800, {"estimated": True, "sampled": True}, "about 900 pages"),
        (7, 0, {}, "7 pages"),
    ],
)
def test_the_number_of_pages_in_words(
    total: int, whole: int, given: dict[str, bool], words: str
) -> None:
    assert matches_in_words(Results(total, [], 0.1, whole=whole, **given), "page") == words  # type: ignore[arg-type]


def shown(found: Results, **given: int) -> LexborHTMLParser:
    about = {"asked": {"q": "a"}, "narrowed": [], "number": 1, "last": 1, "pictures": False}
    about |= {"follows": False, "most_pages": MAX_PAGES, **given}
    return LexborHTMLParser(rendering.render("results.html", root="", found=found, **about))


@pytest.mark.parametrize("total", [0, 1])
def test_an_index_that_did_not_answer_whole_is_told(total: int) -> None:
    partial = shown(Results(total, [], 0.1, facets=NO_FACETS, missing=1))
    assert "results are incomplete" in one(partial, "[role=status].warning").text()
    assert not shown(Results(total, [], 0.1, facets=NO_FACETS)).css(".warning")


def test_a_total_that_was_judged_by_the_most_popular_is_told_as_one() -> None:
    for estimated, told in ((True, "about 12,345 pages in"), (False, "12,345 pages in")):
        page = shown(Results(12_345, [], 0.1, facets=NO_FACETS, estimated=estimated))
        assert one(page, ".count").text().startswith(told)
