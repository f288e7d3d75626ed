"""How long a host is left alone, by the settings."""

from __future__ import annotations

import pytest
from msgspec import structs

from gossamer.config import FetchConfig
from gossamer.fetch.politeness import MAX_BACKOFF_S, Politeness
from gossamer.tables.outcomes import OUTCOMES

CONFIG = structs.replace(
    FetchConfig(),
    delay_s=3.0,
    delay_factor=2.0,
    max_delay_s=90.0,
    max_failures_per_host=5,
    address_delay_s=0.5,
    connections_per_address=4,
    own_connections=6,
)


def test_settings_are_those_of_strangers_or_of_own_hosts() -> None:
    assert Politeness.from_config(CONFIG) == Politeness(3.0, 2.0, 90.0, 5, 0.5, 4, 1)
    own = Politeness(0, 0.0, 90.0, 5, 0.0, 1 << 30, 6)
    assert Politeness.for_own_hosts(CONFIG) == own


@pytest.mark.parametrize(("delay_s", "patience_s"), [(3.0, 90.0), (90.0, 90.0), (120.0, 120.0)])
def test_the_longest_wait_is_at_least_the_delay(delay_s: float, patience_s: float) -> None:
    config = structs.replace(CONFIG, delay_s=delay_s)
    assert Politeness.from_config(config).patience_s == patience_s


@pytest.mark.parametrize(
    ("elapsed_s", "failures", "retry_after_s", "wait_s"),
    [
        (0.0, 0, None, 3.0),
        (1.5, 0, None, 3.0),
        (2.0, 0, None, 4.0),
        (45.0, 0, None, 90.0),
        (60.0, 0, None, 90.0),
        (0.0, 1, None, OUTCOMES["busy"].host_wait_s),
        (0.0, 3, None, 4 * OUTCOMES["busy"].host_wait_s),
        (0.0, 1, 7.0, 7.0),
        (0.0, 1, 1.0, 3.0),
        (0.0, 4, 7.0, 7.0),
        (0.0, 5, 7.0, 16 * OUTCOMES["busy"].host_wait_s),
        (0.0, 0, 200.0, 200.0),
        (0.0, 99, None, MAX_BACKOFF_S),
    ],
)
def test_the_wait_after_an_exchange(
    elapsed_s: float, failures: int, retry_after_s: float | None, wait_s: float
) -> None:
    rules = Politeness.from_config(CONFIG)
    assert rules.wait_s("busy", 3.0, failures, elapsed_s, retry_after_s) == wait_s
