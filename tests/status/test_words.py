from __future__ import annotations

import pytest

from gossamer.status import human_units


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 kB"), (1_550_000, "1.6 MB"), (10**16, "10000.0 TB")],
)
def test_sizes(count: int, text: str) -> None:
    assert human_units.size(count) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"),
        (9.96, "10.0 s"),
        (59.7, "1 min 0 s"),
        (200, "3 min 20 s"),
        (7500, "2 h 5 min"),
        (86_400 * 3 + 7_300, "3 d 2 h"),
        (86_400 * 1_234, "1,234 d"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert human_units.duration(seconds) == text


def test_only_the_whole_is_a_hundred_percent() -> None:
    assert [human_units.percent(share) for share in (0, 0.9999, 1)] == [
        "0.0 %",
        "99.9 %",
        "100.0 %",
    ]


def test_sizes_may_shrink() -> None:
    assert [human_units.size(count) for count in (0, 999, -999, 1_500, -1_500_000)] == [
        *("0 B", "999 B", "-999 B", "1.5 kB", "-1.5 MB")
    ]
