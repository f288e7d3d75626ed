"""The layout of a treemap: rectangles whose areas are proportional, and nearly squares.

Bruls, Huizing and van Wijk, "Squarified Treemaps", Proceedings of the Joint Eurographics and IEEE
TCVG Symposium on Visualization 2000. Rectangles are put in a row along the shorter side of what is
left, as long as that makes the worst of them more like a square; then the next row begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Box(NamedTuple):
    x: float
    y: float
    width: float
    height: float


def squarify(sizes: Sequence[int], within: Box) -> list[Box]:
    """Divide a box by sizes, all above 0; the largest first makes the best shapes.

    Returns a box for each size, in their order. Time: O(len(sizes)).
    """
    boxes: list[Box] = []
    left, size_left = within, sum(sizes)
    while len(boxes) < len(sizes):
        row = _row(sizes, len(boxes), left, size_left)
        placed, left = _place_row(row, left, size_left)
        boxes += placed
        size_left -= sum(row)
    return boxes


def _row(sizes: Sequence[int], first: int, left: Box, size_left: int) -> Sequence[int]:
    """The sizes of the next row. The box that is left has an area of `size_left`."""
    scale = left.width * left.height / size_left
    side = min(left.width, left.height)
    total, least, most, worst = 0, sizes[first], sizes[first], float("inf")
    for end in range(first, len(sizes)):
        size = sizes[end]
        total, least, most = total + size, min(least, size), max(most, size)
        depth = total * scale / side
        # The sides of a rectangle of the row are `depth` and `size * scale / depth`.
        ratio = max(depth * depth / (least * scale), most * scale / (depth * depth))
        if ratio > worst:
            return sizes[first:end]
        worst = ratio
    return sizes[first:]


def _place_row(row: Sequence[int], left: Box, size_left: int) -> tuple[list[Box], Box]:
    """The boxes of a row, along the shorter side of what is left, and what is left then."""
    x, y, width, height = left
    total = sum(row)
    # Not by subtraction: of a small rest, that would leave hardly any digits.
    share, rest = total / size_left, (size_left - total) / size_left
    boxes = []
    if width >= height:
        for size in row:
            boxes.append(Box(x, y, width * share, height * size / total))
            y += boxes[-1].height
        return boxes, Box(x + width * share, left.y, width * rest, height)
    for size in row:
        boxes.append(Box(x, y, width * size / total, height * share))
        x += boxes[-1].width
    return boxes, Box(left.x, y + height * share, width, height * rest)
