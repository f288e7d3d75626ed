"""Passages: where the words of a query are close together (search/passages.py)."""

from __future__ import annotations

import re
from collections import Counter
from itertools import islice
from typing import TYPE_CHECKING

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from gossamer.index.format.analysis import analyzer_for
from gossamer.index.format.stored_document import Window, pack_text
from gossamer.search.passages import (
    EXACT_FACTOR,
    FREE_WORDS,
    MAX_COMPARED_BYTES,
    MAX_MATCHES,
    MAX_PHRASE_TERMS,
    MAX_TRIES,
    WIDE_CHARS,
    Passages,
    _begins_word,
    _bytes_of,
    _prefix_pattern,
)
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


def test_phrases_are_compared_with_a_limited_number_of_places(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[Unit] = []

    def is_phrase(_: Passages, terms: Unit, *__: object) -> bool:
        compared.append(terms)
        return False

    monkeypatch.setattr(Passages, "_is_phrase", is_phrase)
    phrase: dict[Unit, float] = {("red", "plum"): 1.0}
    wanted = Passages([Words("red plum")], phrase, (), analyzer_for("en"), WORTHS.__getitem__, 10)
    for _ in range(2):  # each of ten pages has its share
        compared.clear()
        assert wanted.best(pack_text("plum red " * 10_000)) is None
        assert len(compared) == MAX_PHRASE_TERMS // 10 // 2


@pytest.mark.parametrize(("number", "found"), [(FREE_WORDS, 2), (2 * FREE_WORDS, 1)])
def test_less_text_is_searched_for_many_words(number: int, found: int) -> None:
    words = [f"w{each}" for each in range(number)]
    units: dict[Unit, float] = {(word,): 1.0 for word in words}
    wanted = Passages([*map(Words, words)], units, (), analyzer_for("en"), lambda _: 1.0, 1)
    place = wanted.best(pack_text(f"w0 {'- ' * (MAX_COMPARED_BYTES * 3 // 8)} w1 w2"))
    assert place is not None
    assert round(place.worth / 1000) == found


@pytest.mark.parametrize(
    ("between", "is_close"),
    [
        ("-" * (WIDE_CHARS - 3), True),
        ("-" * (WIDE_CHARS - 2), False),
        (" é" * (WIDE_CHARS // 2 - 4), True),  # characters count, not bytes
        (" é" * (WIDE_CHARS // 2 + 1), False),
    ],
)
def test_words_are_close_together_up_to_a_distance(between: str, is_close: bool) -> None:
    found = passages(["red", "fig"])
    worth = found.worth(f"red{between} fig" if "é" in between else f"red{between}fig")
    assert worth == 5001 + is_close * 3001
    assert found.lacks_words(worth) != is_close


def test_a_word_as_it_was_typed_is_worth_more_than_another_form() -> None:
    units: dict[Unit, float] = {("set",): 1.0}
    found = Passages([Words("settings")], units, (), analyzer_for("en"), lambda _: 2.0, 1)
    assert found.worth("it is set") == 2001
    assert found.worth("the Settings") == round(2001 * EXACT_FACTOR)
    assert found.worth("it is set in the settings") == 2001 + round(2001 * EXACT_FACTOR)
    assert found.worth("settled setup") == 0
    assert not found.lacks_words(2001)


@pytest.mark.parametrize(
    ("word", "stem", "prefix"),
    [
        ("cat", "cat", "cat"),
        ("studies", "studi", "stud"),
        ("study", "studi", "stud"),
        ("settings", "set", "set"),
        ("hoping", "hope", "hop"),
        ("ran", "run", "r"),
        ("better", "good", "better"),
    ],
)
def test_what_other_forms_of_a_word_begin_with(word: str, stem: str, prefix: str) -> None:
    assert _prefix_pattern(word, stem) == prefix


@pytest.mark.parametrize(
    ("before", "word", "begins"),
    [
        (" ", "cat", True),
        ("_", "cat", True),
        ("x", "cat", False),
        ("x", "Cat", True),
        ("1", "Cat", True),
        ("1", "cat", False),
        ("X", "Cat", False),
        ("é", "cat", False),
        ("«", "cat", True),
        ("管", "cat", True),
        ("日本€", "cat", True),
    ],
)
def test_where_a_word_begins(before: str, word: str, begins: bool) -> None:
    assert _begins_word(f"{before}{word}".encode(), len(before.encode())) == begins


@pytest.mark.parametrize(
    ("text", "number"), [("", 10), ("ascii", 10), ("éé", 20), ("éx", 15), ("管", 30)]
)
def test_characters_have_the_bytes_of_those_around(text: str, number: int) -> None:
    assert _bytes_of(10, text.encode()) == number


@pytest.mark.parametrize(
    ("code", "worth"), [("->", 1.0), ("red", 5.0), ("fig->red", 5.0), ("plum.fig", 3.0)]
)
def test_code_tells_as_much_as_its_most_telling_term_and_signs_as_a_usual_one(
    code: str, worth: float
) -> None:
    found = Passages((), {}, (code,), analyzer_for("en"), WORTHS.__getitem__, 1)
    assert found.worth(f"x {code} y") == 1 + round(1000 * worth)
    assert found.lacks_words(round(1000 * worth))
    assert not found.lacks_words(1 + round(1000 * worth))
