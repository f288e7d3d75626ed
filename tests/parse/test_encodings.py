"""Titles of whole pages, in every encoding of the web, whatever they and their servers declare.

What cannot be recognised is in `UNKNOWN` and `WEAK`, with the reason. Beyond these, nothing is
promised for pages of fewer than ENOUGH_CHARS that declare a wrong encoding, or none.
"""

from __future__ import annotations

import codecs
import unicodedata

import pytest

from gossamer.parse.page_parsing import parse_page
from gossamer.parse.parsed_page import Page, Rules
from gossamer.parse.reading.charset.detection import ENOUGH_CHARS
from gossamer.web.encodings import NAMES, codec_of
from tests.support.legacy_texts import BY_ENCODING, page

UNKNOWN = {
    "iso-8859-14": "uchardet knows no Welsh, and takes it for Western",
    "iso-8859-16": "uchardet knows it not, and takes Romanian for Western",
    "macintosh": "uchardet knows it not",
}
"""Encodings that must be declared right, and by nobody else."""
WEAK = {
    **UNKNOWN,
    "iso-8859-3": "Esperanto's six letters are Western ones too, and rare",
    "iso-8859-10": "uchardet takes Icelandic for Polish, which its letters fit; its language helps",
}
"""Encodings that are not told from Latin-1, or only where the language is declared."""
TOLD = sorted(NAMES - UNKNOWN.keys())
LEGACY = sorted(NAMES - {"utf-8", "utf-16le", "utf-16be", "iso-2022-jp"})
"""In which no page can be taken for UTF-8."""
LONG = 12
"""Paragraphs, so that there are more than ENOUGH_CHARS beyond ASCII."""


def must_be_right(body: bytes, encoding: str, header: str | None = None) -> None:
    mime = "text/html" if header is None else f"text/html; charset={header}"
    parsed = parse_page(Page("https://example.org/", {"content-type": mime}, body), Rules())
    expected = BY_ENCODING[encoding].title
    # windows-1258 has letters and accents apart.
    assert unicodedata.normalize("NFC", parsed.title or "") == unicodedata.normalize(
        "NFC", expected
    )
    if parsed.charset is not None and header == encoding:
        assert codec_of(parsed.charset) == codec_of(encoding)


def test_there_is_a_text_in_every_encoding_and_its_title_is_beyond_ascii() -> None:
    assert BY_ENCODING.keys() == NAMES
    for encoding, text in BY_ENCODING.items():
        assert not text.title.isascii()
        body = page(encoding, times=LONG)
        if encoding in LEGACY and encoding not in UNKNOWN:
            assert len(body.translate(None, bytes(range(128)))) >= ENOUGH_CHARS


@pytest.mark.parametrize("encoding", sorted(NAMES))
def test_declared_by_the_header(encoding: str) -> None:
    must_be_right(page(encoding), encoding, encoding)
    must_be_right(page(encoding, times=LONG), encoding, encoding)


@pytest.mark.parametrize("encoding", sorted(NAMES))
def test_declared_by_meta(encoding: str) -> None:
    must_be_right(page(encoding, meta=encoding), encoding)
    must_be_right(page(encoding, meta=encoding, times=LONG), encoding)


@pytest.mark.parametrize("encoding", LEGACY)
def test_declared_by_xml(encoding: str) -> None:
    declaration = f'<?xml version="1.0" encoding="{encoding}"?>\n'.encode()
    must_be_right(declaration + page(encoding), encoding)


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [
        ("utf-8", codecs.BOM_UTF8),
        ("utf-16le", codecs.BOM_UTF16_LE),
        ("utf-16be", codecs.BOM_UTF16_BE),
    ],
)
@pytest.mark.parametrize("header", [None, "utf-8", "iso-8859-1", "windows-1251", "gb2312"])
@pytest.mark.parametrize("meta", ["", "utf-8", "koi8-r", "shift_jis"])
def test_a_byte_order_mark_decides(
    encoding: str, mark: bytes, header: str | None, meta: str
) -> None:
    must_be_right(mark + page(encoding, meta=meta), encoding, header)


@pytest.mark.parametrize("encoding", TOLD)
def test_declared_by_nobody(encoding: str) -> None:
    must_be_right(page(encoding), encoding)
    must_be_right(page(encoding, times=LONG, lang=True), encoding)


@pytest.mark.parametrize("encoding", TOLD)
@pytest.mark.parametrize("label", ["utf-8", "no-such-label"])
def test_declared_wrong(encoding: str, label: str) -> None:
    must_be_right(page(encoding), encoding, label)
    must_be_right(page(encoding, meta=label), encoding)


@pytest.mark.parametrize("encoding", sorted(NAMES - WEAK.keys()))
def test_declared_as_servers_do_that_were_never_told(encoding: str) -> None:
    must_be_right(page(encoding, times=LONG), encoding, "iso-8859-1")
    must_be_right(page(encoding, lang=True), encoding, "iso-8859-1")
    must_be_right(page(encoding, meta=encoding), encoding, "iso-8859-1")


@pytest.mark.parametrize("encoding", LEGACY)
@pytest.mark.parametrize("wrong", ["utf-8", "windows-1251", "gb2312", "big5", "shift_jis"])
def test_header_and_meta_disagree(encoding: str, wrong: str) -> None:
    must_be_right(page(encoding, meta=encoding, times=LONG), encoding, wrong)
    must_be_right(page(encoding, meta=wrong, times=LONG), encoding, encoding)


EAST_ASIAN = ("gbk", "gb18030", "big5", "euc-jp", "shift_jis", "euc-kr")


@pytest.mark.parametrize("encoding", EAST_ASIAN)
@pytest.mark.parametrize("wrong", [*EAST_ASIAN, "windows-1251", "iso-8859-1", "windows-1252"])
def test_declared_as_another_one_of_east_asia(encoding: str, wrong: str) -> None:
    must_be_right(page(encoding, times=LONG), encoding, wrong)
    must_be_right(page(encoding, meta=wrong, times=LONG), encoding)


@pytest.mark.parametrize(
    "encoding", ["koi8-r", "koi8-u", "iso-8859-5", "iso-8859-7", "windows-1255"]
)
def test_declared_as_windows_1251_by_a_russian_server(encoding: str) -> None:
    must_be_right(page(encoding, times=LONG), encoding, "windows-1251")


@pytest.mark.parametrize("encoding", ["windows-1252", "iso-8859-15", "windows-1250", "iso-8859-2"])
@pytest.mark.parametrize("wrong", ["windows-1251", "koi8-r", "iso-8859-7", "windows-1256"])
def test_latin_letters_in_words_are_of_no_other_script(encoding: str, wrong: str) -> None:
    must_be_right(page(encoding, times=LONG), encoding, wrong)


@pytest.mark.parametrize("encoding", UNKNOWN)
def test_what_is_unknown_still_is(encoding: str) -> None:
    """Keeps the table of what cannot be recognised true."""
    with pytest.raises(AssertionError):
        must_be_right(page(encoding, times=LONG), encoding)


@pytest.mark.parametrize("encoding", LEGACY)
def test_titles_of_feeds_too(encoding: str) -> None:
    title = BY_ENCODING[encoding].title
    if encoding == "windows-1258":
        title = unicodedata.normalize("NFD", title)
    feed = f'<?xml version="1.0" encoding="{encoding}"?><rss><channel><title>{title}</title>'
    body = feed.encode(codec_of(encoding), "xmlcharrefreplace")
    must_be_right(body, encoding)
