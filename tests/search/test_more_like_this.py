"""Significant terms, and the pages that they find."""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

from gossamer.config import RankingConfig
from gossamer.index.format import schema
from gossamer.index.format.document_builder import build_document
from gossamer.index.format.stored_document import read_stored_document
from gossamer.search.interpretation import Interpretation
from gossamer.search.messages import Find
from gossamer.search.more_like_this import MAX_WORDS, significant_terms, words_by_terms
from gossamer.search.query import And, Like, Not, Urls
from gossamer.search.ranking import QueryPlan, Ranking
from gossamer.search.searcher import Searcher
from gossamer.search.statistics import Statistics
from tests.support.small_index import PLAIN, crawl, put_index

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def significant(
    text: str, known: Mapping[str, int], language: str = "en"
) -> list[tuple[str, float]]:
    """The significant terms; `known` gives how many of 100 pages have a term, by default one."""
    return significant_terms(words_by_terms(text, language), defaultdict(lambda: 1, known), 100)


def test_what_a_word_weighs() -> None:
    """Worked out by hand: three times in 10 of 100 pages, against once in 2 of them."""
    thrice = (1 + math.log(3)) * math.log(1 + 90.5 / 10.5)
    once = math.log(1 + 98.5 / 2.5)
    assert significant("orchard apple, apple and apple", {"appl": 10, "orchard": 2}) == [
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
    assert [word for word, _ in significant(text, known)] == words


def test_neighbours_of_a_script_without_spaces_are_words() -> None:
    known = {"西": 4, "京": 30, "都": 2, "tokyo": 5}
    words = dict(significant("西京都 Tokyo 西", known, "xx"))
    assert set(words) == {"西京", "京都", "tokyo"}
    assert words["京都"] > words["西京"] > words["tokyo"]


def test_there_are_few_and_pages_that_are_gone_do_no_harm() -> None:
    letters = [f"{first}{second}" for first in "bcdfgh" for second in "klmnprtvwz"]
    words = significant(" ".join(letters), dict.fromkeys(letters, 120))
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
        row["index_language"] = "en"
        writer.add_document(build_document(PLAIN | row))
    writer.commit()
    writer.wait_merging_threads()
    searcher = schema.open_index(folder).searcher()
    page = words_by_terms(texts["page"], "en")
    known = {term: searcher.doc_freq("text", term) for terms in page for term in terms}
    words = significant_terms(page, known, searcher.num_docs)
    tree = And((Like(tuple(words)), Not(Urls(("http://a.org/page",)))))
    statistics = Statistics(searcher, searcher.num_docs)
    ranking = Ranking(schema.schema(), "en", RankingConfig(), statistics)
    query_plan = QueryPlan(
        ranking, tree, Interpretation.from_query(tree, ranking.analyzer, statistics)
    )
    found = query_plan.all_terms().query
    assert found is not None
    assert query_plan.any_term(counted=True).query is None
    cards = [read_stored_document(searcher.doc(at)) for _, at in searcher.search(found).hits]
    assert [card.url.rpartition("/")[2] for card in cards] == ["copy", "near", "far"]


def test_a_page_that_is_like_another_has_a_tenth_of_its_words(tmp_path: Path) -> None:
    words = tuple((f"word{letter}", 1.0) for letter in "abcdefghijklmno")
    work = crawl(tmp_path)
    texts = {"one": "worda and nothing else", "two": "worda wordb and nothing else"}
    put_index(work, [{"url": f"http://{name}.test/", "text": texts[name]} for name in texts], 1)
    plan = Searcher.open(work).node._plans.plan_for(0, Find(Like(words), 10)).all_terms()
    folder = next(tmp_path.rglob("meta.json")).parent
    assert plan.query is not None
    found = schema.open_index(folder).searcher().search(plan.query).hits
    assert len(found) == 1
