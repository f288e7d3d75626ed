"""Which blocks of a page are its main text? The box with the most prose, and what belongs to it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from gossamer.parse.maintext.blocks import CELLS, HEADINGS
from gossamer.parse.maintext.boilerplate import (
    ENOUGH_CHARS,
    PROSE_AROUND,
    mark_kept_blocks,
    with_insets,
    without_dialogs,
)
from gossamer.parse.maintext.marks import BODY
from gossamer.parse.maintext.names import NAMED_BODY
from gossamer.parse.maintext.sums import Sums
from gossamer.parse.maintext.threads import threads
from gossamer.parse.maintext.trim import (
    MAX_LINKED,
    PARAGRAPH_CHARS,
    after_title,
    drop_link_lists,
    fold_words,
    is_title,
    trim_ends,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gossamer.parse.maintext.blocks import Block, Box, Outline
    from gossamer.parse.maintext.sums import Amounts

MIN_PROSE_CHARS: Final = 40
"""Shortest block that counts as prose. 25 to 60 give results as good."""
MIN_PROSE: Final = 0.1
"""Smallest share of prose in a page's text; with less, the page is an index."""
DECAY: Final = 0.8
"""Factor on a block's score for each further box around it. 0.75 is as good."""
ITEM_DECAY: Final = 0.4
"""DECAY for list items, which are often teasers."""
BODY_BONUS: Final = 2.0
"""Factor on the score of a box whose name is that of a body. 1.5 to 3 are as good."""
MIN_BODY: Final = 0.5
"""Smallest share of the page's prose in a box that is marked as articleBody, to be the core."""
MIN_BEFORE: Final = 0.05
"""Least prose before the core that is added to it, as a share of the core's prose."""
MIN_AFTER: Final = 0.1
"""The same for prose after it, which belongs to it less often: comments, teasers, biographies."""
OUTGROWN: Final = 0.7
"""If the text around the core, without links, exceeds this share of the core's, the core is only
a part of a reference."""
MAX_TEASERS: Final = 0.25
"""Largest share of blocks that are only links in the text before or after the core of a reference,
for that text to belong to it."""
MAX_HEADLINES: Final = 2
"""Largest number of headings around the core that are only links, for a reference. A page with more
is a news page."""

_SMALL: Final = (
    HEADINGS | CELLS | {"blockquote", "caption", "figcaption", "p", "pre", "tbody", "tr"}
)
"""Boxes that are rarely a whole text: if one of them scores best, it is part of a larger one."""
_IMPRINT: Final = re.compile(r"\W{0,9}(?:copyright\b|©|\(c\))", re.IGNORECASE)


class MainText(NamedTuple):
    """The main text, one line per block, with white space folded."""

    text: str
    is_doubtful: bool = False
    """Whether it may well have boilerplate."""


def main_text(
    outline: Outline, title: str, revealed: Callable[[], Outline | None] = lambda: None
) -> MainText:
    """Return the main text of a page. Never raises.

    For a page without prose it is the text outside navigation and footers. `title` is the page's.
    `revealed` returns the outline with hidden elements, if there are any; it is called for a page
    that shows no prose, as this may be an article that a script shows.
    """
    prose = [_prose(block) for block in outline.blocks]
    if not any(prose) and (other := revealed()) is not None:
        shown = [_prose(block) for block in other.blocks]
        if sum(shown) >= ENOUGH_CHARS:
            outline, prose = other, shown
    blocks = outline.blocks
    chosen, is_doubtful = _choose_blocks(outline, prose, fold_words(title))
    return MainText("\n".join([blocks[index].text for index in chosen]), is_doubtful)


def _prose(block: Block) -> int:
    """Return the number of characters outside links in a long block with few links, else 0."""
    chars = block.chars
    if chars < MIN_PROSE_CHARS or block.link_chars >= MAX_LINKED * chars:
        return 0
    if block.tag in HEADINGS or _is_imprint(block.text):
        return 0
    return chars - block.link_chars


def _is_imprint(text: str) -> bool:
    if text[0].isalpha() and text[0] not in "Cc":  # nearly always, without the pattern
        return False
    return _IMPRINT.match(text) is not None


def _choose_blocks(
    outline: Outline, prose: Sequence[int], title: str
) -> tuple[Sequence[int], bool]:
    """Return the numbers of the blocks that are main text, and whether that is doubtful."""
    blocks = outline.blocks
    prose = without_dialogs(outline, prose)
    found = threads(outline, prose)
    kept, marks_count = mark_kept_blocks(outline, prose, found.comments)
    sums = Sums.of(blocks, prose, kept)
    if sums.prose[-1] <= MIN_PROSE * sums.chars[-1]:
        start, end = _index(outline, sums, title)
        return [index for index in range(start, end) if kept[index]], True
    core = _core(outline, sums)
    headline = _after_headline(blocks[: core.start], title)
    start, end, is_reference = _widen_core(outline.boxes, sums, core, headline)
    kept = with_insets(outline, prose, kept, start, end)
    chosen = after_title(blocks, drop_link_lists(outline, sums, kept, start, end), title)
    if not is_reference:
        chosen = list(trim_ends(blocks, chosen, title, found.posts_end))
    return chosen, not marks_count


def _index(outline: Outline, sums: Sums, title: str) -> tuple[int, int]:
    """Return the range of blocks after the title, in the box of the title; or the whole page."""
    boxes = outline.boxes
    start = _after_headline(outline.blocks, title)
    box = boxes[outline.blocks[start - 1].box] if start else boxes[0]
    if sums.chars[-1] == sums.chars[start]:
        return 0, len(outline.blocks)
    while box is not boxes[0] and sums.chars[box.end] - sums.chars[start] < PARAGRAPH_CHARS:
        box = boxes[box.parent]
    return start, box.end


def _core(outline: Outline, sums: Sums) -> Box:
    """Return the box marked as articleBody if it has much of the prose, else the best by score."""
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
    """Return where the text can start at the earliest: after the last heading that is a title."""
    for index in range(len(blocks) - 1, -1, -1):
        if blocks[index].tag == "h1" or is_title(blocks[index], title):
            return index + 1
    return 0


def _widen_core(
    boxes: Sequence[Box], sums: Sums, core: Box, headline: int
) -> tuple[int, int, bool]:
    """Return the range of blocks that belong to the core, and whether the page is a reference."""
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
    """Whether the text is mostly prose and has at least this much of it, or is empty."""
    enough = around.prose >= PROSE_AROUND * (around.chars + around.link_chars)
    return around.chars == 0 or (enough and around.prose >= least)


def _is_outgrown(own: Amounts, before: Amounts, after: Amounts) -> bool:
    """Whether a range is only a part of a reference.

    A range long enough to be an article is one, and what surrounds it is comments.
    """
    return (
        own.written <= ENOUGH_CHARS
        and before.written + after.written >= OUTGROWN * own.written
        and before.headlines + after.headlines <= MAX_HEADLINES
    )


def _is_teasing(around: Amounts) -> bool:
    return around.teasers > MAX_TEASERS * around.chars
