"""How long to wait before a host is contacted again: pure functions of the last exchange."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING

from gossamer.tables.outcomes import OUTCOMES

if TYPE_CHECKING:
    from typing import Self

    from gossamer.config import FetchConfig

MAX_BACKOFF_S = 86_400
MAX_DOUBLINGS = 16


@dataclass(frozen=True)
class Politeness:
    """Delays and limits for hosts and addresses; FetchConfig's help texts explain the fields."""

    delay_s: float = 1.0
    delay_factor: float = 0.0
    max_delay_s: float = inf
    max_failures: int = 8
    address_delay_s: float = 0.0
    connections_per_address: int = 1 << 30
    connections: int = 1
    """Connections open to one host."""

    @classmethod
    def from_config(cls, config: FetchConfig) -> Self:
        return cls(
            config.delay_s,
            config.delay_factor,
            config.max_delay_s,
            config.max_failures_per_host,
            config.address_delay_s,
            config.connections_per_address,
        )

    @classmethod
    def for_own_hosts(cls, config: FetchConfig) -> Self:
        """The rules for hosts of `fetch.own_hosts`: wait only while they fail or are busy."""
        return cls(
            delay_s=0,
            max_delay_s=config.max_delay_s,
            max_failures=config.max_failures_per_host,
            connections=config.own_connections,
        )

    @cached_property
    def patience_s(self) -> float:
        """The longest wait; a host that must wait longer gives its rows back."""
        return max(self.max_delay_s, self.delay_s)

    def wait_s(
        self,
        outcome: str,
        delay_s: float,
        failures: int,
        elapsed_s: float = 0.0,
        retry_after_s: float | None = None,
    ) -> float:
        """Seconds to wait after an exchange of `elapsed_s` with a host whose delay is `delay_s`.

        `failures` counts failures in a row, including this one. Retry-After replaces our back-off
        until there are `max_failures` in a row.
        """
        wait_s = delay_s
        if self.delay_factor * elapsed_s > wait_s:
            wait_s = max(wait_s, min(self.delay_factor * elapsed_s, self.patience_s))
        if failures and (retry_after_s is None or failures >= self.max_failures):
            backoff_s = OUTCOMES[outcome].host_wait_s * 2.0 ** min(failures - 1, MAX_DOUBLINGS)
            wait_s = max(wait_s, min(backoff_s, MAX_BACKOFF_S))
        return wait_s if retry_after_s is None else max(wait_s, retry_after_s)
