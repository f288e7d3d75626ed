"""Which blocks of a page are chrome: navigation, dialogs, teasers and what else surrounds a text.

Elements, roles and names say so (`blocks.py`, `names.py`), and are often wrong: a manual calls its
boxes of hints "sidebar", a theme calls the whole page so. So what is marked counts only as far as
enough is left, and where the marked box is not what holds the article.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.parse.maintext.blocks import ARTICLE, BODY, CHROME
from gossamer.parse.maintext.names import BESIDE, DIALOG, NAMED_BODY, NAMED_CHROME
from gossamer.parse.maintext.sums import prefix_sums

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gossamer.parse.maintext.blocks import Box, Outline

MAX_WRAPPED = 0.9
"""Of the page's prose: a box that holds more is around the article, whatever it is called."""
MIN_PARDON = 0.3
"""Of the page's prose: a box that holds an article of this size, and little else, is no chrome."""
MIN_LEFT = 0.15
ENOUGH_CHARS = 1_500
"""Of the page's prose, to be left when chrome is dropped; or an article of its own."""
PROSE_AROUND = 0.7
"""Of what stands in a range, links counted twice, to belong to the text around it."""
MIN_INSET_CHARS = 300
"""Of prose within the text, set apart from it: shorter insets are promotions and captions."""

_ARTICLES = ARTICLE | BODY | NAMED_BODY


def without_chrome(outline: Outline, prose: Sequence[int]) -> list[bool]:
    """Which blocks stay: without all chrome, or that by element and role alone, or all of them.

    The first that leaves enough prose. What dialogs ask for is no prose of the page.
    """
    boxes = outline.boxes
    prose = _without_dialogs(outline, prose)
    sums = prefix_sums(prose)
    total = sums[-1]
    pardoned = _pardoned(boxes, sums)
    for marks in (CHROME | NAMED_CHROME, CHROME):
        kept = [True] * len(prose)
        covered = 0
        for index, box in _marked(boxes, marks):
            if (
                box.end > covered
                and not pardoned[index]
                and sums[box.end] - sums[box.start] <= MAX_WRAPPED * total
            ):
                covered = box.end
                kept[box.start : box.end] = [False] * (box.end - box.start)
        left = sum([weight for weight, keep in zip(prose, kept, strict=True) if keep])
        if left and left >= min(MIN_LEFT * total, ENOUGH_CHARS):
            return kept
    return kept if total == 0 else [True] * len(prose)


def _marked(boxes: Sequence[Box], marks: int) -> Iterator[tuple[int, Box]]:
    """The boxes that are marked; and articles in articles, which are their comments.

    So §4.3.2 of HTML: "the comments as article elements nested within the article element".
    """
    article_end = 0
    for index, box in enumerate(boxes):
        within = False
        if box.tag == "article":
            within = box.end <= article_end
            article_end = max(article_end, box.end)
        if (box.marks & marks or within) and not box.marks & BODY:
            yield index, box


def _without_dialogs(outline: Outline, prose: Sequence[int]) -> Sequence[int]:
    """The prose that is not in dialogs, if there is any: they may be longer than the article.

    What holds the headline is none: it is called so for having one.
    """
    dialogs = [box for box in outline.boxes if box.marks & DIALOG and not box.marks & _ARTICLES]
    if not dialogs:
        return prose
    headlines = prefix_sums([block.tag == "h1" for block in outline.blocks])
    without = list(prose)
    covered = 0
    for box in dialogs:
        if box.end > covered and headlines[box.start] == headlines[box.end]:
            covered = box.end
            without[box.start : box.end] = [0] * (box.end - box.start)
    return without if any(without) else prose


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
        if box.marks & _ARTICLES and not box.marks & CHROME and prose >= least:
            largest[index] = prose
        pardoned[index] = 0 < prose <= 2 * largest[index]
        largest[box.parent] = max(largest[box.parent], largest[index])
    return pardoned


def with_insets(
    outline: Outline, prose: Sequence[int], kept: Sequence[bool], start: int, end: int
) -> list[bool]:
    """`kept`, with the asides and sidebars within a text that are prose: hints and notes."""
    restored = list(kept)
    text = [index for index in range(start, end) if kept[index] and prose[index]]
    if not text:
        return restored
    covered, last = text[0], text[-1]
    for box in outline.boxes:
        if not box.marks & BESIDE or not covered <= box.start < box.end <= last or kept[box.start]:
            continue
        covered = box.end
        blocks = outline.blocks[box.start : box.end]
        written = sum([block.chars + block.link_chars for block in blocks])
        if sum(prose[box.start : box.end]) >= max(PROSE_AROUND * written, MIN_INSET_CHARS):
            restored[box.start : box.end] = [True] * len(blocks)
    return restored
