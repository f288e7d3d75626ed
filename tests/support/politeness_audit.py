"""Determine whether a crawler was polite, from the server's log only, so for any crawler.

A gap is the time between two successive requests for the same host, or to the same address, as
they reached the server. The caller supplies the gap that each host requires (crawl delay,
Retry-After, back-off).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from gossamer.fakeweb.request_log import group_entries

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gossamer.fakeweb.request_log import LogEntry

    Owed = Callable[[LogEntry, int], float]
    """Returns the seconds that a crawler must wait after a request to a host; the number counts
    the host's failed requests in a row, including this one."""

FAILURES = frozenset((429, 503))


@dataclass(frozen=True)
class Gap:
    before: LogEntry
    after: LogEntry
    owed_s: float

    @property
    def seconds(self) -> float:
        return self.after.monotonic_s - self.before.monotonic_s

    @property
    def early(self) -> bool:
        return self.seconds < self.owed_s


def group_by_address(entries: Iterable[LogEntry]) -> dict[str, list[LogEntry]]:
    return group_entries(entries, lambda entry: entry.address)


def gaps(requests: Sequence[LogEntry], owed: Owed) -> list[Gap]:
    """Return the gaps between the requests to one host."""
    found, failures = [], 0
    for before, after in pairwise(requests):
        failures = failures + 1 if before.status in FAILURES else 0
        found.append(Gap(before, after, owed(before, failures)))
    return found


def overlapping_connections(requests: Sequence[LogEntry]) -> int:
    """Count requests that came on an older connection than the request before them."""
    return sum(before.connection > after.connection for before, after in pairwise(requests))


def permitted_s(hosts: Iterable[Sequence[LogEntry]], owed: Owed, address_delay_s: float) -> float:
    """Return the shortest polite time for the requests to one address, which serves these hosts."""
    requests = longest = 0.0
    for each in hosts:
        requests += len(each)
        longest = max(longest, sum(gap.owed_s for gap in gaps(each, owed)))
    return max(longest, (requests - 1) * address_delay_s)


def span_s(requests: Sequence[LogEntry]) -> float:
    return requests[-1].monotonic_s - requests[0].monotonic_s
