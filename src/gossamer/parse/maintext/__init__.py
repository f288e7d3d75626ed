"""The main text of a page: without navigation, teasers, comments and what else surrounds it.

The way of a page:

1. `blocks.py` walks the tree once: blocks of text in boxes, with what elements, roles and classes
   say of each box.
2. `chrome.py` drops the blocks of boxes that are no part of an article, as far as something is
   left.
3. `_core` finds the box that holds most prose nearby: each block counts for its box, and for every
   box around it less by DECAY, as in Readability's scoring. So the box of the paragraphs wins over
   a paragraph, and over the page; a list of teasers loses, as its items are boxes of their own.
4. `_widened` adds what stands around it, while that is prose.
5. `trim.py` drops from there lists of links, the title, bylines before the first paragraph, and
   what follows the last one.

Not every page is an article. Two kinds of page are told by what they hold, and lose less:

- A *reference* is some prose among much that is none, nor links: signatures, tables, code,
  short descriptions. The core is a part of it, and grows until it holds most of that; nothing is
  trimmed at its ends.
- An *index* has next to no prose: a table of contents, a list of terms. What follows its title is
  taken whole.

Sources: Readability (Arc90, Mozilla) for 3 and 4; Kohlschütter et al., "Boilerplate Detection using
Shallow Text Features" (WSDM 2010) for link density and length as the features that count.

Bounds: linear in the page, and no recursion.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gossamer.parse.maintext.blocks import BODY, CELLS, HEADINGS, Block, Box, Outline
from gossamer.parse.maintext.chrome import ENOUGH_CHARS, PROSE_AROUND, with_insets, without_chrome
from gossamer.parse.maintext.names import NAMED_BODY
from gossamer.parse.maintext.sums import Sums
from gossamer.parse.maintext.trim import (
    MAX_LINKED,
    PARAGRAPH_CHARS,
    after_title,
    folded,
    is_title,
    trimmed,
    without_links,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from selectolax.lexbor import LexborHTMLParser

    from gossamer.parse.maintext.sums import Amounts

MIN_PROSE_CHARS = 40
"""Of a block that counts as prose. 25 to 60 are as good."""
MIN_PROSE = 0.1
"""Of the page's text; with less it is an index."""
DECAY = 0.8
"""Of what a block counts for each further box around it. 0.75 is as good."""
ITEM_DECAY = 0.4
"""The same for an item of a list: teasers come as items."""
BODY_BONUS = 2.0
"""1.5 to 3 are as good."""
MIN_BODY = 0.5
"""Of the page's prose, for a box that is marked as the body."""
MIN_BEFORE = 0.05
"""Of the core, of prose before it; and"""
MIN_AFTER = 0.1
"""after it, where less belongs to it: comments, teasers, the author's life."""
OUTGROWN = 0.7
"""Of the core, of what is around it and no link: the core is a part of a reference."""
MAX_TEASERS = 0.25
"""Of what stands before or after such a core, of links alone, to belong to the reference."""
MAX_HEADLINES = 2
"""Around such a core, that are links: with more of them it is news."""

_SMALL = HEADINGS | CELLS | {"blockquote", "caption", "figcaption", "p", "pre", "tbody", "tr"}
"""Boxes that are no text of their own: where one of them is the best, it is a part of something."""
_IMPRINT = re.compile(r"\W{0,9}(?:copyright\b|©|\(c\))", re.IGNORECASE)


def main_text(tree: LexborHTMLParser) -> str:
    """The main text, a line for each block with white space folded. Never raises.

    A page without prose gives what it holds outside navigation and footers.
    """
    root = tree.body or tree.root
    if root is None:
        return ""
    outline = Outline(root)
    prose = [_prose(block) for block in outline.blocks]
    if not any(prose):
        revealed = Outline(root, reveal=True)
        shown = [_prose(block) for block in revealed.blocks]
        if sum(shown) >= ENOUGH_CHARS:  # an article that a script shows
            outline, prose = revealed, shown
    element = tree.css_first("head > title")
    title = folded(element.text()) if element is not None else ""
    blocks = outline.blocks
    return "\n".join([blocks[index].text for index in _chosen(outline, prose, title)])


def _prose(block: Block) -> int:
    """The characters that count as prose: of long blocks of few links, those outside links."""
    chars = block.chars
    if chars < MIN_PROSE_CHARS or block.link_chars >= MAX_LINKED * chars:
        return 0
    if block.tag in HEADINGS or _IMPRINT.match(block.text):
        return 0
    return chars - block.link_chars


def _chosen(outline: Outline, prose: Sequence[int], title: str) -> Sequence[int]:
    """The blocks that are main text, by their number."""
    blocks = outline.blocks
    kept = without_chrome(outline, prose)
    sums = Sums.of(blocks, prose, kept)
    if sums.prose[-1] <= MIN_PROSE * sums.chars[-1]:
        start, end = _index(outline, sums, title)
        return [index for index in range(start, end) if kept[index]]
    core = _core(outline, sums)
    headline = _after_headline(blocks[: core.start], title)
    start, end, is_reference = _widened(outline.boxes, sums, core, headline)
    kept = with_insets(outline, prose, kept, start, end)
    chosen = after_title(blocks, without_links(outline, sums, kept, start, end), title)
    return chosen if is_reference else trimmed(blocks, chosen, title)


def _index(outline: Outline, sums: Sums, title: str) -> tuple[int, int]:
    """What follows the title in the title's own part of the page; or the page."""
    boxes = outline.boxes
    start = _after_headline(outline.blocks, title)
    box = boxes[outline.blocks[start - 1].box] if start else boxes[0]
    if sums.chars[-1] == sums.chars[start]:
        return 0, len(outline.blocks)
    while box is not boxes[0] and sums.chars[box.end] - sums.chars[start] < PARAGRAPH_CHARS:
        box = boxes[box.parent]
    return start, box.end


def _core(outline: Outline, sums: Sums) -> Box:
    """The box of the most prose nearby, or the one that is marked as the body."""
    boxes, prose = outline.boxes, sums.prose
    for box in boxes:
        if box.marks & BODY and prose[box.end] - prose[box.start] >= MIN_BODY * prose[-1]:
            return box
    scores = [0.0] * len(boxes)
    for index, block in enumerate(outline.blocks):
        scores[block.box] += prose[index + 1] - prose[index]
    best, best_score = boxes[0], -1.0
    for index in range(len(boxes) - 1, -1, -1):
        box, score = boxes[index], scores[index]
        if index:
            decay = 1.0 if box.tag == "p" else ITEM_DECAY if box.tag == "li" else DECAY
            scores[box.parent] += decay * score
        if box.marks & NAMED_BODY:
            score *= BODY_BONUS
        if box.tag in _SMALL:
            score /= 2
        if score >= best_score:
            best, best_score = box, score
    return best


def _after_headline(blocks: Sequence[Block], title: str) -> int:
    """Where the text may start at the earliest: after the last heading that is a title."""
    for index in range(len(blocks) - 1, -1, -1):
        if blocks[index].tag == "h1" or is_title(blocks[index], title):
            return index + 1
    return 0


def _widened(boxes: Sequence[Box], sums: Sums, core: Box, headline: int) -> tuple[int, int, bool]:
    """The range of blocks around the core that belong to it; and whether it is a reference."""
    start, end = core.start, core.end
    is_reference = False
    box = boxes[0] if core.marks & BODY else core
    while box is not boxes[0]:
        box = boxes[box.parent]
        first = max(box.start, headline)
        own = sums.between(start, end)
        before = sums.between(first, start)
        after = sums.between(end, box.end)
        takes_before = _belongs(before, MIN_BEFORE * own.prose)
        takes_after = _belongs(after, MIN_AFTER * own.prose)
        if _is_outgrown(own, before, after):
            is_reference = True
            takes_before = takes_before or not _is_teasing(before)
            takes_after = takes_after or not _is_teasing(after)
        start = first if takes_before else start
        end = box.end if takes_after else end
    return start, end, is_reference


def _belongs(around: Amounts, least: float) -> bool:
    """Whether it is prose, or nothing."""
    enough = around.prose >= PROSE_AROUND * (around.chars + around.link_chars)
    return around.chars == 0 or (enough and around.prose >= least)


def _is_outgrown(own: Amounts, before: Amounts, after: Amounts) -> bool:
    """Whether a range is but a part of a reference.

    A range that is long enough for an article of its own is one: around it are comments.
    """
    return (
        own.written <= ENOUGH_CHARS
        and before.written + after.written >= OUTGROWN * own.written
        and before.headlines + after.headlines <= MAX_HEADLINES
    )


def _is_teasing(around: Amounts) -> bool:
    return around.teasers > MAX_TEASERS * around.chars
