from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.index.format.exact_form import different_words, join_texts
from gossamer.index.format.joined_words import (
    joined_spans,
    joined_words,
    number_of,
    other_isbn,
    with_separators,
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
        ("Rs 12,50,000 and 1,00,00,000.", "1250000 10000000"),
        ("12,50 and 1,2,345 and 12,34,56", ""),
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


@pytest.mark.parametrize(
    ("typed", "number"),
    [
        ("1 250 000 boats", "1,250,000 boats"),
        ("1\u202f250 m", "1,250 m"),
        ("10 200 errors", "10 200 errors"),
        ("isbn 0 306 40615 2", "isbn 0-306-40615-2"),
        ("978 0 306 40615 7", "978-0-306-40615-7"),
        ("978 0-306-40615 7", "978-0-306-40615-7"),
        ("0 306 40615 3", "0 306 40615 3"),
        ("2024 100", "2024 100"),
        ("1,250,000", "1,250,000"),
    ],
)
def test_spaces_in_numbers_are_replaced(typed: str, number: str) -> None:
    assert with_separators(typed) == number


@pytest.mark.parametrize(
    ("typed", "other"),
    [
        ("978-0-306-40615-7", "0306406152"),
        ("0306406152", "9780306406157"),
        ("0-8044-2957-x", "9780804429573"),
        ("9780804429573", "080442957X"),
        ("9780306406158", ""),
        ("0306406153", ""),
        ("9791034304554", ""),
        ("x" * 10, ""),
        ("٠٣٠٦٤٠٦١٥٢", ""),
        ("", ""),
    ],
)
def test_an_isbn_has_ten_or_thirteen_digits(typed: str, other: str) -> None:
    assert other_isbn(typed) == other


@given(st.integers(0, 10**9 - 1))
def test_the_other_isbn_of_the_other_is_the_first(number: int) -> None:
    for check in "0123456789X":
        if other := other_isbn(isbn := f"{number:09}{check}"):
            assert other.startswith(f"978{number:09}")
            assert other_isbn(other) == isbn


@given(st.text(st.sampled_from("0129. -Xx,'\u00a0\u202fa")))
def test_a_text_keeps_its_length(text: str) -> None:
    found = with_separators(text)
    assert len(found) == len(text)
    assert with_separators(found) == found


@given(st.integers(0, 10**15), st.sampled_from(",.'\u00a0"))
def test_a_number_is_its_digits_however_it_is_grouped(number: int, separator: str) -> None:
    grouped = f"{number:,}".replace(",", separator)
    assert (number_of(grouped) or grouped) == str(number)


@given(st.text(st.sampled_from("019,. '-Xxae\u00a0")))
def test_spans_are_those_of_the_words(text: str) -> None:
    for word, (start, end) in joined_spans(text):
        assert [char for char in text[start:end].upper() if char.isalnum()] == [*word.upper()]
