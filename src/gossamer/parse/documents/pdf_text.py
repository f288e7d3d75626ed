"""The text of a PDF page: which glyphs are characters, and in which order they are read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import pypdfium2.raw as c

from gossamer.parse.documents.pdf_directions import RIGHT_TO_LEFT, ordered

if TYPE_CHECKING:
    from gossamer.parse.documents.pdf_columns import Columns
    from gossamer.parse.documents.pdf_page import TextPage

MAX_JUDGED_CHARS = 500_000
"""Characters that are read one by one, of a page with unmapped glyphs or with text from right to
left. It takes 0.8 s; pages have a few thousand."""
MAX_STRANGE = 1 / 20
"""Largest share of strange characters among those of unmapped glyphs that may be text after all:
ligatures, such as those of TeX. The space, which is one in six, is strange in other fonts."""

_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl"}
_LIGATURES |= {0xFB05: "st", 0xFB06: "st"}
_LIGATURE = re.compile("[\ufb00-\ufb06]")
_HYPHEN = re.compile("[\x02\xad\ufffe]\\s*")
"""Marks for a hyphen at the end of a line (`pdf_hyphens.py`)."""
_NOT_TEXT = re.compile("[\0-\x08\x0e-\x1f\x7f-\x9f\ufffd\ufffe\uffff\ue000-\uf8ff]")


class PageText(NamedTuple):
    """The text of a page, with PDFium's marks for hyphens at the ends of lines.

    `unmapped` are the places of glyphs that are no characters. `is_cut`: there is more text.
    """

    text: str
    unmapped: set[int]
    is_cut: bool = False


def read_text(text_page: TextPage, columns: Columns) -> PageText:
    text = text_page.text()
    unmapped = _unmapped(text_page, text)
    is_reordered = not text.isascii() and RIGHT_TO_LEFT.search(text) is not None
    if not unmapped and not is_reordered:
        return PageText(columns.text_of(text_page, text), unmapped)
    found = characters(text_page, MAX_JUDGED_CHARS)
    if unmapped:
        found = "".join(" " if n in unmapped else each for n, each in enumerate(found))
    if is_reordered:
        found = ordered(text_page, found)
    return PageText(found, unmapped, text_page.count_chars() > MAX_JUDGED_CHARS)


def lines_of(text: str) -> list[str]:
    """Return the lines of a text, whose hyphens are joined, without what is no text."""
    if _LIGATURE.search(text):
        text = text.translate(_LIGATURES)
    lines = text.replace("\r\n", "\n").replace("\n\n", "\n").split("\n")
    return [line if _is_plain(line) else _NOT_TEXT.sub(" ", line) for line in lines]


def _is_plain(text: str) -> bool:
    """Whether a text has only printable characters; to look for others takes ten times as long."""
    return text.isprintable() and "\ufffd" not in text


def characters(text_page: TextPage, limit: int) -> str:
    """Return the first characters of a page, one for each place."""
    return text_page.characters(range(min(text_page.count_chars(), limit)))


def _unmapped(text_page: TextPage, text: str) -> set[int]:
    """Return the places of glyphs that fonts do not map to characters (ISO 32000-1 §9.10.2).

    PDFium returns their codes as characters. If few of these are control characters or of private
    use, they are text: fonts with their own names of glyphs mostly have the codes of ASCII.
    """
    if _is_plain(text.replace("\r\n", "").replace("\x02", "")):
        return set()
    if not _NOT_TEXT.search(_HYPHEN.sub("", text)):
        return set()
    raw = text_page.raw
    judged = range(min(text_page.count_chars(), MAX_JUDGED_CHARS))
    places = [place for place in judged if c.FPDFText_HasUnicodeMapError(raw, place) == 1]
    codes = text_page.characters(places)
    return set(places) if len(_NOT_TEXT.findall(codes)) > MAX_STRANGE * len(codes) else set()
