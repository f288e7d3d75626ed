"""Which stored times are believed? While the clock of a machine was wrong, steps stored its times.

    an event     when a page was requested, a host contacted, or a step ended; it has happened, so
                 a time AHEAD_MS or more after the present one is that of a wrong clock
    a wait       until a page or host may be asked again; no longer than anything can ask for, and
                 it follows from an event

A time that is not believed counts as 0: the page is due and the host may be asked, and what is
stored then has the right times. A smaller difference does no harm that lasts: clocks are stepped by
hours, as by a wrong time zone, and a wait is then longer by as much.

All functions take and return columns or single numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gossamer.config import UpdateConfig

DAY_S = 86_400
AHEAD_MS = DAY_S * 1000
LONGEST_HOST_WAIT_S = 30 * DAY_S
"""A longer Retry-After is reduced to this. Back-offs, and delays of the settings and of robots.txt,
are a day at most."""


def longest_page_wait_s(config: UpdateConfig) -> float:
    """The longest time after which a page is due again: its interval, or what its host asks for."""
    return max(config.interval_days * DAY_S * config.interval_factor, LONGEST_HOST_WAIT_S)


def is_past(event_ms: Any, now_ms: int) -> Any:
    """Whether the time of an event is believed."""
    return event_ms < now_ms + AHEAD_MS


def is_credible_wait(until_ms: Any, since_ms: Any, now_ms: int, longest_s: float) -> Any:
    """Whether a wait is believed that began with an event at `since_ms`."""
    return (until_ms <= now_ms + int(longest_s * 1000)) & is_past(since_ms, now_ms)


def host_waits(ready_ms: Any, contacted_ms: Any, now_ms: int, by_ms: int | None = None) -> Any:
    """Whether a host must not be asked at `by_ms`, by default now. Arguments as in `hosts`."""
    is_credible = is_credible_wait(ready_ms, contacted_ms, now_ms, LONGEST_HOST_WAIT_S)
    return (ready_ms > (now_ms if by_ms is None else by_ms)) & is_credible
