"""What of a query counts as it was typed, by the number of pages that have it."""

from __future__ import annotations

from collections.abc import Callable  # noqa: TC003  # a field of a dataclass
from dataclasses import dataclass, field

import pytest

from gossamer.index.format.analysis import analyzer_for
from gossamer.search.typed_forms import MAX_FORM_PAGES, MAX_FORMS, TypedWord, typed_words

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
