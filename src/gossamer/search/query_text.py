"""The text of a query before it is parsed: what counts of it, in one spelling.

Keyboards and programs replace what people mean to type. Here quotation marks become `"`, and
full-width characters ASCII: input methods write `ｓｉｔｅ：` and `（ＯＲ）`. Spaces within a number
become commas, and hyphens within an ISBN, so that it is one word. A text keeps its
length, so that a place in the result is the same place in the original.

The marks are those of the Unicode property Quotation_Mark (PropList.txt) that enclose quotations in
the languages of CLDR, without apostrophes and `‹›`, which also stand between the steps of a path.
A typographic mark without a counterpart quotes nothing, as in the title `News » Sport`, nor do
marks beside other letters: `「フォント」の利用法` (use of "Font") is how Japanese writes titles.
"""

from __future__ import annotations

import re

from gossamer.index.format.joined_words import with_separators
from gossamer.index.format.normalization import compose_characters

MAX_QUERY_CHARS = 4_000

_PAIRS = (
    *(f'{opening}[^“”‟"]*[“”‟"]' for opening in "“”„‟"),
    '"[^"“”„‟]*[”‟]',
    "«[^»]*»",
    "»[^«»]*[«»]",
    "⹂[^“”]*[“”]",
    "「[^」]*」",
    "『[^』]*』",
    "｢[^｣]*｣",
    "〝[^〞〟]*[〞〟]",
    "﹁[^﹂]*﹂",
    "﹃[^﹄]*﹄",
)
_QUOTED = re.compile(rf"(?<!\w)(?:{'|'.join(_PAIRS)})(?!\w)")
_STRAIGHT = re.compile('("[^"]*")')
_HEBREW_ACRONYM = re.compile('(?<=[\u05d0-\u05ea])"(?=[\u05d0-\u05ea])')
"""Keyboards have a quotation mark in place of the gershayim of acronyms such as `ארה"ב`."""
_GERSHAYIM = "\u05f4"
_PHRASE = re.compile(r'(?<![-+:\w])"([^"]*)"')
"""A phrase in straight quotes that is neither excluded nor the value of a filter."""
_TO_ASCII = {0xFF01 + number: 0x21 + number for number in range(94)} | {0x3000: 0x20}
"""The full-width forms of ASCII, U+FF01 to U+FF5E, and the ideographic space."""


def effective_query(query: str) -> str:
    """The part of a query that counts, in the Unicode form of the index, in straight quotes."""
    text = query[:MAX_QUERY_CHARS].encode("utf-8", "replace").decode()
    return with_separators(straighten(compose_characters(text)))


def straighten(text: str) -> str:
    """The text with straight quotation marks, and ASCII where it is in full width.

    It is as long as before. Typographic marks within straight ones are a part of the quotation.
    """
    if text.isascii():
        return text
    text = _HEBREW_ACRONYM.sub(_GERSHAYIM, text.translate(_TO_ASCII))
    pieces = _STRAIGHT.split(text)
    pieces[::2] = [
        _QUOTED.sub(lambda found: f'"{_inner(found[0])}"', piece) for piece in pieces[::2]
    ]
    return _HEBREW_ACRONYM.sub(_GERSHAYIM, "".join(pieces))


def _inner(quoted: str) -> str:
    return quoted[1:-1].replace('"', " ")


def without_quotes(text: str) -> str | None:
    """The query with its phrases as words; None if it has no phrase, or no words beside phrases."""
    phrases, beside = _PHRASE.findall(text), _PHRASE.sub(" ", text)
    if not any(len(phrase.split()) > 1 for phrase in phrases) or not re.search(r"\w", beside):
        return None
    return " ".join(_PHRASE.sub(r" \1 ", text).split())
