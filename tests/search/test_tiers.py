"""A first tier of popular pages: searched first, and alone where it has enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gossamer.search.messages import ENOUGH_MATCHES, Find, Question
from gossamer.search.query import Words
from gossamer.search.searcher import Searcher
from tests.support.broker_nodes import asked
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.search.results import Results
    from gossamer.state.workspace import Workspace

FIRST, ALL = 2 * ENOUGH_MATCHES, 8 * ENOUGH_MATCHES
RARE = 5
"""Of the first tier; in all there are more."""
PLUMS = range(FIRST - ENOUGH_MATCHES * 6 // 10, FIRST + ENOUGH_MATCHES * 12 // 10)
"""Too few in the first tier and in each half of the others, but not in any two of the three. One of
the halves is in a language of its own."""


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    pages: list[dict[str, Any]] = [
        {
            "url": f"http://{number % 50}.example/{number}",
            "title": f"page {number}",
            "text": "apple"
            + " pear" * (number < RARE or number >= ALL - RARE)
            + " plum" * (number in PLUMS),
            "rank": 1 / (1 + number) / 10,
            "language": ("de" if number < FIRST or number % 2 else "en")
            if number in PLUMS
            else None,
        }
        for number in range(ALL)
    ]
    pages.append({"url": "http://last.example/", "title": "Apple", "text": "apple"})
    work = crawl(tmp_path_factory.mktemp("crawl"))
    put_index(work, pages, first=FIRST)
    return work


@pytest.fixture(scope="module")
def searcher(work: Workspace) -> Searcher:
    return Searcher.open(work)


def apart(work: Workspace, query: str) -> Results:
    """What two nodes answer, of which one has the first tier."""
    nodes = [Searcher.open(work, shards=shards).node for shards in ([0, 2], [1])]
    return asked(work, nodes, Question(query))


def numbers(searcher: Searcher, query: str, offset: int = 0, limit: int = 10) -> list[int]:
    hits = searcher.search(query, offset, limit).hits
    return [int(hit.url.rpartition("/")[2] or -1) for hit in hits]


def test_the_popular_are_enough_where_they_are_many(searcher: Searcher) -> None:
    found = searcher.search("apple")
    assert found.estimated
    assert found.total == pytest.approx(ALL, rel=0.01)
    others = [int(hit.url.rpartition("/")[2]) for hit in found.hits[1:]]
    assert max(others) < FIRST


def test_who_is_named_is_found_in_whatever_tier(searcher: Searcher) -> None:
    assert searcher.search("apple").hits[0].url == "http://last.example/"


def test_who_is_named_is_found_by_a_node_without_the_first_tier(work: Workspace) -> None:
    found = apart(work, "apple")
    assert (found.hits[0].url, found.estimated) == ("http://last.example/", True)


def test_popular_pages_of_one_node_are_found_beside_all_of_another(work: Workspace) -> None:
    found = apart(work, "plum")
    assert (found.total, found.estimated) == (len(PLUMS), False)
    assert all(int(hit.url.rpartition("/")[2]) < FIRST for hit in found.hits)


def test_facets_are_estimated_as_the_total_is(searcher: Searcher) -> None:
    found = searcher.search("apple", facets=True)
    (kind,) = found.facets["kind"]
    assert found.estimated
    assert kind.pages == found.total


def test_all_are_searched_where_the_popular_are_few(searcher: Searcher) -> None:
    found = searcher.search("pear")
    assert (found.total, found.estimated) == (2 * RARE, False)


def test_the_popular_are_not_searched_if_they_cannot_be_enough(searcher: Searcher) -> None:
    found = {
        word: searcher.node.find(Find(Words(word), limit=10, first=True))
        for word in ("pear", "plum")
    }
    assert all(each.searched == each.pages and each.candidates for each in found.values())


def test_the_others_follow_for_who_goes_on(searcher: Searcher) -> None:
    pages = [numbers(searcher, "apple", at, 50) for at in range(0, ALL, 50)]
    listed = [number for page in pages for number in page]
    assert len(set(listed)) == len(listed)
    assert set(listed) >= set(range(ALL - 1))
    assert max(listed[1:FIRST]) < FIRST <= max(listed)
    assert not searcher.search("apple", FIRST, 10).estimated


def test_by_date_all_tiers_count(searcher: Searcher) -> None:
    assert searcher.search("apple", by_date=True).total == ALL + 1


def test_an_index_without_tiers_estimates_nothing(tmp_path: Path) -> None:
    work = crawl(tmp_path)
    put_index(work, [{"url": f"http://a.example/{n}", "title": "apple"} for n in range(ALL)])
    found = Searcher.open(work).search("apple")
    assert (found.total, found.estimated) == (ALL, False)
