"""Drops lists of links, the title, bylines and what follows the text from a range of blocks."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Final

from gossamer.parse.maintext.blocks import CELLS, HEADINGS
from gossamer.parse.maintext.sums import ONLY_LINKS, TABULAR
from gossamer.parse.maintext.threads import is_dated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.parse.maintext.blocks import Block, Box, Outline
    from gossamer.parse.maintext.sums import Sums

MAX_LINKED: Final = 0.5
"""Share of a block's characters in links from which on it is not prose."""
LINKED_CLUSTER: Final = 0.6
"""Share of a box's characters in links from which on it is a list of links, unless it has too much
prose: see MAX_CLUSTER."""
MAX_CLUSTER: Final = 0.2
"""Largest share of prose in a list of links: of its own characters, and of the text's prose."""
MIN_TEASER_CHARS: Final = 40
"""Average length of links that are headlines of other pages; shorter ones are terms of the text."""
SENTENCE_CHARS: Final = 20
"""Shortest paragraph that ends like a sentence."""
PARAGRAPH_CHARS: Final = 120
"""Shortest paragraph without punctuation at its end."""
MAX_HEAD: Final = 0.15
"""Largest share of the text that is dropped before the first paragraph."""
MAX_TAIL: Final = 0.2
"""Largest share of the text that is dropped after the last paragraph."""
MAX_BEFORE_TITLE: Final = 0.3
"""Share of the paragraphs after which a heading is no longer taken for the page's title."""
MIN_TITLE_CHARS, MAX_TITLE_CHARS = 8, 500

_ITEMS: Final = CELLS | {"pre"}
_CLUSTERS: Final = frozenset(
    ("blockquote", "div", "dl", "figure", "nav", "ol", "p", "section", "table", "ul")
)
_ENDS: Final = frozenset(".!?…。！？:\"”»)）」』】’'«“;।؟۔॥։።")
_WORD: Final = re.compile(r"\w+")
_NO_WORD: Final = dict.fromkeys([n for n in range(128) if not re.match(r"\w", chr(n))], " ")
"""The other characters of ASCII, each as a space."""


def drop_link_lists(
    outline: Outline, sums: Sums, kept: Sequence[bool], start: int, end: int
) -> list[int]:
    """Return the numbers of the kept blocks of a range that are not just links to other pages."""
    blocks = outline.blocks
    clusters = _clusters(outline.boxes, sums, start, end)
    return [
        index
        for index in range(start, end)
        if kept[index]
        and not clusters[index - start]
        and not _is_only_links(blocks[index])
        and not (blocks[index].tag in HEADINGS and clusters[index + 1 - start])
    ]


def _clusters(boxes: Sequence[Box], sums: Sums, start: int, end: int) -> list[bool]:
    """Return which blocks of a range, and the one after it, are in a list of links to other pages.

    Links of one or two words are part of the text: a table of contents, a list of names.
    """
    found = [False] * (end + 1 - start)
    most_prose = MAX_CLUSTER * (sums.prose[end] - sums.prose[start])
    all_chars, all_linked = sums.chars, sums.link_chars
    covered = start
    for box in boxes:
        first, last = box.start, box.end
        if not covered <= first < last <= end or box.tag not in _CLUSTERS:
            continue
        chars = all_chars[last] - all_chars[first]
        if all_linked[last] - all_linked[first] < LINKED_CLUSTER * chars:
            continue
        links = sums.links[last] - sums.links[first]
        prose = sums.prose[last] - sums.prose[first]
        if chars >= MIN_TEASER_CHARS * max(last - first, links) and prose <= min(
            most_prose, MAX_CLUSTER * chars
        ):
            covered = last
            found[first - start : last - start] = [True] * (last - first)
    return found


def _is_only_links(block: Block) -> bool:
    """Whether a paragraph is only links. Several short links are terms of the text instead."""
    if block.tag in HEADINGS or block.tag in _ITEMS:
        return False
    if block.links > 1 and block.link_chars < MIN_TEASER_CHARS * block.links:
        return False
    return block.link_chars >= ONLY_LINKS * block.chars


def after_title(blocks: Sequence[Block], chosen: list[int], title: str) -> list[int]:
    """Return the blocks after the heading that is the page's title, or else after the first h1.

    Only headings before most of the paragraphs count.
    """
    paragraphs = sum([blocks[index].chars for index in chosen if _is_paragraph(blocks[index])])
    seen = 0
    first_h1 = None
    for position, index in enumerate(chosen):
        block = blocks[index]
        if is_title(block, title):
            return chosen[position + 1 :]
        if block.tag == "h1" and first_h1 is None:
            first_h1 = position
        elif _is_paragraph(block):
            seen += block.chars
        if seen >= MAX_BEFORE_TITLE * paragraphs:
            break
    return chosen if first_h1 is None else chosen[first_h1 + 1 :]


def trim_ends(
    blocks: Sequence[Block], chosen: Sequence[int], title: str, posts_end: int
) -> Sequence[int]:
    """Return the blocks from the first paragraph, with the headings right above it, to the last.

    The posts of a discussion, which end before block `posts_end`, may be shorter than a sentence.
    """
    total = sum([blocks[index].chars for index in chosen])
    first = _leading(blocks, chosen, MAX_HEAD * total)
    while first and (block := blocks[chosen[first - 1]]).tag in HEADINGS:
        if block.tag == "h1" or is_title(block, title):
            break
        first -= 1
    last = _trailing(blocks, chosen, MAX_TAIL * total)
    return chosen[first : max(last, bisect_left(chosen, posts_end))]


def _leading(blocks: Sequence[Block], chosen: Sequence[int], most: float) -> int:
    """Return where the text starts; 0 if more than `most` characters come before a paragraph."""
    before = 0
    for position, index in enumerate(chosen):
        block = blocks[index]
        if _may_start(block):
            return position
        before += block.chars - block.link_chars
        if before > most:
            break
    return 0


def _trailing(blocks: Sequence[Block], chosen: Sequence[int], most: float) -> int:
    """Return where the text ends: after the last paragraph or item.

    If more than `most` characters follow that, it is the end of `chosen`.
    """
    behind = 0
    for position in range(len(chosen), 0, -1):
        block = blocks[chosen[position - 1]]
        if _may_end(block):
            return position
        behind += block.chars
        if behind > most:
            break
    return len(chosen)


def _is_paragraph(block: Block) -> bool:
    """Whether a block is a sentence, or long enough to be prose without one."""
    if block.tag in HEADINGS or block.tag == "figcaption" or _is_linked(block):
        return False
    return block.chars >= PARAGRAPH_CHARS or (
        block.chars >= SENTENCE_CHARS and block.text[-1] in _ENDS
    )


def _may_start(block: Block) -> bool:
    if _is_paragraph(block):
        return True
    return block.tag in TABULAR and not _is_linked(block) and not is_dated(block)


def _may_end(block: Block) -> bool:
    return _is_paragraph(block) or (block.tag in _ITEMS and not _is_linked(block))


def _is_linked(block: Block) -> bool:
    return block.link_chars >= MAX_LINKED * block.chars


def is_title(block: Block, title: str) -> bool:
    """Whether a block is a heading whose words occur in the page's title, which is `fold_words`."""
    if block.tag not in HEADINGS:
        return False
    words = fold_words(block.text)
    return len(words) >= MIN_TITLE_CHARS and words in title


def fold_words(text: str) -> str:
    """Return the words of a text in lower case, with one space between them."""
    lower = text[:MAX_TITLE_CHARS].lower()
    if lower.isascii():  # ten times as fast
        return " ".join(lower.translate(_NO_WORD).split())
    return " ".join(_WORD.findall(lower))
