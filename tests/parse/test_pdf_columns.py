"""The boxes of the lines of a page, from those of its words."""

from __future__ import annotations

import pytest

from gossamer.parse.documents.pdf_columns import (
    MIN_GAP,
    MIN_ROWS,
    _Box,
    _joined,
    _may_have_columns,
    _region,
)

HEIGHT = 10


def box(left: float, right: float, bottom: float) -> _Box:
    return _Box(left, bottom, right, bottom + HEIGHT)


def test_words_beside_each_other_are_one_line_up_to_a_gap() -> None:
    first, second = box(0, 10, 100), box(0, 10, 80)
    near, far = MIN_GAP * HEIGHT, MIN_GAP * HEIGHT + 1
    assert _joined([]) == []
    assert _joined([first, second, box(10 + near, 30, 81)]) == [
        first,
        _Box(0, 80, 30, 81 + HEIGHT),
    ]
    apart = box(10 + far, 30, 80)
    assert _joined([first, second, apart]) == [first, second, apart]


def test_words_of_another_line_or_column_are_not_joined() -> None:
    line = box(50, 60, 80)
    for other in (box(50, 70, 80 + HEIGHT / 2), box(61, 70, 60), box(40, 45, 80)):
        assert _joined([line, other]) == [line, other]


def test_a_line_is_as_wide_and_high_as_its_words() -> None:
    small = _Box(5, 82, 8, 88)
    assert _joined([box(0, 10, 80), small, box(11, 20, 79)]) == [_Box(0, 79, 20, 90)]


@pytest.mark.parametrize(("rows", "found"), [(MIN_ROWS - 1, False), (MIN_ROWS, True)])
def test_a_page_may_have_columns_if_enough_lines_have_gaps(rows: int, found: bool) -> None:
    def lines(gap: float, moved: float = 0) -> list[_Box]:
        pairs = [(box(0, 50, 20 * n), box(50 + gap, 90, 20 * n + moved)) for n in range(rows)]
        return [each for pair in pairs for each in pair]

    assert _may_have_columns(lines(MIN_GAP * HEIGHT + 1)) == found
    assert not _may_have_columns(lines(MIN_GAP * HEIGHT))
    assert not _may_have_columns(lines(MIN_GAP * HEIGHT + 1, HEIGHT / 2))


def rows_of_two(heights: list[tuple[float, float]]) -> list[_Box]:
    """Rows of two wide boxes with a gap, from the top; by how much each is higher than others."""
    found = []
    for number, (left, right) in enumerate(heights):
        bottom = 200.0 - 20 * number
        found.append(_Box(0, bottom, 200, bottom + HEIGHT + left))
        found.append(_Box(300, bottom, 500, bottom + HEIGHT + right))
    return found


@pytest.mark.parametrize("tall", [(0, 0), (4, 0), (0, 4)])
def test_columns_reach_from_the_lowest_to_the_highest_box(tall: tuple[float, float]) -> None:
    """Up and down to what crosses the gap, or to the ends of the page."""
    rows = rows_of_two([tall, *[(0, 0)] * (MIN_ROWS - 1)])
    bottom = 200 - 20 * (MIN_ROWS - 1)
    region = _region(rows)
    assert region is not None
    assert region.gutters == [250]
    assert region.top > 210 + max(tall)
    assert region.bottom < bottom
    title, foot = _Box(0, 230, 500, 240), _Box(0, 20, 500, 30)
    region = _region([title, *rows, foot])
    assert region is not None
    assert region.top == (230 + 210 + max(tall)) / 2
    assert region.bottom == (30 + bottom) / 2


@pytest.mark.parametrize("side", [(4.0, 0.0), (0.0, 4.0)])
def test_text_across_the_gap_beside_the_highest_or_lowest_box(side: tuple[float, float]) -> None:
    """The highest box ends at 214, the lowest one begins at 86."""
    rows = rows_of_two([side, *[(0, 0)] * MIN_ROWS])
    number = -2 + side.index(4)
    rows[number] = rows[number]._replace(bottom=86)
    for bottom, found in ((214, True), (213, False), (210, False)):
        assert (_region([_Box(0, bottom, 500, 230), *rows]) is not None) == found
    for top, found in ((86, True), (87, False), (120, False)):
        assert (_region([*rows, _Box(0, 70, 500, top)]) is not None) == found


def test_text_across_the_gap_ends_what_may_be_columns() -> None:
    rows = rows_of_two([(0, 0)] * (MIN_ROWS + 1))
    assert _region(rows[2:]) is not None
    assert _region(rows[4:]) is None
    across = _Box(0, rows[2].bottom + 12, 500, rows[2].bottom + 17)
    assert _region([*rows[:2], across, *rows[2:]]) is None


def test_narrow_columns_are_a_table() -> None:
    rows = rows_of_two([(0, 0)] * MIN_ROWS)
    assert _region([box._replace(right=box.left + 120) for box in rows]) is not None
    assert _region([box._replace(right=box.left + 119) for box in rows]) is None
