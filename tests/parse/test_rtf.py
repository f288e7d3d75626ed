"""RTF, as in the Rich Text Format Specification 1.9.1."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gossamer.parse.documents.binary import read_binary
from gossamer.parse.documents.document_draft import BinaryDocument, FileLink
from tests.support.binary_files import RTF


def read(body: bytes) -> BinaryDocument:
    return read_binary("application/rtf", body, 10_000)


def test_a_document() -> None:
    assert read(RTF) == BinaryDocument(
        outcome="parsed",
        content_type="application/rtf",
        title="Titel über",
        author="Eva",
        text="Hello bolder wörld 😊.\nПривет\nSee the site now.\nend",
        published=datetime(2020, 5, 6, 7, 8, tzinfo=UTC),
        pages=3,
        links=(FileLink("https://example.org/r", "the site"),),
    )


def test_many_groups_end() -> None:
    assert read(b"{\\rtf" + b"{" * 1_000_000).outcome == "failed"


FONTS = rb"{\fonttbl{\f0 Arial;}{\f1\fcharset161 Arial Greek;}}"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (rb"\'c1", "Á"),
        (rb"\ansicpg1251 \'c1", "Б"),
        (rb"\ansicpg99999 \'c1", "Á"),
        (rb"\ansicpg1251" + FONTS + rb"\f1 \'c1\f0 \'c1", "ΑБ"),
        (rb"\ansicpg1251" + FONTS + rb"{\f1 \'c1}\'c1", "ΑБ"),
        (rb"\ansicpg1251" + FONTS + rb"\'c1", "Б"),
    ],
)
def test_bytes_are_in_the_code_page_of_the_font_or_else_of_the_file(
    content: bytes, text: str
) -> None:
    assert read(rb"{\rtf1\ansi" + content + b"}").text == text


@pytest.mark.parametrize(
    ("charset", "byte", "character"),
    [
        (77, rb"\'80", "Ä"),
        (128, rb"\'82\'a0", "あ"),
        (129, rb"\'b0\'a1", "가"),
        (130, rb"\'88\'61", "가"),
        (134, rb"\'b0\'a1", "啊"),
        (136, rb"\'a4\'40", "一"),
        (161, rb"\'e1", "α"),
        (162, rb"\'fd", "ı"),
        (163, rb"\'fe", "₫"),
        (177, rb"\'e0", "א"),
        (178, rb"\'c7", "ا"),
        (186, rb"\'e0", "ą"),
        (204, rb"\'e0", "а"),
        (222, rb"\'a1", "ก"),
        (238, rb"\'b9", "ą"),
    ],
)
def test_windows_character_sets(charset: int, byte: bytes, character: str) -> None:
    """As LOGFONT numbers them, and in the code page of each."""
    font = rb"{\fonttbl{\f0\fcharset%d Font;}}" % charset
    assert read(rb"{\rtf1\ansi" + font + rb"\f0 " + byte + b"}").text == character


@pytest.mark.parametrize(
    "content", [rb"\u246?l", rb"\uc0\u246l", rb"\uc2\u246\'c3\'b6l", rb"{\uc0 }\u246?l"]
)
def test_what_repeats_a_character_for_older_readers_is_left_out(content: bytes) -> None:
    assert read(rb"{\rtf1 " + content + b"}").text == "öl"
