"""The main text of a page: without navigation, teasers, comments and what else surrounds it.

The way of a page, each step a function below:

1. `blocks.py` walks the tree once: blocks of text in boxes, with what elements, roles and classes
   say of each box.
2. `_without_chrome` drops the blocks of boxes that are no part of an article, as far as something
   is left.
3. `_core` finds the box that holds most prose nearby: each block counts for its box, and for every
   box around it less by DECAY, as in Readability's scoring. So the box of the paragraphs wins over
   a paragraph, and over the page; a list of teasers loses, as its items are boxes of their own.
4. `_widened` adds what stands around it, while that is prose.
5. `_polished` drops from there lists of links, the title, bylines before the first paragraph, and
   what follows the last one.

Sources: Readability (Arc90, Mozilla) for 3 and 4; Kohlschütter et al., "Boilerplate Detection using
Shallow Text Features" (WSDM 2010) for link density and length as the features that count.

Bounds: linear in the page, and no recursion.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from gossamer.parse.blocks import ARTICLE, BODY, CELLS, CHROME, Block, Box, Outline
from gossamer.parse.names import NAMED_BODY, NAMED_CHROME

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from selectolax.lexbor import LexborHTMLParser

MIN_PROSE_CHARS = 40
"""Of a block that counts as prose. 25 to 60 are as good."""
MAX_LINKED = 0.5
"""Of a block's characters, for prose."""
DECAY = 0.8
"""Of what a block counts for each further box around it. 0.75 is as good."""
ITEM_DECAY = 0.4
"""The same for an item of a list: teasers come as items."""
BODY_BONUS = 2.0
"""1.5 to 3 are as good."""
MAX_WRAPPED = 0.9
"""Of the page's prose: a box that holds more is around the article, whatever it is called."""
MIN_BODY = 0.5
"""Of the page's prose, for a box that is marked as the body."""
MIN_PARDON = 0.3
"""Of the page's prose: a box that holds an article of this size, and little else, is no chrome."""
MIN_LEFT = 0.15
ENOUGH_CHARS = 1_500
"""Of the page's prose, to be left when chrome is dropped; or an article of its own."""
PROSE_AROUND = 0.7
"""Of what stands before or after the core within a box, links counted twice, to belong to it."""
MIN_BEFORE = 0.05
"""Of the core, of prose before it; and"""
MIN_AFTER = 0.1
"""after it, where less belongs to it: comments, teasers, the author's life."""
LINKS_ALONE = 0.75
"""Of a block's characters: it is a link with some words around."""
LINKED_CLUSTER = 0.6
"""Of a box's characters: it is a list of links; unless it holds more prose than"""
MAX_CLUSTER = 0.2
"""of them, or of the whole text."""
MIN_TEASER_CHARS = 40
"""A link of a list; shorter ones are terms, longer ones headlines of other pages."""
SENTENCE_CHARS = 20
PARAGRAPH_CHARS = 120
"""That need no full stop."""
MAX_HEAD = 0.15
MAX_TAIL = 0.2
"""Of the text, for what is dropped before the first paragraph and after the last."""
MAX_BEFORE_TITLE = 0.3
"""Of the paragraphs; a heading after more of them is none of the page."""
MIN_TITLE_CHARS, MAX_TITLE_CHARS = 8, 500

_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_SMALL = _HEADINGS | CELLS | {"blockquote", "caption", "figcaption", "p", "pre", "tbody", "tr"}
"""Boxes that are no text of their own: where one of them is the best, it is a part of something."""
_ITEMS = CELLS | {"pre"}
_CLUSTERS = frozenset(
    ("blockquote", "div", "dl", "figure", "nav", "ol", "p", "section", "table", "ul")
)
_ENDS = frozenset(".!?…。！？:\"”»)）」』】’'«“;।؟۔॥։።")
_WORD = re.compile(r"\w+")


def main_text(tree: LexborHTMLParser) -> str:
    """The main text, a line for each block with white space folded. Never raises.

    A page without prose gives what it holds outside navigation and footers.
    """
    root = tree.body or tree.root
    if root is None:
        return ""
    outline = Outline(root)
    blocks, boxes = outline.blocks, outline.boxes
    prose = [_prose(block) for block in blocks]
    kept = _without_chrome(boxes, prose)
    weights = [weight if keep else 0 for weight, keep in zip(prose, kept, strict=True)]
    if not any(weights):
        return "\n".join([block.text for block, keep in zip(blocks, kept, strict=True) if keep])
    sums = _Sums.of(blocks, weights, kept)
    element = tree.css_first("head > title")
    title = _folded(element.text()) if element is not None else ""
    core = _core(blocks, boxes, weights, sums)
    start, end = _widened(boxes, sums, core, _after_headline(blocks[: core.start], title))
    chosen = _polished(outline, sums, kept, start, end, title)
    return "\n".join([blocks[index].text for index in chosen])


class _Sums(NamedTuple):
    """Prefix sums over the blocks that are kept: of a range, `end`'s less `start`'s."""

    prose: Sequence[int]
    chars: Sequence[int]
    link_chars: Sequence[int]

    @classmethod
    def of(cls, blocks: Sequence[Block], weights: Iterable[int], kept: Sequence[bool]) -> _Sums:
        pairs = list(zip(blocks, kept, strict=True))
        return cls(
            _prefix(weights),
            _prefix([block.chars if keep else 0 for block, keep in pairs]),
            _prefix([block.link_chars if keep else 0 for block, keep in pairs]),
        )


def _prefix(values: Iterable[int]) -> list[int]:
    return list(accumulate(values, initial=0))


def _prose(block: Block) -> int:
    """The characters that count as prose: of long blocks of few links, those outside links."""
    chars = block.chars
    if chars < MIN_PROSE_CHARS or block.link_chars >= MAX_LINKED * chars:
        return 0
    return 0 if block.tag in _HEADINGS else chars - block.link_chars


def _without_chrome(boxes: Sequence[Box], prose: Sequence[int]) -> list[bool]:
    """Which blocks stay: without all chrome, or that by element and role alone, or all of them.

    The first that leaves enough prose.
    """
    sums = _prefix(prose)
    total = sums[-1]
    pardoned = _pardoned(boxes, sums)
    for marks in (CHROME | NAMED_CHROME, CHROME):
        kept = [True] * len(prose)
        covered = 0
        for index, box in enumerate(boxes):
            if (
                box.marks & marks
                and box.end > covered
                and not box.marks & BODY
                and not pardoned[index]
                and sums[box.end] - sums[box.start] <= MAX_WRAPPED * total
            ):
                covered = box.end
                kept[box.start : box.end] = [False] * (box.end - box.start)
        left = sum([weight for weight, keep in zip(prose, kept, strict=True) if keep])
        if left and left >= min(MIN_LEFT * total, ENOUGH_CHARS):
            return kept
    return kept if total == 0 else [True] * len(prose)


def _pardoned(boxes: Sequence[Box], sums: Sequence[int]) -> list[bool]:
    """Whether a box is or holds an article, and little else.

    An article's own names do not count: its tags and its author are among its classes.
    """
    least = MIN_PARDON * sums[-1]
    largest = [0] * len(boxes)
    pardoned = [False] * len(boxes)
    for index in range(len(boxes) - 1, 0, -1):
        box = boxes[index]
        prose = sums[box.end] - sums[box.start]
        if box.marks & (ARTICLE | BODY | NAMED_BODY) and not box.marks & CHROME and prose >= least:
            largest[index] = prose
        pardoned[index] = 0 < prose <= 2 * largest[index]
        largest[box.parent] = max(largest[box.parent], largest[index])
    return pardoned


def _core(
    blocks: Sequence[Block], boxes: Sequence[Box], weights: Sequence[int], sums: _Sums
) -> Box:
    """The box of the most prose nearby, or the one that is marked as the body."""
    total = sums.prose[-1]
    for box in boxes:
        if box.marks & BODY and sums.prose[box.end] - sums.prose[box.start] >= MIN_BODY * total:
            return box
    scores = [0.0] * len(boxes)
    for block, weight in zip(blocks, weights, strict=True):
        scores[block.box] += weight
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
        if blocks[index].tag == "h1" or _is_title(blocks[index], title):
            return index + 1
    return 0


def _widened(boxes: Sequence[Box], sums: _Sums, core: Box, headline: int) -> tuple[int, int]:
    """The range of blocks around the core, up to where there is more than prose."""
    start, end = core.start, core.end
    if core.marks & BODY:
        return start, end
    box = core
    while box is not boxes[0]:
        box = boxes[box.parent]
        size = sums.prose[end] - sums.prose[start]
        first = max(box.start, headline)
        takes_before = _belongs(sums, first, start, MIN_BEFORE * size)
        takes_after = _belongs(sums, end, box.end, MIN_AFTER * size)
        widened = (takes_before and first < start) or (takes_after and box.end > end)
        if not widened and (box.start, box.end) != (start, end):
            break
        start = first if takes_before else start
        end = box.end if takes_after else end
    return start, end


def _belongs(sums: _Sums, start: int, end: int, least: float) -> bool:
    """Whether a range is prose, or nothing."""
    chars = sums.chars[end] - sums.chars[start]
    links = sums.link_chars[end] - sums.link_chars[start]
    prose = sums.prose[end] - sums.prose[start]
    return chars == 0 or (prose >= PROSE_AROUND * (chars + links) and prose >= least)


def _polished(
    outline: Outline, sums: _Sums, kept: Sequence[bool], start: int, end: int, title: str
) -> list[int]:
    """The blocks of a range that are text, by their number."""
    blocks = outline.blocks
    clusters = _clusters(outline.boxes, sums, start, end)
    chosen = [
        index
        for index in range(start, end)
        if kept[index]
        and not clusters[index - start]
        and not _link_alone(blocks[index])
        and not (blocks[index].tag in _HEADINGS and clusters[index + 1 - start])
    ]
    chosen = _after_title(blocks, chosen, title)
    total = sum([blocks[index].chars for index in chosen])
    first = _leading(blocks, chosen, MAX_HEAD * total, title)
    last = _trailing(blocks, chosen, MAX_TAIL * total)
    return chosen[first:last]


def _clusters(boxes: Sequence[Box], sums: _Sums, start: int, end: int) -> list[bool]:
    """Which blocks of a range, and that after it, are in a box of links to other pages.

    Links of one or two words are terms of the text: a table of contents, a list of names.
    """
    found = [False] * (end + 1 - start)
    most_prose = MAX_CLUSTER * (sums.prose[end] - sums.prose[start])
    covered = start
    for box in boxes:
        size = box.end - box.start
        if box.start < covered or box.end > end or not size or box.tag not in _CLUSTERS:
            continue
        chars = sums.chars[box.end] - sums.chars[box.start]
        links = sums.link_chars[box.end] - sums.link_chars[box.start]
        prose = sums.prose[box.end] - sums.prose[box.start]
        if (
            links >= LINKED_CLUSTER * chars
            and chars >= MIN_TEASER_CHARS * size
            and prose <= min(most_prose, MAX_CLUSTER * chars)
        ):
            covered = box.end
            found[box.start - start : box.end - start] = [True] * size
    return found


def _link_alone(block: Block) -> bool:
    return (
        block.link_chars >= LINKS_ALONE * block.chars
        and block.tag not in _HEADINGS
        and block.tag not in _ITEMS
    )


def _after_title(blocks: Sequence[Block], chosen: list[int], title: str) -> list[int]:
    """What follows the heading that is the page's title, if most paragraphs do."""
    paragraphs = sum([blocks[index].chars for index in chosen if _is_paragraph(blocks[index])])
    seen = 0
    first_h1 = None
    for position, index in enumerate(chosen):
        block = blocks[index]
        if _is_title(block, title):
            return chosen[position + 1 :]
        if block.tag == "h1" and first_h1 is None:
            first_h1 = position
        elif _is_paragraph(block):
            seen += block.chars
        if seen >= MAX_BEFORE_TITLE * paragraphs:
            break
    return chosen if first_h1 is None else chosen[first_h1 + 1 :]


def _leading(blocks: Sequence[Block], chosen: Sequence[int], budget: float, title: str) -> int:
    """Where the text starts: at its first paragraph, or the heading of that."""
    first = 0
    while first < len(chosen) and not _is_paragraph(block := blocks[chosen[first]]):
        budget -= block.chars
        if budget < 0:
            break
        first += 1
    if first == len(chosen):
        return 0
    while first and (block := blocks[chosen[first - 1]]).tag in _HEADINGS:
        if block.tag == "h1" or _is_title(block, title):
            break
        first -= 1
    return first


def _trailing(blocks: Sequence[Block], chosen: Sequence[int], budget: float) -> int:
    """Where the text ends: after its last paragraph or item."""
    last = len(chosen)
    while last and not _may_end(block := blocks[chosen[last - 1]]):
        budget -= block.chars
        if budget < 0:
            break
        last -= 1
    return last or len(chosen)


def _is_paragraph(block: Block) -> bool:
    """A sentence, or long enough to be one."""
    if block.tag in _HEADINGS or block.tag == "figcaption" or _is_linked(block):
        return False
    return block.chars >= PARAGRAPH_CHARS or (
        block.chars >= SENTENCE_CHARS and block.text[-1] in _ENDS
    )


def _may_end(block: Block) -> bool:
    return _is_paragraph(block) or (block.tag in _ITEMS and not _is_linked(block))


def _is_linked(block: Block) -> bool:
    return block.link_chars >= MAX_LINKED * block.chars


def _is_title(block: Block, title: str) -> bool:
    if block.tag not in _HEADINGS:
        return False
    words = _folded(block.text)
    return len(words) >= MIN_TITLE_CHARS and words in title


def _folded(text: str) -> str:
    return " ".join(_WORD.findall(text[:MAX_TITLE_CHARS].lower()))
