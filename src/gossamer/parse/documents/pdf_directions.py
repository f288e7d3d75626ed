"""Words of PDF pages in scripts that are written from right to left.

PDF draws glyphs at places, and PDFium guesses their order. It takes the letters of some words
backwards (where a program gives the text of glyphs as ActualText), and those words of a line
backwards that run against it. Here the order follows from the places: letters of a word that run
against its script are turned, and words are ordered as the bidirectional algorithm would have
placed them (UAX #9, with words for characters).
"""

from __future__ import annotations

import ctypes
import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

import pypdfium2.raw as c

if TYPE_CHECKING:
    from gossamer.parse.documents.pdf_page import TextPage

RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LEFT_TO_RIGHT = re.compile("[^\\W\\d_\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_RUN = re.compile(
    "[\u0591-\u05c7\u05d0-\u05f4\u0610-\u061a\u0620-\u065f\u066e-\u06d3\u06d5-\u06ef\u06fa-\u08ff"
    "\ufb1d-\ufdff\ufe70-\ufefc]+"
)
"""Letters and vowel signs; digits and punctuation have directions of their own."""
_FORMS = re.compile("[\ufb1d-\ufdff\ufe70-\ufefc]+")
"""Forms of Hebrew and Arabic letters, and ligatures of them, which stand for the letters."""
_WORD = re.compile(r"[^ \r\n]+")
_LINE = re.compile(r"[^\r\n]+")
_CLEAR_MAJORITY = 1 / 3
"""The balance of a line from which on it decides; that of its page decides for other lines."""


class _Word(NamedTuple):
    text: str
    left: float
    balance: float
    """Of its letters: positive if the word runs from right to left; 0 for numbers and marks."""


def ordered(text_page: TextPage, characters: str, start: int = 0) -> str:
    """Return text of a page with the words of right-to-left scripts in order.

    `characters` are those of the page from the place `start` on, one for each of PDFium's places.
    """
    left, right, bottom, top = (ctypes.c_double() for _ in range(4))
    usual = _balance(characters)

    def place(index: int) -> float:
        found = c.FPDFText_GetCharBox(text_page.raw, start + index, left, right, bottom, top)
        return left.value if found else 0.0

    def word(text: str, at: int) -> _Word:
        first = place(at)

        def run(letters: re.Match[str]) -> str:
            is_turned = place(at + letters.start()) < place(at + letters.end() - 1)
            return letters[0][::-1] if is_turned else letters[0]

        direction = _balance(text)
        return _Word(_plain(_RUN.sub(run, text)), min(first, place(at + len(text) - 1)), direction)

    def line(found: re.Match[str]) -> str:
        if not RIGHT_TO_LEFT.search(found[0]):
            return found[0]
        balance = _balance(found[0])
        base = balance if abs(balance) >= _CLEAR_MAJORITY else usual
        words = [word(each[0], found.start() + each.start()) for each in _WORD.finditer(found[0])]
        return " ".join(each.text for each in _in_order(words, right_to_left=base >= 0))

    return _LINE.sub(line, characters)


def _balance(text: str) -> float:
    """Return 1 if all letters run from right to left, -1 if none does, 0 for half of them."""
    ours, others = len(RIGHT_TO_LEFT.findall(text)), len(_LEFT_TO_RIGHT.findall(text))
    return (ours - others) / max(1, ours + others)


def _plain(text: str) -> str:
    return _FORMS.sub(lambda forms: unicodedata.normalize("NFKC", forms[0]), text)


def _in_order(words: list[_Word], *, right_to_left: bool) -> list[_Word]:
    """Return the words of a line in the order in which they are read."""
    line = sorted(words, key=lambda word: word.left, reverse=right_to_left)
    along = 1 if right_to_left else -1
    at = 0
    while at < len(line):
        end = at
        for n in range(at, len(line)):
            if line[n].balance * along > 0:
                break
            if line[n].balance:
                end = n + 1
        line[at:end] = line[at:end][::-1] if line[at].balance else line[at:end]
        at = max(end, at + 1)
    return line
