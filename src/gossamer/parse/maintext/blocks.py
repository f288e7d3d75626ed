"""A page as blocks of text in boxes, from which the main text is selected.

A *block* is the text between two boundaries of block elements, or between two pairs of `br`. A
*box* is a block element, or a span whose class marks it as boilerplate. Both are numbered in
document order. The blocks of a box are a range, so sums over boxes are differences of prefix sums.
"""

from __future__ import annotations

from typing import Final, NamedTuple

HEADINGS: Final = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
CELLS: Final = frozenset(("dd", "dt", "li", "td", "th"))
"""Items of lists and cells of tables. A paragraph directly inside one gets its tag."""

_WIDE_BYTES: Final = 2.2
"""UTF-8 bytes per character above which a text counts as written in syllables (CJK)."""


class Block:
    """The text between two block boundaries.

    `chars` is its length; characters count twice in scripts of syllables (CJK). `link_chars` is the
    part inside links, and `links` the number of links that begin in it.
    """

    __slots__ = ("box", "chars", "link_chars", "links", "tag", "text")

    def __init__(
        self, text: str, chars: int, link_chars: int, links: int, box: int, tag: str
    ) -> None:
        self.text = text
        self.chars = chars
        self.link_chars = link_chars
        self.links = links
        self.box = box
        self.tag = tag


class Box:
    """A block element with blocks `start` to `end`, which are also among those of its parent."""

    __slots__ = ("end", "marks", "parent", "start", "tag")

    def __init__(self, tag: str, parent: int, start: int, end: int, marks: int) -> None:
        self.tag = tag
        self.parent = parent
        self.start = start
        self.end = end
        self.marks = marks


class Outline(NamedTuple):
    """The blocks and boxes of a page. Box 0 is the whole page."""

    blocks: list[Block]
    boxes: list[Box]


def block(text: str, link_chars: int, links: int, box: int, tag: str) -> Block:
    """Return the block of a text with so many characters in links."""
    chars = len(text)
    if not text.isascii() and len(text.encode(errors="replace")) > _WIDE_BYTES * chars:
        chars *= 2
        link_chars *= 2
    return Block(text, chars, min(link_chars, chars), links, box, tag)
