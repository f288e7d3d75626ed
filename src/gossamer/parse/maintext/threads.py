"""Where the comments on an article are: by their structure, or by their name.

A *thread* is a row of elements of like shape that each say when they were written: list items,
`div`s, `article`s, terms of a definition list. That holds in every language, whatever their names:

- A *stamp* is a short text with a date, a time of day, or a time that has passed ("3 hours ago").
- The *shape* of an element is its tag, and the tags between it and its first stamp. The parts of a
  page have stamps too, but hardly four of the same shape in a row.

A thread holds comments if an article is above it, that is, prose between the last h1 before the
thread (or the beginning of the page) and its first element. Without one, the page is a discussion,
and the posts are its text. A thread whose elements have headings of their own, other than links, is
a text in dated sections, such as a history of changes.

Bounds: each box is visited for its first stamp only, and sums are differences of prefix sums, so
time is linear in the page.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence  # noqa: TC003  # mypyc reads the annotations
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from gossamer.native import native_text
from gossamer.parse.maintext.blocks import HEADINGS
from gossamer.parse.maintext.marks import BODY
from gossamer.parse.maintext.names import COMMENTARY
from gossamer.parse.maintext.rows import rows
from gossamer.parse.maintext.sums import prefix_sums

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.parse.maintext.blocks import Block, Box, Outline
    from gossamer.parse.maintext.rows import Item, Range

MAX_STAMP_CHARS: Final = 100
MIN_POSTS: Final = 4
MIN_PASSED: Final = 8
"""Fewest posts if their stamps are times that have passed, as any number with a word may be one."""
MIN_ARTICLE_CHARS: Final = 150
"""Prose in the shortest article above comments."""
MIN_PROSE: Final = 0.3
"""Smallest share of prose in a thread; references have dates, too, but are links and names."""
MIN_WITHIN: Final = 0.5
"""Smallest share of the prose from the first post to the last that the posts hold: captions have
dates, too, but stand among the paragraphs."""
MAX_SECTIONS: Final = 0.5
"""Share of the posts with headings from which on they are sections of a text."""

_SECTION_HEADINGS: Final = frozenset(("h1", "h2", "h3"))
_ROWS: Final = frozenset(("tbody", "td", "th", "tr"))
"""Rows of a table are data, whether they have dates or not."""
_DIGIT: Final = re.compile(r"\d")
_DATE: Final = re.compile(
    r"\d(?:"  # regular expressions are searched fast if all matches begin alike
    r"\d?[:h]\d{2}(?!\d)"  # a time of day
    r"|\d{0,3}[./-]\d{1,2}[./-]\d{1,4}"
    r"|(?:(?<=1)9|(?<=2)0)\d\d(?!\d)(?:(?<!\d{5})(?!\Z)|(?<=\D\d{4})\Z))"  # not a year alone
)
_PASSED: Final = re.compile(r"\D*+(\d{1,3}+)\D++")
"""A number with words, as in "3 hours ago"."""


class Threads(NamedTuple):
    """Ranges of comments on an article, and where the posts of a discussion end (0: it is none)."""

    comments: Sequence[Range]
    posts_end: int


def threads(outline: Outline, prose: Sequence[int]) -> Threads:
    """Find the threads of a page, and tell comments from posts."""
    found: list[Range] = []
    total = sum(prose)
    posts_end = covered = above = 0
    for start, end in sorted({*_named(outline), *_rows_of_posts(outline, prose)}, key=_outer_first):
        if start < covered:
            continue
        for index in range(covered, start):
            above = 0 if outline.blocks[index].tag == "h1" else above + prose[index]
        if above >= MIN_ARTICLE_CHARS:
            found.append((start, end))
        elif 2 * sum(prose[start:end]) > total:
            posts_end = end
        covered = end
    return Threads(found, posts_end)


def _outer_first(blocks: Range) -> Range:
    return blocks[0], -blocks[1]


def _named(outline: Outline) -> Iterator[Range]:
    for box in [box for box in outline.boxes if box.marks & COMMENTARY]:
        if box.start < box.end:
            yield box.start, box.end


def _rows_of_posts(outline: Outline, prose: Sequence[int]) -> Iterator[Range]:
    blocks = outline.blocks
    found = find_stamps([block.text for block in blocks])
    stamps = [index for index in found if blocks[index].tag not in HEADINGS]
    if len(stamps) < MIN_POSTS:
        return
    sums = None
    for posts in rows(outline, stamps, MIN_POSTS):
        if _have_texts(outline.boxes, posts):
            sums = sums or _Sums.of(blocks, prose)
            if _are_posts(outline, posts, sums):
                yield _whole(outline, posts, stamps)


def is_dated(block: Block) -> bool:
    """Whether a block is a short text with a date or a time of day."""
    if len(block.text) > MAX_STAMP_CHARS or (digit := _DIGIT.search(block.text)) is None:
        return False
    return _DATE.search(block.text, digit.start()) is not None


@native_text
def find_stamps(texts: list[str]) -> list[int]:
    """Return the numbers of the texts that are stamps."""
    return [
        index
        for index, text in enumerate(texts)
        if len(text) <= MAX_STAMP_CHARS
        and (digit := _DIGIT.search(text)) is not None
        and (_DATE.search(text, digit.start()) or _PASSED.fullmatch(text))
    ]


class _Sums(NamedTuple):
    """Prefix sums over the blocks: characters, prose, and headings that lead nowhere."""

    chars: Sequence[int]
    prose: Sequence[int]
    headings: Sequence[int]

    @classmethod
    def of(cls, blocks: Sequence[Block], prose: Sequence[int]) -> _Sums:
        return cls(
            prefix_sums([block.chars for block in blocks]),
            prefix_sums(prose),
            prefix_sums([block.tag in _SECTION_HEADINGS and not block.links for block in blocks]),
        )


def _have_texts(boxes: Sequence[Box], posts: Sequence[Item]) -> bool:
    """Whether the elements of a row may have a text besides their stamps, and are no data."""
    tag = boxes[posts[0].box].tag
    if tag in _ROWS:
        return False
    return tag == "dt" or any(boxes[post.box].end - boxes[post.box].start > 1 for post in posts)


def _are_posts(outline: Outline, posts: Sequence[Item], sums: _Sums) -> bool:
    """Whether a row is a thread: its elements have prose, and are no steps, sections or parts."""
    boxes = [outline.boxes[post.box] for post in posts]
    start, end = boxes[0].start, boxes[-1].end
    prose = sums.prose[end] - sums.prose[start]
    if not prose or prose < MIN_PROSE * (sums.chars[end] - sums.chars[start]):
        return False
    if all(box.end - box.start == 1 for box in boxes):
        return True
    within = sum([sums.prose[box.end] - sums.prose[box.start] for box in boxes])
    sections = sum([sums.headings[box.end] > sums.headings[box.start] for box in boxes])
    return (
        within >= MIN_WITHIN * prose
        and sections <= MAX_SECTIONS * len(posts)
        and not _are_steps([outline.blocks[post.block].text for post in posts])
        and not _is_in_body(outline.boxes, posts[0].box)
    )


def _are_steps(stamps: Sequence[str]) -> bool:
    """Whether the stamps are mostly numbers with words that count the parts of a text."""
    passed = [match[1] for stamp in stamps if (match := _PASSED.fullmatch(stamp))]
    steps = {int(after) - int(before) for before, after in pairwise(passed)}
    return 2 * len(passed) > len(stamps) and (len(stamps) < MIN_PASSED or len(steps) == 1)


def _is_in_body(boxes: Sequence[Box], number: int) -> bool:
    while number:
        if boxes[number].marks & BODY:
            return True
        number = boxes[number].parent
    return False


def _whole(outline: Outline, posts: Sequence[Item], stamps: Sequence[int]) -> Range:
    """Return the range of a thread, including the answers to the last post that follow it."""
    boxes = outline.boxes
    start, end = boxes[posts[0].box].start, boxes[posts[-1].box].end
    parent = boxes[posts[0].box].parent
    if boxes[posts[0].box].tag == "dt":
        return start, boxes[parent].end
    following = bisect_left(stamps, end)
    if following < len(stamps):
        number = outline.blocks[stamps[following]].box
        while number and boxes[number].parent != parent:
            number = boxes[number].parent
        if number and boxes[number].tag == boxes[posts[0].box].tag:
            end = boxes[number].end
    return start, end
