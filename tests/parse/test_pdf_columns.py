"""The boxes of the lines of a page, from those of its words."""

from __future__ import annotations

import pytest

from gossamer.parse.documents.pdf_columns import (
    MIN_GAP,
    MIN_ROWS,
    _Box,
    _joined,
    _may_have_columns,
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
