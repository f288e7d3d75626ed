"""A first tier of popular pages: searched first, and alone where it has enough."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from gossamer.serve.node import ENOUGH
from gossamer.serve.search import Searcher
from shards import crawl, put_index

if TYPE_CHECKING:
    from pathlib import Path

FIRST, ALL = 2 * ENOUGH, 8 * ENOUGH
RARE = 5
"""Of the first tier; in all there are more."""


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    pages: list[dict[str, Any]] = [
        {
            "url": f"http://{number % 50}.example/{number}",
            "title": f"page {number}",
            "text": "apple" + " pear" * (number < RARE or number >= ALL - RARE),
            "rank": 1 / (1 + number) / 10,
        }
        for number in range(ALL)
    ]
    pages.append({"url": "http://last.example/", "title": "Apple", "text": "apple"})
    work = crawl(tmp_path_factory.mktemp("crawl"))
    put_index(work, pages, first=FIRST)
    return Searcher.open(work)


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


def test_all_are_searched_where_the_popular_are_few(searcher: Searcher) -> None:
    found = searcher.search("pear")
    assert (found.total, found.estimated) == (2 * RARE, False)


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
