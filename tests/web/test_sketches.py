from __future__ import annotations

import random
import subprocess
import sys
import unicodedata

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gossamer.web.sketches import (
    BAND_VALUES,
    BANDS,
    MIN_WORDS,
    SHINGLE_WORDS,
    VALUES,
    _table_as_written,
    hash_and_sketch,
    hash_words,
    shingles,
    similarity,
    sketch,
    words,
)

PROSE = " ".join(f"word{n} and its neighbour{n}," for n in range(40))


def plain_words(text: str) -> list[str]:
    """The words of a text in letters that no rule is about."""
    return "".join(c if c.isalnum() else " " for c in text.lower()).split()


@given(st.text(st.sampled_from("abcXYZ019 .,-\n\t")))
@example("")
@example("a" * 40_000 + " b")
@example("ab " * 30_000)
def test_words_are_equal_where_their_hashes_are(text: str) -> None:
    hashes = words(text)
    expected = plain_words(text)
    if max(map(len, expected), default=0) < 1_000:
        assert len(hashes) == len(expected)
        assert len(set(hashes.tolist())) == len(set(expected))
        assert words(" ".join(expected)).tolist() == hashes.tolist()


@given(st.text())
@example("\ud800")
@example("\ufdfa" * 17_000)
@example("\U000323af\U00020000")
def test_any_text_has_hashes(text: str) -> None:
    text_hash, sketch = hash_and_sketch(text, text)
    assert (text_hash is None) == (words(text).size == 0)
    assert text_hash is None or -(1 << 63) <= text_hash < 1 << 63
    assert sketch is None or len(sketch) == 4 * VALUES


@pytest.mark.parametrize(
    "other",
    [
        PROSE.upper(),
        PROSE.replace(" ", "\n\n  "),
        PROSE.replace(",", " – "),
        f"«{PROSE}»",
        "".join(chr(ord(c) + 0xFEE0) if c.isascii() and c.isalnum() else c for c in PROSE),
    ],
    ids=["case", "white space", "punctuation", "quotes", "full-width letters"],
)
def test_texts_of_the_same_words_are_the_same(other: str) -> None:
    assert hash_and_sketch(PROSE, "One") == hash_and_sketch(other, "one")


def test_decomposed_letters_are_the_same() -> None:
    text = "élève à Noël " * MIN_WORDS
    assert hash_and_sketch(text, None) == hash_and_sketch(unicodedata.normalize("NFD", text), None)


EVERY = [chr(code) for code in (*range(0x3400), *range(0x4E00, 0x20000, 97))]
AROUND = [("", ""), ("a", "b"), ("e", "\u0301"), ("\u1100", "\u1161"), ("\u65e5", "1\u0323")]


@pytest.mark.parametrize(("before", "behind"), AROUND)
def test_words_are_those_of_the_compatibility_form(before: str, behind: str) -> None:
    """Also of a text whose characters are not normalised, since each of them may stay alone."""
    for first in range(0, len(EVERY), 8):
        text = " ".join(before + character + behind for character in EVERY[first : first + 8])
        assert words(text).tolist() == words(unicodedata.normalize("NFKC", text)).tolist()


@given(st.text(st.characters(max_codepoint=0x3000)))
def test_words_of_any_text_are_those_of_its_compatibility_form(text: str) -> None:
    assert words(text).tolist() == words(unicodedata.normalize("NFKC", text)).tolist()


def test_texts_with_common_punctuation_need_no_other_form() -> None:
    text = "“It’s” «là»… – 20\xa0°C ™ ½"
    assert hash_words(text.rstrip("½™ "), _table_as_written(), 3) is not None
    assert hash_words(text, _table_as_written(), 3) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [("ab c", "a bc"), ("a b", "b a"), ("a", "a a"), ("กา", "กี"), ("कि", "का"), ("a", "a1")],
)
def test_other_words_have_another_hash(one: str, other: str) -> None:
    assert hash_and_sketch(one, None)[0] != hash_and_sketch(other, None)[0]


def test_a_text_is_compared_with_its_title() -> None:
    """A page whose title is translated, and its text is not, is searched for by that title."""
    short = "please enable JavaScript"
    for text in (short, PROSE):
        (one, same, other), sketches = zip(
            *(hash_and_sketch(text, title) for title in ("One", "one", "Other")), strict=True
        )
        assert one == same != other
        assert len({*sketches}) == 1
    assert hash_and_sketch(short, "One")[1] is None
    assert hash_and_sketch("one two", "three") != hash_and_sketch("one", "two three")
    assert hash_and_sketch("…", "One") == (None, None) == hash_and_sketch(None, "One")


def test_characters_of_scripts_without_spaces_are_words() -> None:
    assert words("日本語 in ไทย").size == 3 + 1 + 3
    assert words("日本語").tolist() == words("日 本 語").tolist()
    assert words("a語b").tolist() == words("a 語 b").tolist()
    assert words("кириллица हिन्दी 한국어").size == 3


def test_shingles_are_runs_of_words() -> None:
    number = 100
    hashes = shingles(words(" ".join(map(str, range(number)))))
    assert len(set(hashes.tolist())) == number - SHINGLE_WORDS + 1
    assert shingles(words("1 2 3 4 5")).tolist() == hashes[1:2].tolist()
    assert shingles(words("5 4 3 2 1")).tolist() != hashes[1:2].tolist()
    assert shingles(words("1 2 3 4")).size == 0


@given(st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=9_000), st.randoms())
def test_a_sketch_is_that_of_a_set(values: list[int], rand: random.Random) -> None:
    again = values + values[:50]
    rand.shuffle(again)
    one, other = (sketch(np.array(each, np.uint32)) for each in (values, again))
    assert one.tolist() == other.tolist()


@pytest.mark.parametrize("shared", [50, 80, 90, 95, 99])
def test_sketches_estimate_similarity_without_bias(shared: int) -> None:
    """Of 400 pairs, the values and the bands that agree are as many as the arithmetic says.

    Both are within four standard deviations, so the functions are as good as independent.
    """
    rand, pairs = random.Random(shared), 400  # noqa: S311  # reproducible
    agreeing = candidates = 0
    similarities = []
    for _ in range(pairs):
        common, mine, yours = (
            [f"{rand.getrandbits(40):x}" for _ in range(count)]
            for count in (4 * shared, 200 - 2 * shared, 200 - 2 * shared)
        )
        one, other = (np.unique(shingles(words(" ".join(common + own)))) for own in (mine, yours))
        agree = sketch(one) == sketch(other)
        agreeing += int(agree.sum())
        candidates += bool(agree.reshape(BANDS, BAND_VALUES).all(axis=1).any())
        similarities.append(similarity(one, other))
    mean = float(np.mean(similarities))
    deviation = (mean * (1 - mean) / (VALUES * pairs)) ** 0.5
    assert abs(agreeing / (VALUES * pairs) - mean) < 4 * deviation
    likely = 1 - (1 - mean**BAND_VALUES) ** BANDS
    deviation = (likely * (1 - likely) / pairs) ** 0.5
    assert abs(candidates / pairs - likely) <= 4 * deviation + 1 / pairs


@given(st.sets(st.integers(0, 40)), st.sets(st.integers(0, 40)))
def test_similarity_is_that_of_sets(one: set[int], other: set[int]) -> None:
    arrays = [np.array(sorted(each), np.uint32) for each in (one, other)]
    assert similarity(*arrays) == len(one & other) / max(len(one | other), 1)


@pytest.mark.server
def test_stored_sketches_stay_comparable() -> None:
    """Another process, another run, another release: a change here makes old crawls unusable."""
    text_hash, sketch = hash_and_sketch(PROSE, None)
    assert sketch is not None
    call = f"print(hash_and_sketch({PROSE!r}, None))"
    code = f"from gossamer.web.sketches import hash_and_sketch; {call}"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
    assert printed.decode().strip() == repr((text_hash, sketch))
    assert (text_hash, sketch[:8].hex()) == (-8141730613873411177, "bb25d50495370b00")
