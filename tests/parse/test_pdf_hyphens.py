"""Hyphens at the ends of lines, which PDFium marks by U+0002."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.parse.documents import pdf_hyphens
from gossamer.parse.documents.pdf_hyphens import _WORD, Hyphens, words_of


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("har\x02bour", "harbour"),
        ("har\x02\r\nbour", "harbour"),
        ("har\ufffebour", "harbour"),
        ("har\ufffe \nbour; har; bour", "har-bour; har; bour"),
        ("har\xad\r\nbour", "harbour"),
        ("Baden\x02Baden", "Baden-Baden"),
        ("COVID\x0219", "COVID-19"),
        ("INFOR\x02MATION", "INFORMATION"),
        ("X\x02Ray", "X-Ray"),
        ("20-\r\n30 crowns", "20-30 crowns"),
        ("a sea-\r\nb", "a sea-\r\nb"),
        ("1914\u2013\r\n1918", "1914\u20131918"),
        ("price\x02determining; determining the price", "price-determining; determining the price"),
        ("well\x02known and well-known", "well-known and well-known"),
        ("can\x02not; I can and cannot; not", "cannot; I can and cannot; not"),
        ("Vor\x02und Nachteile", "Vor- und Nachteile"),
        ("thous\x02and; a thousand", "thousand; a thousand"),
        ("\x02a", "a"),
        ("a\x02", "a"),
        ("har\x02bour and ship\x02bour", "harbour and shipbour"),
    ],
)
def test_a_hyphen_stays_where_it_belongs_to_the_word(text: str, joined: str) -> None:
    assert Hyphens().joined(text) == joined


def test_words_of_earlier_pages_count() -> None:
    hyphens = Hyphens()
    hyphens.joined("a self-employed pilot")
    assert hyphens.joined("self\x02employed") == "self-employed"


@given(text=st.text(st.sampled_from("aBé1_-\x02,.“ \r\n\xa0→Σ"), max_size=30))
def test_words_are_found_as_their_pattern_defines_them(text: str) -> None:
    assert words_of(text) == set(_WORD.findall(text.lower()))


@pytest.mark.parametrize(("most", "joined"), [(1, "harbour"), (2, "har-bour")])
def test_words_are_collected_until_there_are_enough(
    monkeypatch: pytest.MonkeyPatch, most: int, joined: str
) -> None:
    monkeypatch.setattr(pdf_hyphens, "MAX_WORDS", most)
    hyphens = Hyphens()
    hyphens.joined("one")
    hyphens.joined("har bour")
    assert hyphens.joined("har\ufffe\nbour") == joined
