"""Corrections and completions, from given frequencies of words."""

from __future__ import annotations

import pytest

from gossamer.search import spelling
from gossamer.search.spelling import MAX_CHECKED, SimilarWords, complete_text


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("old boks", ["old", "boks"]),
        ("boks, (old) boks", ["boks", "old"]),
        ("io_uring and orElseThrow", ["and"]),
        ("a-b c/d e.f x@y p=q r:s", []),
        ("page2 2nd", []),
        (" ".join("abcdefghijk"), list("abcdefgh")),
    ],
)
def test_words_that_may_be_misspelt(text: str, words: list[str]) -> None:
    assert spelling.words_to_check(text) == words
    assert len(words) <= MAX_CHECKED


@pytest.mark.parametrize(
    ("pages", "similar", "expected"),
    [
        (0, {"locks": 1}, "locks"),
        (0, {"locks": 0}, None),
        (1, {"locks": 50}, "locks"),
        (1, {"locks": 49}, None),
        (2, {"locks": 100}, "locks"),
        (2, {"locks": 99}, None),
        (3, {"locks": 1_000}, None),
        (0, {"locks": 5, "lokis": 9, "lokes": 9}, "lokes"),
        (0, {"lokis": 9, "lokes": 10}, "lokes"),
        (0, {"blocks": 90, "locks": 5}, "locks"),
        (0, {}, None),
    ],
)
def test_the_nearest_and_then_most_frequent_word_is_better(
    pages: int, similar: dict[str, int], expected: str | None
) -> None:
    assert spelling._best_spelling("lokcs", SimilarWords(pages, similar)) == expected


def test_capitals_stay_capitals() -> None:
    near = SimilarWords(0, {"locks": 1})
    assert spelling._best_spelling("LOKCS", near) == "LOCKS"
    assert spelling._best_spelling("Lokcs", near) == "locks"


KNOWN = {"lokcs": SimilarWords(0, {"locks": 9}), "uzing": SimilarWords(1, {"using": 60})}


@pytest.mark.parametrize(
    ("text", "suggested", "corrected"),
    [
        ("uzing lokcs", "using locks", "uzing locks"),
        ("uzing", "using", None),
        ("old", None, None),
        ('uzing "lokcs"', 'using "locks"', None),
        ('lokcs "lokcs" lokcs', 'locks "locks" locks', 'locks "lokcs" locks'),
        ("lokcs_x site:lokcs.example", None, None),
    ],
)
def test_what_is_suggested_and_what_is_corrected(
    text: str, suggested: str | None, corrected: str | None
) -> None:
    assert spelling.suggestion(text, KNOWN) == suggested
    assert spelling.correction(text, KNOWN) == corrected


@pytest.mark.parametrize(
    ("text", "completed"),
    [
        ("old b", ["old bo", "old ba", "old bc"]),
        ("b", ["bo", "ba", "bc"]),
        ("", ["bo", "ba", "bc"]),
        ("old ", ["old bo", "old ba", "old bc"]),
    ],
)
def test_completions_are_the_most_frequent_and_then_in_order(
    text: str, completed: list[str]
) -> None:
    counts = {"bc": 2, "bd": 2, "ba": 2, "bo": 7}
    assert complete_text(text, counts, 3) == completed
