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
        authors=("Eva",),
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
        (rb"{\fonttbl{\f0\fcharset161 Greek;}}\plain \'c1", "Á"),
        (rb"{\fonttbl{\f0\fcharset161 Greek;}}\deff0\plain \'c1", "Α"),
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
    "content",
    [
        rb"\u246?l",
        rb"\uc0\u246l",
        rb"\uc2\u246\'c3\'b6l",
        rb"{\uc0 }\u246?l",
        rb"\u246\~l",
        rb"\uc2\u246\-\~l",
    ],
)
def test_what_repeats_a_character_for_older_readers_is_left_out(content: bytes) -> None:
    assert read(rb"{\rtf1 " + content + b"}").text == "öl"


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\n\n"])
def test_a_control_word_at_the_start_of_a_line_is_none_of_the_text(end: str) -> None:
    body = "{\\rtf1\\ansi\n\\pard one\n\\'e9 two\\par\n{\\b three}\n\\{\\par}".replace("\n", end)
    assert read(body.encode()).text == "oneé two\nthree{"


def test_characters_that_are_control_words() -> None:
    assert read(rb"{\rtf1 a\emdash b\lquote c\rquote d}").text == "a—b‘c’d"
    assert read(rb"{\rtf1\uc1 \u8212\emdash b}").text == "—b", "for older readers"
    assert read(rb"{\rtf1\uc2 \u8212\emdash\~b}").text == "—b"


def test_a_backslash_at_the_end_of_a_line_ends_a_paragraph() -> None:
    assert read(b"{\\rtf1 one\\\ntwo\\\r\nthree\\").text == "one\ntwo\nthree"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (rb"a {\v hidden} b", "a b"),
        (rb"a \v hidden\v0  b", "a b"),
        (rb"a \v hidden\plain  b", "a b"),
        (rb"a {\deleted gone} b", "a b"),
        (rb"a {\mvf moved} b", "a b"),
        (rb"a {\v\deleted x\v0 y} b", "a b"),
        (rb"a {\revised new} b", "a new b"),
        (rb"a{\xe{\v entry}} b", "a b"),
        (rb"a{\*\annotation note} b", "a b"),
        (rb"a{\ftnsep\chftnsep x} b", "a b"),
        (rb"{\nonesttables\par}a b", "a b"),
    ],
)
def test_what_is_not_shown_is_no_text(content: bytes, text: str) -> None:
    assert read(rb"{\rtf1 " + content + b"}").text == text


def test_a_note_follows_the_paragraph_that_refers_to_it() -> None:
    body = (
        rb"{\rtf1 The kelp{\super\chftn}{\footnote\pard {\chftn} A note.\par More.} grows.\par b}"
    )
    assert read(body).text == "The kelp grows.\nA note.\nMore.\nb"


def test_a_text_box_is_text_and_what_stands_in_for_it_is_not() -> None:
    shape = (
        rb"{\shp{\*\shpinst\shpleft0{\sp{\sn fRotate}{\sv 1}}{\shptxt \pard in the box\par}}"
        rb"{\shprslt{\*\do\dptxbx{\dptxbxtext in the box\par}}}}"
    )
    assert read(rb"{\rtf1 Before" + shape + rb" it.\par}").text == "Before it.\nin the box"
    drawing = rb"{\*\do\dobxpage\dptxbx{\dptxbxtext in the box\par}\dpx0}"
    assert read(rb"{\rtf1 Before" + drawing + rb" it.\par}").text == "Before it.\nin the box"


def test_of_alternatives_the_one_in_unicode_is_read() -> None:
    body = rb"{\rtf1{\info{\upr{\title ?}{\*\ud{\title \u1055\'3f}}}}a {\upr{?}{\*\ud{\u8364?}}} b}"
    document = read(body)
    assert (document.title, document.text) == ("П", "a € b")


def test_math_is_text() -> None:
    body = (
        rb"{\rtf1 Let {\mmath{\*\moMath{\mf{\mfPr{\mtype lin}}{\mnum{\mr a}}{\mden{\mr b}}}}"
        rb"{\mmathPict picture}} be}"
    )
    assert read(body).text == "Let ab be"


def test_headings_are_known_by_style_or_outline_level() -> None:
    styles = rb"{\stylesheet{Normal;}{\s1\b heading 1;}{\s4 heading 4;}{\s9\outlinelevel1 Own;}}"
    body = (
        rb"{\rtf1" + styles + rb"\pard\s1 One\par\pard text\par\pard\s4 Four\par\pard\s9 Nine\par"
        rb"\pard\outlinelevel0 Level\par}"
    )
    document = read(body)
    assert document.headings == ("One", "Nine", "Level")
    assert document.text == "One\ntext\nFour\nNine\nLevel"


@pytest.mark.parametrize(
    ("head", "text"),
    [
        (rb"\mac \'8e", "é"),
        (rb"\pc \'82", "é"),
        (rb"\pca \'82", "é"),
        (rb"\deff1{\fonttbl{\f0 A;}{\f1\fcharset204 B;}}\'c1", "Б"),
        (rb"\deff1{\fonttbl{\f0\fcharset161 A;}{\f1\fcharset204 B;}}{\f0 \'e1\plain \'c1}", "αБ"),
        (rb"{\fonttbl{\f0\cpg1251 A;}}\f0 \'c1", "Б"),
        (rb"\ansicpg1251{\fonttbl{\f0\fcharset0 A;}}\f0 \'e9", "é"),
        (rb"{\fonttbl{\f0\fcharset128 A;}}\f0 \'83X\'83\'48", "スォ"),
        (rb"{\fonttbl{\f0\fcharset2 Symbol;}}\f0 abg\'b7", "αβγ•"),
        (rb"{\fonttbl{\f0\fcharset2 Symbol;}}\f0 \u-3999 ?", "α"),
        (rb"{\fonttbl{\f0\fcharset2 Wingdings;}}\f0 \'fc", None),
        (rb"{\fonttbl{\f0\fcharset2 Wingdings;}}\f0 words", "words"),
    ],
)
def test_bytes_of_every_character_set(head: bytes, text: str | None) -> None:
    assert (read(rb"{\rtf1" + head + b"}").text or None) == text


def test_what_follows_the_document_is_none_of_it() -> None:
    assert read(rb"{\rtf1 text}" + b"\0\0 rest").text == "text"


@pytest.mark.parametrize(
    ("instruction", "url"),
    [
        (rb'HYPERLINK "https://a.example/b"', "https://a.example/b"),
        (rb'HYPERLINK "https://a.example/b" \\o "tip"', "https://a.example/b"),
        (rb'HYPERLINK "https://a.example/b" \\l "c"', "https://a.example/b#c"),
        (rb"HYPERLINK https://a.example/b", "https://a.example/b"),
        (rb'HYPERLINK \\l "c"', None),
        (rb"PAGE", None),
    ],
)
def test_fields_that_are_links(instruction: bytes, url: str | None) -> None:
    field = rb"{\field{\*\fldinst{" + instruction + rb"}}{\fldrslt{\ul x}}}"
    assert [link.url for link in read(rb"{\rtf1 " + field + b"}").links] == ([url] if url else [])


def test_a_brace_too_many_does_not_end_the_document() -> None:
    body = rb"{\rtf1\ansicpg1251 one{\i two}}{\i \'c1}}\par}" + b"\n{four}}\0\0"
    assert read(body).text == "onetwoБ\nfour"


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (rb"a\bin3 xyzb", "ab"),
        (rb"a\bin0 xb", "axb"),
        (rb"a\bin xb", "axb"),
        (rb"a\bin-3 xb", "axb"),
        (rb"a\bin3 {}}b", "ab"),
        (rb"a\bin99 b", "a"),
    ],
)
def test_bytes_of_objects_are_no_text(content: bytes, text: str) -> None:
    assert read(b"{\\rtf1 " + content + b"}").text == text


def test_a_high_surrogate_belongs_to_the_next_unit_only() -> None:
    content = rb"\u-10179 ?\u-8694 ?\u228 ?"
    assert read(b"{\\rtf1 " + content + b"}").text == "😊ä"


def test_a_style_without_a_number_is_that_of_paragraphs_without_one() -> None:
    styles = rb"{\stylesheet{\s2 Body;}{heading 1;}}"
    document = read(b"{\\rtf1 " + styles + rb"\s0 A\par\pard\s2 b\par}")
    assert (document.headings, document.text) == (("A",), "A\nb")
