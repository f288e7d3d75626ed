from __future__ import annotations

import sys

import pytest

from gossamer.parse.reading.digits import may_have_digit


def test_no_digit_of_any_script_is_missed() -> None:
    digits = filter(str.isdecimal, map(chr, range(sys.maxunicode + 1)))
    assert [digit for digit in digits if not may_have_digit(f"a {digit} b")] == []


@pytest.mark.parametrize("text", ["", "a b", "naïve “it’s”", "слово", "λέξη", "מילה", "文字", "말"])
def test_texts_without_digits(text: str) -> None:
    assert not may_have_digit(text)
