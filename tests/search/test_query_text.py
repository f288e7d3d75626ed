"""Quotation marks and full-width characters, against CLDR's and Unicode's tables."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.search.query import Filter, Words, parse
from gossamer.search.query_text import effective_query, straighten, without_quotes

GREEN = Words("green crane", exact=True)


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        *('""', "“”", "„“", "„”", "””", "«»", "»«", "»»", "「」", "『』", "〝〞", "〝〟", "＂＂"),
        *("｢｣", "‟”", "⹂”", "﹁﹂", "﹃﹄", '"”', '“"'),
    ],
)
def test_the_quotation_marks_of_many_languages_quote(opening: str, closing: str) -> None:
    assert parse(f"{opening}green crane{closing}") == GREEN
    assert parse(f"a {opening}green crane{closing} b") == parse('a "green crane" b')
    assert parse(f"a -{opening}green crane{closing}") == parse('a -"green crane"')
    assert parse(f"intitle:{opening}green crane{closing}") == Filter("intitle", "green crane")


@pytest.mark.parametrize(
    ("text", "straight"),
    [
        ("News » Sport", "News » Sport"),
        ("it’s ‘so’ ‹here›", "it’s ‘so’ ‹here›"),
        ("“green", "“green"),
        ('"a “b c” d" “e f”', '"a “b c” d" "e f"'),
        ("“a «b» c”", '"a «b» c"'),
        ('5" disk “foo bar”', '5" disk "foo bar"'),
        ("「フォント」ダイアログ", "「フォント」ダイアログ"),
        ("図「フォント」", "図「フォント」"),
        ("「フォント」 ダイアログ", '"フォント" ダイアログ'),
        ("“foo bar”s “foo bar”, (“b”)", '“foo bar”s "foo bar", ("b")'),
        ("ｓｉｔｅ：ａ．ｏｒｇ　（ａ）", "site:a.org (a)"),
        ('צה"ל "צבא הגנה"', 'צה״ל "צבא הגנה"'),
    ],
)
def test_what_stays_and_what_becomes_straight(text: str, straight: str) -> None:
    assert straighten(text) == straight


@given(st.text(st.sampled_from('“”„‟«»"「」『』〝〞＂（：a ｂאב')) | st.text())
def test_places_are_kept_and_nothing_is_left_to_do(text: str) -> None:
    straight = straighten(text)
    assert len(straight) == len(text)
    assert straighten(straight) == straight


def test_full_width_characters_become_what_nfkc_makes_of_them() -> None:
    for code in range(0xFF01, 0xFF5F):
        assert straighten(chr(code)) == unicodedata.normalize("NFKC", chr(code))


def test_a_number_in_groups_is_one_word() -> None:
    assert parse(effective_query("1 250 000 boats")) == parse("1,250,000 boats")
    isbn = Words("0-306-40615-2", also=("9780306406157",))
    assert parse(effective_query("0 306 40615 2")) == isbn


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('"red apple" tree', "red apple tree"),
        ('tree "red apple"', "tree red apple"),
        ('"red apple"pie "x"', "red apple pie x"),
        ('"apple" tree', None),
        ('"red apple"', None),
        ('"red apple" "green pear"', None),
        ('tree -"red apple"', None),
        ('tree intitle:"red apple"', None),
        ('tree "red apple', None),
        ("red apple", None),
    ],
)
def test_phrases_become_words(text: str, words: str | None) -> None:
    assert without_quotes(text) == words
