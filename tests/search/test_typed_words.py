"""What of a query counts as it was typed, by the number of pages that have it."""

from __future__ import annotations

import re
from collections.abc import Callable  # noqa: TC003  # a field of a dataclass
from dataclasses import dataclass, field

import pytest

from gossamer.index.format.analysis import analyzer_for
from gossamer.index.format.schema import schema
from gossamer.search.query import Words
from gossamer.search.statistics import idf
from gossamer.search.typed_forms import (
    MAX_FORM_PAGES,
    MAX_FORMS,
    TypedWord,
    bonus_queries,
    symbols_of,
    typed_words,
)

ENGLISH = analyzer_for("en")


@dataclass
class EqualFrequencies:
    """An index in which as many pages have each term."""

    pages_of_each: int
    documents: int = 1_000_000
    pages: Callable[[str, str], int] = field(init=False)
    pages_for_weight: Callable[[str, str], int] = field(init=False)

    def __post_init__(self) -> None:
        self.pages = self.pages_for_weight = lambda *_: self.pages_of_each


def typed(*words: str, pages: int = 9) -> list[TypedWord]:
    return list(typed_words(words, ENGLISH, EqualFrequencies(pages)))


@pytest.mark.parametrize("number", range(MAX_FORMS + 3))
def test_the_forms_of_few_words_count_the_less_the_more_they_are(number: int) -> None:
    words = [f"{letter}pple" for letter in "abcdefghijk"[:number]]
    counted = number <= MAX_FORMS
    assert typed(*words) == [
        TypedWord((word,), (), 1 / number**2) for word in sorted(words) if counted
    ]


@pytest.mark.parametrize(("pages", "counts"), [(MAX_FORM_PAGES, 1), (MAX_FORM_PAGES + 1, 0)])
def test_frequent_forms_do_not_count(pages: int, counts: int) -> None:
    assert len(typed("fig", pages=pages)) == counts


@pytest.mark.parametrize(
    ("words", "share"),
    [
        (["std::vec"], 1.0),
        (["std::vec", "fig"], 1 / 2),
        (["std::vec", "fig", "cup", "dish"], 1 / 4),
        (["C++", "fig"], 1.0),
        (["@Override", "fig"], 1.0),
    ],
)
def test_code_that_says_no_more_than_its_words_counts_less_among_others(
    words: list[str], share: float
) -> None:
    code, *forms = typed(*words)
    assert code.share == share
    assert code.is_name is words[0].startswith("@")
    assert [each.terms for each in forms] == [(word,) for word in sorted(words[1:])]
    assert all(each.share == 1 / len(words) ** 2 for each in forms)


def test_code_that_no_page_has_counts_by_its_words() -> None:
    assert [each.terms for each in typed("std::vec", pages=0)] == [("std",), ("vec",)]
    assert [each.terms for each in typed("data-source")] == [("data",), ("source",)]


def bonuses(word: TypedWord, pages: int = 9) -> list[tuple[float, list[tuple[str, str]]]]:
    """The scores of the queries, and their terms with the kinds of clauses."""
    found = bonus_queries([word], schema(), EqualFrequencies(pages), 2.0)
    return [
        (
            float(text.split("score=")[1].split(",")[0]),
            re.findall(r"\((Must|Should), TermQuery\(Term\(field=\d+, type=Str, \"([^\"]*)", text),
        )
        for text in map(repr, found)
    ]


def test_pages_that_have_code_or_explain_it_have_a_bonus() -> None:
    """Those that name it in the title have another one."""
    text, title = bonuses(TypedWord(("a::b",), ("std", "vec"), 0.5))
    code = [("Should", "a::b")]
    named = [(("Must", one), ("Must", other)) for one, other in (("std", "vec"), ("vec", "std"))]
    assert text[1] == [*code, *named[0], *named[1]]
    assert title[1] == code
    score = idf("a::b", "textcode", EqualFrequencies(9))
    assert text[0] == title[0] == pytest.approx(2.0 * 0.5 * score, abs=1e-5)


@pytest.mark.parametrize("names", [("std",), ("s", "vec"), ()])
def test_one_name_explains_nothing(names: tuple[str, ...]) -> None:
    assert [terms for _, terms in bonuses(TypedWord(("a::b",), names, 1.0))] == [
        [("Should", "a::b")]
    ] * 2


def test_forms_that_no_page_has_have_no_bonus() -> None:
    assert bonuses(TypedWord(("a::b",), ("std", "vec"), 1.0), pages=0) == []


def test_of_several_terms_those_with_symbols_count() -> None:
    (both, _), (one, _) = (bonuses(TypedWord(terms, (), 1.0)) for terms in (("a+", "b"), ("a+",)))
    assert both[0] == one[0]
    (forms, _) = bonuses(TypedWord(("a", "b"), (), 1.0))
    assert forms[0] == pytest.approx(2 * one[0], abs=1e-5)
    assert both[1] == [("Must", "a+"), ("Must", "b")]


def test_a_word_of_one_symbol_is_decoration() -> None:
    words = [Words(text) for text in ("~", "~*", "a", "&&", "+")]
    assert [*symbols_of(words, ENGLISH)] == [("~*",), ("&&",)]
