"""Which blocks of a page are boilerplate: navigation, dialogs, teasers and other surroundings.

Elements, roles and names mark it (`marks.py`, `names.py`), and are often wrong: a manual calls its
boxes of hints "sidebar", a theme the whole page. So a mark counts only if enough text is left
without the box, and if the box does not contain the article.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from gossamer.parse.maintext.marks import ARTICLE, BODY, CHROME
from gossamer.parse.maintext.names import BESIDE, DIALOG, NAMED_BODY, NAMED_CHROME
from gossamer.parse.maintext.sums import prefix_sums
from gossamer.parse.maintext.teasers import teasers

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gossamer.parse.maintext.blocks import Box, Outline
    from gossamer.parse.maintext.rows import Range

MAX_WRAPPED: Final = 0.9
"""A box with more than this share of the page's prose contains the article, whatever its name."""
MIN_PARDON: Final = 0.3
"""A box with little but an article of this share of the page's prose is not boilerplate."""
MIN_LEFT: Final = 0.15
"""Share of the page's prose that must be left after dropping boilerplate, or ENOUGH_CHARS."""
ENOUGH_CHARS: Final = 1_500
"""Characters of prose that make an article."""
PROSE_AROUND: Final = 0.7
"""Share of prose (with links counted twice) for which a range belongs to the text beside it."""
MIN_INSET_CHARS: Final = 300
"""Prose in the shortest aside that is kept in a text: shorter ones are ads and captions."""

_ARTICLES: Final = ARTICLE | BODY | NAMED_BODY

T = TypeVar("T")


def mark_kept_blocks(
    outline: Outline, prose: Sequence[int], comments: Sequence[Range]
) -> tuple[list[bool], bool]:
    """Return which blocks to keep, and whether marks have counted.

    It drops the comments on an article (`threads.py`), teasers and galleries (`teasers.py`), which
    do not count as prose here, and the boxes marked by element, role or name. If that leaves too
    little prose, it drops only those marked by element or role; and if that still does, none.
    """
    boxes = outline.boxes
    marks_count = True
    left_out = [*comments, *teasers(outline, _blanked(prose, comments, 0))]
    prose = _blanked(prose, left_out, 0)
    sums = prefix_sums(prose)
    total = sums[-1]
    articles = _articles(boxes, sums)
    for marks in (CHROME | NAMED_CHROME, CHROME):
        kept = [True] * len(prose)
        covered = 0
        for index, box in _marked(boxes, marks):
            weight = sums[box.end] - sums[box.start]
            pardoned = 0 < weight <= 2 * articles.get(index, 0)
            if box.end > covered and not pardoned and weight <= MAX_WRAPPED * total:
                covered = box.end
                kept[box.start : box.end] = [False] * (box.end - box.start)
        left = sum([weight for weight, keep in zip(prose, kept, strict=True) if keep])
        if left and left >= min(MIN_LEFT * total, ENOUGH_CHARS):
            break
    else:
        if total:
            kept, marks_count = [True] * len(prose), False
    return _blanked(kept, left_out, False), marks_count


def _blanked(values: Sequence[T], ranges: Iterable[Range], blank: T) -> list[T]:
    """Return the values of all blocks, with `blank` for the blocks in some ranges."""
    result = list(values)
    for start, end in ranges:
        result[start:end] = [blank] * (end - start)
    return result


def _marked(boxes: Sequence[Box], marks: int) -> Iterator[tuple[int, Box]]:
    """Yield the marked boxes, and articles inside articles, which are comments.

    §4.3.2 of HTML has "the comments as article elements nested within the article element".
    """
    article_end = 0
    for index, box in enumerate(boxes):
        within = False
        if box.tag == "article":
            within = box.end <= article_end
            article_end = max(article_end, box.end)
        if (box.marks & marks or within) and not box.marks & BODY:
            yield index, box


def without_dialogs(outline: Outline, prose: Sequence[int]) -> Sequence[int]:
    """Return the prose outside dialogs if there is any: dialogs can be longer than the article.

    A box that contains the h1 is not a dialog; its name says that it has one.
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


def _articles(boxes: Sequence[Box], sums: Sequence[int]) -> dict[int, int]:
    """Return the prose of the largest article that a box is or contains, by the box's number.

    Names that would mark an article as boilerplate are ignored: its classes list tags and author.
    Few articles have a share of MIN_PARDON unless one contains another, and then the outer one,
    which comes first, has more prose: so no box is visited more than a few times.
    """
    least = max(MIN_PARDON * sums[-1], 1)
    largest: dict[int, int] = {}
    for index, box in enumerate(boxes):
        if not box.marks & _ARTICLES or box.marks & CHROME:
            continue
        prose = sums[box.end] - sums[box.start]
        if prose < least:
            continue
        number = index
        while number and largest.get(number, 0) < prose:
            largest[number] = prose
            number = boxes[number].parent
    return largest


def with_insets(
    outline: Outline, prose: Sequence[int], kept: Sequence[bool], start: int, end: int
) -> list[bool]:
    """Return `kept` plus the asides and sidebars of prose within a text, which are its notes."""
    restored = list(kept)
    asides = [box for box in outline.boxes if box.marks & BESIDE]
    text = [index for index in range(start, end) if kept[index] and prose[index]] if asides else []
    if not text:
        return restored
    covered, last = text[0], text[-1]
    for box in asides:
        if not covered <= box.start < box.end <= last or kept[box.start]:
            continue
        covered = box.end
        blocks = outline.blocks[box.start : box.end]
        written = sum([block.chars + block.link_chars for block in blocks])
        if sum(prose[box.start : box.end]) >= max(PROSE_AROUND * written, MIN_INSET_CHARS):
            restored[box.start : box.end] = [True] * len(blocks)
    return restored
