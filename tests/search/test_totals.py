"""The total of an answer is the number of pages that paging shows, or is marked as an estimate."""

from __future__ import annotations

import random
from itertools import islice, permutations
from typing import TYPE_CHECKING, Any

import pytest

from gossamer.search import ranking
from gossamer.search.searcher import Searcher
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from gossamer.search.results import Results

PAGES: list[dict[str, Any]] = [
    {
        "url": f"http://{number % 3}.example/{number}",
        "title": f"Page {number}",
        "text": f"unordered {'list' if number % 2 else 'set'} {'of a map' if number % 5 else ''}",
        "language": "de" if number % 7 == 0 else "en",
    }
    for number in range(120)
]
WORDS = ("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta")
COMMON = (30, 20, 12, 8, 5, 3, 2, 1)
DRAW = random.Random(1)  # noqa: S311  # reproducible
PAGES += [
    {
        "url": f"http://{number % 5}.example/greek/{number}",
        "title": " ".join(DRAW.sample(WORDS, 2)),
        "text": " ".join(DRAW.choices(WORDS, COMMON, k=DRAW.randint(1, 9))),
        "rank": DRAW.random() / 100,
    }
    for number in range(300)
]


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    work = crawl(tmp_path_factory.mktemp("crawl"))
    put_index(work, PAGES)
    return Searcher.open(work)


def paged(searcher: Searcher, query: str) -> tuple[list[str], Results]:
    """The URLs on all pages of results that the total promises, and the last of these answers."""
    found = searcher.search(query)
    urls = [hit.url for hit in found.hits]
    while found.total > len(urls) and found.hits:
        found = searcher.search(query, len(urls))
        urls += [hit.url for hit in found.hits]
    return urls, found


@pytest.mark.parametrize(
    "query",
    [
        "unordered_map",
        "unordered",
        "list map",
        "list spaceship",
        "spaceship",
        '"unordered map" list spaceship',
        '"unordered list" of the spaceship map',
        "map -list",
        "set host:1.example spaceship",
        "unordered OR spaceship",
        "page 17",
        *(" ".join(words) for words in islice(permutations(WORDS, 3), 0, None, 87)),
        *(" ".join(words) for words in islice(permutations(WORDS, 4), 0, None, 201)),
    ],
)
def test_paging_to_the_end_shows_what_the_total_promises(searcher: Searcher, query: str) -> None:
    urls, found = paged(searcher, query)
    assert not found.estimated
    assert len(urls) == len(set(urls)) == found.total == searcher.search(query).total


def test_a_total_that_was_not_counted_is_marked_and_no_larger(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "COUNTED_MATCHES", 10)
    first = searcher.search("unordered spaceship")
    assert first.estimated
    assert 10 < first.total <= 120
    urls, _ = paged(searcher, "unordered spaceship")
    assert len(set(urls)) == 120


def test_pages_with_any_word_are_counted_if_they_are_sorted_by_date(
    searcher: Searcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "COUNTED_MATCHES", 0)
    assert searcher.search("list spaceship").estimated
    found = searcher.search("list spaceship", by_date=True)
    assert (found.total, found.estimated) == (searcher.search("list").total, False)
