"""Passages: where the words of a query are close together (search/passages.py)."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

from hypothesis import assume, example, given
from hypothesis import strategies as st

from gossamer.index.format.analysis import analyzer_for
from gossamer.index.format.stored_document import Window
from gossamer.search.passages import MAX_MATCHES, MAX_TRIES, WIDE_CHARS, Passages
from gossamer.search.query import Words

if TYPE_CHECKING:
    from gossamer.index.format.analysis import Unit

WORTHS = {"red": 5.0, "fig": 3.0, "plum": 2.0}


def passages(words: list[str]) -> Passages:
    units: dict[Unit, float] = {(word,): 1.0 for word in words}
    return Passages([*map(Words, words)], units, (), analyzer_for("en"), WORTHS.__getitem__, 1)


def densest(text: str, words: list[str]) -> int:
    """The worth of the best passage, from all places where a word occurs."""
    found = [
        (match.start(), word)
        for word in words
        for match in re.finditer(rf"\b{word}\b", text, re.IGNORECASE)
    ]
    near = [
        {word for place, word in found if first <= place <= first + WIDE_CHARS}
        for first, _ in found
    ]
    return max((sum(round(1000 * WORTHS[word]) + 1 for word in each) for each in near), default=0)


@given(
    st.lists(
        st.sampled_from([*WORTHS, "Red", "figure", "infrared", "-" * 60, "-" * 140]), max_size=20
    ),
    st.permutations([*WORTHS]),
    st.integers(1, 3),
)
@example(["fig", "-" * 140, "red", "-" * 140, "red", "fig"], ["fig", "red", "plum"], 2)
def test_the_best_passage_has_the_most_telling_words(
    pieces: list[str], order: list[str], number: int
) -> None:
    words = order[:number]
    assume(max(Counter(map(str.lower, pieces)).values(), default=0) <= MAX_MATCHES // 2)
    text = " ".join(pieces)
    assert passages(words).worth(text) == densest(text, words)


def test_each_place_of_a_word_is_found_once() -> None:
    window = Window(b"red fig, red fig, red", first=True, last=True)
    matches = passages(["red", "fig", "plum"])._matches(window)
    assert [place for place, _ in islice(matches, 9)] == [0, 4, 9, 13, 18]


def test_a_phrase_is_found_by_its_longest_word_however_often_others_occur() -> None:
    phrase: dict[Unit, float] = {("red", "plum"): 1.0}
    words = [Words("red plum")]
    wanted = Passages(words, phrase, (), analyzer_for("en"), WORTHS.__getitem__, 1)
    assert wanted.worth("plum red " + "red " * MAX_TRIES) == 0
    assert wanted.worth("red " * MAX_TRIES + "-" * 300 + " red plum") == 1 + 1000 * WORTHS["red"]
