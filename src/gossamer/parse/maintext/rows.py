"""Rows of elements of like shape: the comments, teasers or pictures of a list.

The *shape* of an element is its tag, and the tags between it and the first of the blocks that are
looked for in it, such as a date or a headline. Names are not needed for that. The parts of a page
may have such blocks, too, but hardly in the same shape.

Bounds: each box is visited for the first of its blocks only, so time is linear in the page.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gossamer.parse.maintext.blocks import Outline

MAX_DEPTH: Final = 12
"""Levels between an element and its block."""

Range = tuple[int, int]
"""Numbers of blocks: the first, and the one after the last."""


class Item(NamedTuple):
    """An element of a row: the numbers of its box, and of the first block looked for in it."""

    box: int
    block: int


def rows(outline: Outline, wanted: Sequence[int], least: int) -> Iterator[list[Item]]:
    """Yield rows of at least `least` boxes of one parent that have the same shape.

    `wanted`: the numbers of the blocks that are looked for.
    """
    boxes = outline.boxes
    found: dict[tuple[int, str], list[tuple[int, int]]] = {}
    visited: set[int] = set()
    for index in wanted:
        number = outline.blocks[index].box
        path = ""
        depth = 0
        while number and number not in visited and depth < MAX_DEPTH:
            visited.add(number)
            box = boxes[number]
            path += box.tag + " "  # no tag has a space
            depth += 1
            found.setdefault((box.parent, path), []).append((number, index))
            number = box.parent
    for items in found.values():
        if len(items) >= least:
            yield [Item(number, index) for number, index in items]
