from __future__ import annotations

import pytest

from gossamer.schedule.order.score_cutoff import BucketCount, doubling_floors


@pytest.mark.parametrize(
    ("counts", "pages", "floors"),
    [
        ([(9, 3), (8, 1), (7, 4), (6, 8), (5, 9)], 2, [8, 7, 6]),
        ([(9, 4), (8, 3), (7, 1), (6, 90)], 2, [9, 7]),
        ([(9, 5), (8, 4), (7, 1), (6, 90)], 2, [9, 7]),
        ([(9, 3), (8, 90)], 2, []),
        ([(9, 90)], 2, []),
        ([], 2, []),
    ],
)
def test_above_each_floor_are_twice_as_many_pages(
    counts: list[tuple[int, int]], pages: int, floors: list[int]
) -> None:
    """All pages are above the last bucket, so it is not tried."""
    assert list(doubling_floors([BucketCount(*each) for each in counts], pages)) == floors
