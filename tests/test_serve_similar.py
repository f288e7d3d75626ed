"""Telling words, and the pages that are found by them."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from gossamer.config import RankingConfig
from gossamer.index import schema
from gossamer.serve.query import All, Like, Not, Urls
from gossamer.serve.ranking import Ranking
from gossamer.serve.similar import MAX_WORDS, telling, written
from gossamer.serve.statistics import Statistics
from shards import PLAIN

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def told(text: str, known: Mapping[str, int], language: str = "en") -> list[tuple[str, float]]:
    """Its telling words where `known` says how many of 100 pages have a term; others are in one."""
    return telling(written(text, language), defaultdict(lambda: 1, known), 100)


def test_what_a_word_weighs() -> None:
    """Worked out by hand: three times in 10 of 100 pages, against once in 2 of them."""
    thrice = (1 + math.log(3)) * math.log(1 + 90.5 / 10.5)
    once = math.log(1 + 98.5 / 2.5)
    assert told("orchard apple, apple and apple", {"appl": 10, "orchard": 2}) == [
        ("apple", 1.0),
        ("orchard", pytest.approx(once / thrice)),
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Apples, apples: an APPLE", ["apples"]),  # a stem as it is most often written
        ("the apple of the", ["apple"]),
        ("12 apples in 2024", ["apples"]),
        ("apple quince", ["apple"]),  # no other page has a quince
        ("", []),
        ("?!", []),
    ],
)
def test_which_words_tell(text: str, words: list[str]) -> None:
    known = {"appl": 3, "the": 50, "of": 50, "in": 50, "12": 5, "2024": 5}
    assert [word for word, _ in told(text, known)] == words


def test_neighbours_of_a_script_without_spaces_are_words() -> None:
    known = {"東": 4, "京": 30, "都": 2, "tokyo": 5}
    words = dict(told("東京都 Tokyo 東", known, "xx"))
    assert set(words) == {"東京", "京都", "tokyo"}
    assert words["京都"] > words["東京"] > words["tokyo"]


def test_there_are_few_and_pages_that_are_gone_do_no_harm() -> None:
    letters = [f"{first}{second}" for first in "bcdfgh" for second in "klmnprtvwz"]
    words = told(" ".join(letters), dict.fromkeys(letters, 120))
    assert len(words) == MAX_WORDS
    assert all(0 < weight <= 1 for _, weight in words)


def test_the_pages_that_are_most_like_a_page_are_found_first(tmp_path: Path) -> None:
    texts = {
        "page": "How apples are grafted onto rootstocks in an orchard, in winter.",
        "copy": "How apples are grafted onto rootstocks in an orchard, in winter.",
        "near": "Pears are grafted in winter, and rootstocks chosen.",
        "far": "The winter of the stock exchange.",
        **{f"other{number}": "Nothing in it." for number in range(9)},
    }
    folder = tmp_path / "en"
    folder.mkdir()
    writer = schema.create(folder).writer(16_000_000, 1)
    for name, text in texts.items():
        row = {"url": f"http://a.org/{name}", "host": "a.org", "text": text, "language": "en"}
        writer.add_document(schema.document(PLAIN | row))
    writer.commit()
    writer.wait_merging_threads()
    searcher = schema.open_index(folder).searcher()
    page = written(texts["page"], "en")
    known = {term: searcher.doc_freq("text", term) for terms in page for term in terms}
    words = telling(page, known, searcher.num_docs)
    tree = All((Like(tuple(words)), Not(Urls(("http://a.org/page",)))))
    statistics = Statistics(searcher, searcher.num_docs)
    sought = Ranking(schema.schema(), "en", RankingConfig(), statistics).sought(tree)
    found = sought.strict().found
    assert found is not None
    assert sought.wide().found is None
    cards = [schema.card(searcher.doc(at)) for _, at in searcher.search(found).hits]
    assert [card.url.rpartition("/")[2] for card in cards] == ["copy", "near", "far"]
