"""When the process of a crawl without end is replaced."""

from __future__ import annotations

import pytest

from gossamer.cli.forever_process import has_grown

MB = 10**6


@pytest.mark.parametrize(
    ("first_mb", "now_mb", "is_replaced"),
    [
        (476, 590, False),
        (476, 600, True),  # by a quarter
        (6_000, 6_990, False),
        (6_000, 7_010, True),  # by an eighth of 8 GB
        (6_000, 5_000, False),
    ],
)
def test_a_process_is_replaced_that_has_grown_by_a_quarter_or_by_a_part_of_the_setting(
    first_mb: int, now_mb: int, is_replaced: bool
) -> None:
    assert has_grown(first_mb * MB, now_mb * MB, memory_gb=8.0) == is_replaced
