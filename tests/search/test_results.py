"""What the page of results offers beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest
from selectolax.lexbor import LexborHTMLParser, LexborNode

from gossamer.search.results import Count, Results
from gossamer.serve import rendering
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


def shown(found: Results) -> LexborHTMLParser:
    about = {"asked": {"q": "a"}, "narrowed": [], "number": 1, "last": 1, "pictures": False}
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
