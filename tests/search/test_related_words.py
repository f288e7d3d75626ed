"""Words that begin like a word of the query, and what pages get for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.index.format import schema
from gossamer.search.related_words import (
    MAX_LESS,
    MAX_MORE,
    MAX_RELATED,
    related_terms,
    related_words_bonus,
)
from gossamer.search.searcher import Searcher
from gossamer.search.statistics import ALL, SummedStatistics
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from collections.abc import Sequence


class Terms:
    """The terms of an index, the most frequent ones first."""

    def __init__(self, *terms: str) -> None:
        self.terms = terms

    def terms_beginning(self, prefix: str) -> list[str]:
        return [each for each in self.terms if each.startswith(prefix)]


@pytest.mark.parametrize(
    ("term", "terms", "related"),
    [
        ("verschlusselt", ["verschlussel", "verschlusselt", "verschluss"], ["verschlussel"]),
        ("printer", ["print", "printabl", "printmaking"], ["print", "printabl"]),
        ("print", ["printer", "prince", "printability"], ["printer"]),
        ("menu", ["menus"], []),
        ("drukowac", ["drukow", "drukark"], ["drukow"]),
        ("python", ["python3", "python_d"], []),
        ("python3", ["python"], []),
        ("किताब", ["किताबघर"], ["किताबघर"]),
        ("設定", ["設定画面の"], []),
    ],
)
def test_related_terms_share_all_but_the_last_letters(
    term: str, terms: list[str], related: list[str]
) -> None:
    assert [*related_terms(term, Terms(*terms))] == related  # type: ignore[arg-type]


def test_the_most_frequent_ones_are_enough() -> None:
    terms = [f"letter{end}" for end in "abcdefgh"]
    assert [*related_terms("letter", Terms(*terms))] == terms[:MAX_RELATED]  # type: ignore[arg-type]


@given(st.text(max_size=12), st.lists(st.text(max_size=16)))
def test_related_terms_of_any_term(term: str, others: Sequence[str]) -> None:
    terms = Terms(term, *(term + each for each in others))
    for each in related_terms(term, terms):  # type: ignore[arg-type]
        assert each != term
        assert -MAX_LESS <= len(each) - len(term) <= MAX_MORE


@pytest.fixture(scope="module")
def searcher(tmp_path_factory: pytest.TempPathFactory) -> Searcher:
    texts = {
        "other": "Painting cartridges for everybody who has a workshop",
        "related": "Printing cartridges for everybody who has a workshop",
        **{f"filler/{n}": f"Nothing of this is here, part {n} of many" for n in range(20)},
    }
    work = crawl(tmp_path_factory.mktemp("crawl"))
    put_index(
        work,
        [
            {"url": f"http://a.example/{name}", "text": text, "language": "en"}
            for name, text in texts.items()
        ],
        shards=1,
    )
    return Searcher.open(work)


def test_a_page_with_a_related_word_comes_before_one_without(searcher: Searcher) -> None:
    hits = searcher.search("printer cartridge").hits
    assert [hit.url.rpartition("/")[2] for hit in hits] == ["related", "other"]
    assert hits[0].score > hits[1].score


def test_related_words_find_no_pages(searcher: Searcher) -> None:
    assert not searcher.search("printer", verbatim=True).hits


def test_words_of_the_query_are_not_related_words_of_each_other() -> None:
    counts = SummedStatistics({"text": {"printer": 2, "print": 3}, ALL: {ALL: 10}})
    asked = {("printer",): 1.0, ("print",): 1.0}
    terms = Terms("print", "printer")
    assert not [*related_words_bonus(schema.schema(), asked, terms, counts)]  # type: ignore[arg-type]
