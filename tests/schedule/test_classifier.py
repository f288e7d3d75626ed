"""Which texts are like those that are wanted. See gossamer.schedule.focus.classifier."""

from __future__ import annotations

import math
import random
import re

import numpy as np
import pyarrow as pa
import pytest

from gossamer.schedule.focus.classifier import (
    LEARNED,
    LEAST_TEXTS,
    MAX_CHARS,
    Classifier,
    distinct_words,
    learn,
    split_words,
)

WANTED, OTHER = ["roses", "tulips", "lilies"], ["engines", "wheels", "brakes"]
BOTH = ["the", "of", "and", "with", "for", "about"]


def learned(wanted: list[str], unwanted: list[str]) -> pa.Table:
    texts = split_words(pa.array([*wanted, *unwanted], pa.string())).to_pylist()
    words = pa.array(map(distinct_words, texts), pa.list_(pa.string()))
    return learn(words, np.array([True] * len(wanted) + [False] * len(unwanted)))


def gardens(own: list[str], count: int = 6) -> list[str]:
    """Texts of the words of a topic, each without one of them, and words of any."""
    return [" ".join([*BOTH, *(w for n, w in enumerate(own) if n != k % 3)]) for k in range(count)]


def scores(table: pa.Table, *texts: str | None) -> list[float | None]:
    found: list[float | None]
    found = (
        Classifier.from_learned(table).scores(split_words(pa.array(texts, pa.string()))).to_pylist()
    )
    return found


def test_words_of_any_script_are_found() -> None:
    texts = pa.array(["Don't PANIC, naïve 42 Ärger!", "今天 kochen", "", None], pa.string())
    assert [distinct_words(words) for words in split_words(texts).to_pylist()] == [
        ["don", "naïve", "panic", "t", "ärger"],
        ["kochen", "今", "天"],
        [],
        [],
    ]


def test_only_the_beginning_of_a_text_is_read() -> None:
    (words,) = split_words(pa.array(["a" * MAX_CHARS + " end"])).to_pylist()
    assert words == ["a" * MAX_CHARS]


def test_a_text_like_the_wanted_ones_scores_above_0() -> None:
    table = learned(gardens(WANTED), gardens(OTHER))
    mine, other, none = scores(table, "Of roses and tulips", "Engines, with brakes", "unheard-of")
    assert mine is not None
    assert other is not None
    assert mine > 1
    assert other < -1
    assert none is None


def test_scores_are_those_of_the_formula() -> None:
    """An independent computation, text by text and word by word."""
    drawn = random.Random(5)  # noqa: S311 - words, not secrets
    words = [f"w{chr(97 + n)}" for n in range(26)]
    texts = [" ".join(drawn.choices(words, k=12)) for _ in range(40)]
    wanted, unwanted, asked = texts[:8], texts[8:20], texts[20:]
    sets = [[set(text.split()) for text in each] for each in (wanted, unwanted)]
    counts = [{w: sum(w in s for s in each) for w in words} for each in sets]
    kept = [w for w in words if counts[0][w] + counts[1][w] >= 2]
    sums = [sum(each[w] for w in kept) for each in counts]
    weight = {
        w: math.log((counts[0][w] + 1) / (sums[0] + len(kept)))
        - math.log((counts[1][w] + 1) / (sums[1] + len(kept)))
        for w in kept
    }
    expected = []
    for text in asked:
        known = set(text.split()) & set(kept)
        expected.append(sum(weight[w] for w in known) / math.sqrt(len(known)))
    assert scores(learned(wanted, unwanted), *asked) == pytest.approx(expected, abs=1e-5)


def test_long_lists_of_texts_are_judged_as_single_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    table = learned(gardens(WANTED), gardens(OTHER))
    texts = ["roses", None, "engines roses brakes", "", "and of the"] * 4
    one_by_one = [score for text in texts for score in scores(table, text)]
    monkeypatch.setattr("gossamer.schedule.focus.classifier.SEEN_BYTES", 3 * table.num_rows)
    assert scores(table, *texts) == one_by_one


def test_a_text_of_one_known_word_has_its_weight() -> None:
    table = learned(gardens(WANTED), gardens(OTHER))
    weights = dict(zip(table["word"].to_pylist(), table["weight"].to_pylist(), strict=True))
    both = (weights["engines"] + weights["roses"]) / math.sqrt(2)
    assert scores(table, "unheard-of roses", "engines roses") == pytest.approx(
        [weights["roses"], both]
    )


@pytest.mark.parametrize("seen_bytes", [1, 1 << 20])
def test_without_words_nothing_is_judged_and_with_many_each_text_alone(
    monkeypatch: pytest.MonkeyPatch, seen_bytes: int
) -> None:
    monkeypatch.setattr("gossamer.schedule.focus.classifier.SEEN_BYTES", seen_bytes)
    assert scores(LEARNED.empty_table(), "roses", "") == [None, None]
    assert scores(LEARNED.empty_table()) == []
    table = learned(gardens(WANTED), gardens(OTHER))
    assert [score is None for score in scores(table, "roses", "x", "wheels")] == [
        False,
        True,
        False,
    ]


def test_too_few_texts_teach_nothing() -> None:
    few = gardens(WANTED, LEAST_TEXTS - 1)
    assert learned(few, gardens(OTHER)) == LEARNED.empty_table()
    assert learned(gardens(OTHER), few) == LEARNED.empty_table()
    assert learned(gardens(WANTED, LEAST_TEXTS), gardens(OTHER, LEAST_TEXTS)).num_rows


def test_what_is_learned_does_not_depend_on_the_order_of_texts() -> None:
    wanted, other = gardens(WANTED), gardens(OTHER)
    assert learned(wanted, other) == learned(wanted[::-1], other[::-1])


def test_the_words_that_tell_most_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gossamer.schedule.focus.classifier.MOST_WORDS", 6)
    found = learned(gardens(WANTED), gardens(OTHER))
    assert found["word"].to_pylist() == sorted([*WANTED, *OTHER])


def test_a_word_of_a_single_text_is_not_learned() -> None:
    found = learned([*gardens(WANTED), "begonias", "dahlias", "dahlias"], gardens(OTHER))
    assert "begonias" not in found["word"].to_pylist()
    assert "dahlias" in found["word"].to_pylist()


def test_the_words_that_decided_can_be_named() -> None:
    judge = Classifier.from_learned(learned(gardens(WANTED), gardens(OTHER)))
    assert judge.telling(re.findall(r"\w+", "the roses of the engines and dogs"), 2) == [
        "engines",
        "roses",
    ]
