from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.index.format.exact_form import different_words, join_texts
from gossamer.index.format.joined_words import (
    joined_spans,
    joined_words,
    number_of,
    without_hyphen,
)


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("about 1,250,000 people", "1250000"),
        ("rund 1.250.000,50 Euro", "1250000"),
        ("1'250'000 Franken", "1250000"),
        ("1\u00a0250\u00a0000", "1250000"),
        ("environ 1 250 000 habitants", "1250000"),
        ("rooms 100 200, and", ""),
        ("1,250", "1250"),
        ("3.14 and 12,5", ""),
        ("in 12345,678", ""),
        ("ISBN 978-3-16-148410-0.", "9783161484100"),
        ("ISBN 3-16-148410-X", "316148410X"),
        ("ISBN 978-3-16-148410-1", ""),
        ("ISBN 3-16-148410-0", ""),
        ("call 555-12-345-6", ""),
        ("an e-mail, by Wi-Fi", "email WiFi"),
        ("state-of-the-art router-setup", ""),
        ("a--b e-", ""),
        ("2024-06-30", ""),
    ],
)
def test_joined_forms_of_a_text(text: str, joined: str) -> None:
    different = different_words(join_texts([text]))
    assert [*joined_words(text, text, different)] == joined.split()
    assert [word for word, _ in joined_spans(text)] == joined.split()


@pytest.mark.parametrize(
    ("typed", "number", "word"),
    [
        ("1,250,000", "1250000", ""),
        ("978-3-16-148410-0", "9783161484100", ""),
        ("e-mail", "", "email"),
        ("1,250,000x", "", ""),
        ("3.14", "", ""),
        ("e-mail-x", "", ""),
        ("", "", ""),
    ],
)
def test_what_is_typed_apart(typed: str, number: str, word: str) -> None:
    assert number_of(typed) == number
    assert without_hyphen(typed) == word


@given(st.integers(0, 10**15), st.sampled_from(",.'\u00a0"))
def test_a_number_is_its_digits_however_it_is_grouped(number: int, separator: str) -> None:
    grouped = f"{number:,}".replace(",", separator)
    assert (number_of(grouped) or grouped) == str(number)


@given(st.text(st.sampled_from("019,. '-Xxae\u00a0")))
def test_spans_are_those_of_the_words(text: str) -> None:
    for word, (start, end) in joined_spans(text):
        assert [char for char in text[start:end].upper() if char.isalnum()] == [*word.upper()]
