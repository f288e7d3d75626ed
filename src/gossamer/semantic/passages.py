"""The passages of a page: pieces of its main text that are about one thing each.

A vector of a whole page would be a mean of all that it says. So lines are joined to passages of
some 40 words, longer ones are cut, and each passage gets a vector. The title is one, too: many
questions are titles.

A page has at most `semantic.passages` passages: the first ones, as pages say first what they are
about. A stranger's page of a million lines costs no more than one of twenty.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

TITLE_CHARS = 300
WIDTH = 250
"""The width of a full passage. It ends at the end of a line, of a sentence, or at a space."""
MIN_WIDTH = 12
"""Less text than this is about nothing, unless it is the title."""
WIDE = 2.5
"""Chinese characters, kana and Hangul say as much as so many letters."""
_WIDE_CHARACTER = re.compile(r"[⺀-鿿가-힯豈-﫿]")
_SENTENCE_END = re.compile(r"[.!?…]['\")\]»”’]*\s|[。！？]|\s")
_SPACES = re.compile(r"\s+")


def passages_of(title: str | None, text: str | None, most: int) -> list[str]:
    """The first passages of a page, at most `most`, without repetition."""
    found: dict[str, None] = {}
    for passage in _passages(title or "", text or ""):
        if len(found) >= most:
            break
        found[passage] = None
    return list(found)


def _passages(title: str, text: str) -> Iterator[str]:
    if name := clean(title[:TITLE_CHARS]):
        yield name
    held, width = "", 0.0
    for piece in _pieces(text):
        more = width_of(piece)
        if held and width + more > WIDTH:
            yield from _worthwhile(held)
            held, width = "", 0.0
        held, width = f"{held} {piece}" if held else piece, width + more
    yield from _worthwhile(held)


def _worthwhile(passage: str) -> Iterator[str]:
    if width_of(passage) >= MIN_WIDTH:
        yield passage


def _pieces(text: str) -> Iterator[str]:
    """The lines of a text; those that are longer than a passage are cut."""
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        while at < end:
            cut = _cut_after(text, at, end)
            if piece := clean(text[at:cut]):
                yield piece
            at = cut
        at = end + 1


def _cut_after(text: str, begin: int, end: int) -> int:
    """Where the piece ends that begins in a line: at its end, or the last sentence that fits."""
    piece = text[begin : min(end, begin + WIDTH)]
    if (width := width_of(piece)) > WIDTH:
        piece = piece[: int(WIDTH / width * len(piece)) or 1]
    if begin + len(piece) >= end:
        return end
    best, rank = len(piece), 0
    for found in _SENTENCE_END.finditer(piece, len(piece) // 2):
        is_sentence = 1 + (not found[0].isspace())
        if is_sentence >= rank:
            best, rank = found.end(), is_sentence
    return begin + best


def clean(text: str) -> str:
    """A text on one line."""
    return _SPACES.sub(" ", text).strip()


def width_of(text: str) -> float:
    """How many letters say as much as a text."""
    if text.isascii():
        return len(text)
    return len(text) + (WIDE - 1) * len(_WIDE_CHARACTER.findall(text))
