"""Treemaps: areas are proportional, nothing overlaps or sticks out, shapes are nearly squares."""

from __future__ import annotations

import math
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.serve.drawing.treemap import Box, squarify

PAPER = (6, 6, 4, 3, 2, 2, 1)
"""The example of the paper, in a rectangle of 6 × 4."""
SIZES = st.lists(st.integers(1, 10**9), max_size=40)
LENGTHS = st.integers(1, 5_000)


def test_the_example_of_the_paper() -> None:
    boxes = squarify(PAPER, Box(0, 0, 6, 4))
    sides = [(box.width, box.height) for box in boxes]
    expected = [
        *((3, 2), (3, 2)),
        *((12 / 7, 7 / 3), (9 / 7, 7 / 3)),
        *((6 / 5, 5 / 3), (6 / 5, 5 / 3), (3 / 5, 5 / 3)),
    ]
    assert [pytest.approx(each) for each in sides] == expected
    assert boxes[0][:2] == (0, 0)
    assert boxes[1][:2] == (0, 2)
    assert boxes[2][:2] == (3, 0)


@given(SIZES, LENGTHS, LENGTHS)
def test_areas_are_proportional_and_fill_the_box(sizes: list[int], width: int, height: int) -> None:
    boxes = squarify(sizes, Box(7, 11, width, height))
    assert len(boxes) == len(sizes)
    for size, box in zip(sizes, boxes, strict=True):
        share = size / sum(sizes)
        assert math.isclose(box.width * box.height, share * width * height, rel_tol=1e-9)


@given(SIZES, LENGTHS, LENGTHS)
def test_boxes_lie_within_and_beside_each_other(sizes: list[int], width: int, height: int) -> None:
    boxes = squarify(sizes, Box(7, 11, width, height))
    slack = 1e-9 * max(width, height)
    for box in boxes:
        assert box.width > 0
        assert box.height > 0
        assert 7 - slack <= box.x <= box.x + box.width <= 7 + width + slack
        assert 11 - slack <= box.y <= box.y + box.height <= 11 + height + slack
    for one, other in combinations(boxes, 2):
        wide = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
        high = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
        assert min(wide, high) <= slack


def test_equal_sizes_become_nearly_squares() -> None:
    for count in range(1, 200):
        boxes = squarify([5] * count, Box(0, 0, 960, 520))
        assert max(max(box[2] / box[3], box[3] / box[2]) for box in boxes) < 3


def test_a_hundred_thousand_sizes_are_laid_out() -> None:
    boxes = squarify(range(100_000, 0, -1), Box(0, 0, 960, 520))
    assert len(boxes) == 100_000
