"""Was a crawler polite? Judged from the server's log alone, whoever the crawler is.

A gap is what lies between two requests for the same host, or at the same address, as they reached
the server. What a host asked for (its delay, Retry-After, back-off) is told by the caller.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from gossamer.fakeweb.log import LogEntry

    Owed = Callable[[LogEntry, int], float]
    """Seconds that are owed to a host after a request, which was its n-th that failed in a row."""

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


def by_host(entries: Iterable[LogEntry]) -> dict[str, list[LogEntry]]:
    """In the order in which they came."""
    return _grouped(entries, lambda entry: entry.host)


def by_address(entries: Iterable[LogEntry]) -> dict[str, list[LogEntry]]:
    return _grouped(entries, lambda entry: entry.address)


def gaps(requests: Sequence[LogEntry], owed: Owed) -> list[Gap]:
    """The gaps of one host."""
    found, failures = [], 0
    for before, after in pairwise(requests):
        failures = failures + 1 if before.status in FAILURES else 0
        found.append(Gap(before, after, owed(before, failures)))
    return found


def overlapping_connections(requests: Sequence[LogEntry]) -> int:
    """How often a host was asked on a connection after it had been asked on a later one."""
    return sum(before.connection > after.connection for before, after in pairwise(requests))


def permitted_s(hosts: Iterable[Sequence[LogEntry]], owed: Owed, address_delay_s: float) -> float:
    """The least time in which the requests to an address, for these hosts, may be made."""
    requests = longest = 0.0
    for each in hosts:
        requests += len(each)
        longest = max(longest, sum(gap.owed_s for gap in gaps(each, owed)))
    return max(longest, (requests - 1) * address_delay_s)


def span_s(requests: Sequence[LogEntry]) -> float:
    return requests[-1].monotonic_s - requests[0].monotonic_s


def _grouped(
    entries: Iterable[LogEntry], key: Callable[[LogEntry], str]
) -> dict[str, list[LogEntry]]:
    groups: defaultdict[str, list[LogEntry]] = defaultdict(list)
    for entry in sorted(entries, key=lambda entry: entry.monotonic_s):
        groups[key(entry)].append(entry)
    return dict(groups)
