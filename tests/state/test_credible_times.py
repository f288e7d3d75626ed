from __future__ import annotations

import pytest

from gossamer.config import UpdateConfig
from gossamer.state.credible_times import (
    AHEAD_MS,
    LONGEST_HOST_WAIT_S,
    host_waits,
    is_credible_wait,
    is_past,
    longest_page_wait_s,
)

NOW_MS, DAY_S = 1_800_000_000_000, 86_400
LONGEST_MS = LONGEST_HOST_WAIT_S * 1000


@pytest.mark.parametrize(
    ("event_ms", "believed"),
    [(0, True), (NOW_MS, True), (NOW_MS + AHEAD_MS - 1, True), (NOW_MS + AHEAD_MS, False)],
)
def test_an_event_has_happened(event_ms: int, believed: bool) -> None:
    assert is_past(event_ms, NOW_MS) is believed


@pytest.mark.parametrize(
    ("until_ms", "since_ms", "believed"),
    [
        (NOW_MS + 5_000, NOW_MS, True),
        (NOW_MS + 5_001, NOW_MS, False),
        (0, 0, True),
        (NOW_MS, NOW_MS + AHEAD_MS, False),
    ],
)
def test_a_wait_is_one_that_something_can_ask_for(
    until_ms: int, since_ms: int, believed: bool
) -> None:
    assert is_credible_wait(until_ms, since_ms, NOW_MS, 5.0) is believed


@pytest.mark.parametrize(
    ("ready_ms", "contacted_ms", "waits"),
    [
        (NOW_MS, 0, False),
        (NOW_MS + 1, 0, True),
        (NOW_MS + LONGEST_MS, NOW_MS, True),
        (NOW_MS + LONGEST_MS + 1, NOW_MS, False),
        (NOW_MS + 1, NOW_MS + AHEAD_MS, False),
    ],
)
def test_a_host_waits_until_it_is_ready(ready_ms: int, contacted_ms: int, waits: bool) -> None:
    assert host_waits(ready_ms, contacted_ms, NOW_MS) is waits


def test_a_host_may_be_asked_by_a_later_time() -> None:
    assert not host_waits(NOW_MS + 60, NOW_MS, NOW_MS, by_ms=NOW_MS + 60)
    assert host_waits(NOW_MS + 61, NOW_MS, NOW_MS, by_ms=NOW_MS + 60)


def test_a_page_waits_no_longer_than_the_settings_or_its_host_ask_for() -> None:
    assert longest_page_wait_s(UpdateConfig()) == 480 * DAY_S
    assert longest_page_wait_s(UpdateConfig(interval_days=1, interval_factor=2)) == 30 * DAY_S
