"""When each host may be contacted next, and what is to be asked of it. No I/O, no clock.

The back half of Mercator's frontier (Heydon and Najork, World Wide Web 1999, §3.2): a queue per
host, and a heap of the earliest times at which hosts may be contacted again. `generate` is its
front half: what is added here has been chosen already.

Times are seconds of any clock that never goes back; the caller passes them in.
Cost: O(log hosts + log entries of the host) for `add` and `next`.
"""

from __future__ import annotations

from heapq import heappop, heappush
from math import inf
from typing import NamedTuple

from gossamer.outcomes import OUTCOMES


class Entry(NamedTuple):
    """A URL to fetch. Entries of a host compare in the order in which they are fetched."""

    order: float
    """The negated score."""
    url: str
    host: str
    row: int
    """The caller's own."""


class _Host:
    __slots__ = ("delay_s", "failures", "name", "queue", "ready_s")

    def __init__(self, name: str, delay_s: float) -> None:
        self.name = name
        self.delay_s = delay_s
        self.failures = 0
        self.ready_s = -inf
        self.queue: list[Entry] = []


class Frontier:
    """Entries, given out politely.

    Invariants
      * A host is *out* from the `next` that gives an entry of it to the `done` or `skip` that
        follows. So it is never asked for two things at once.
      * A host is in the heap, once, if it has entries and is not out.
      * `next(now_s)` gives no entry of a host before its `ready_s`, which is its delay (or what
        it asked for by Retry-After) after its last `done`.
      * Every entry that is added is given by `next` or becomes part of `postponed`, once; and
        once more for each `put_back`.
    """

    def __init__(
        self, *, delay_s: float, max_delay_s: float, max_failures: int, deadline_s: float = inf
    ) -> None:
        self.postponed: list[tuple[Entry, str]] = []
        """What is not going to be fetched in this round, and why; the caller empties it."""
        self._delay_s = delay_s
        self._max_delay_s = max_delay_s
        self._max_failures = max_failures
        self._deadline_s = deadline_s
        self._hosts: dict[str, _Host] = {}
        self._out: dict[str, _Host] = {}
        self._heap: list[tuple[float, str]] = []

    def add(self, url: str, host: str, score: float, row: int) -> None:
        self._push(Entry(-score, url, host, row))

    def next(self, now_s: float) -> Entry | float | None:
        """The next entry; or how many seconds to wait; or None when all is done.

        An infinite wait ends with the next `done` or `skip`.
        """
        if not self._heap:
            return inf if self._out else None
        if now_s >= self._deadline_s:
            for _, name in self._heap:
                self._postpone(self._hosts[name], "the round's time was over")
            self._heap.clear()
            return self.next(now_s)
        ready_s, name = self._heap[0]
        if ready_s > now_s:
            return min(ready_s, self._deadline_s) - now_s
        heappop(self._heap)
        host = self._out[name] = self._hosts[name]
        return heappop(host.queue)

    def put_back(self, entry: Entry) -> None:
        """Give an entry that is out another turn: this one was needed for something else."""
        self._push(entry)

    def skip(self, host: str) -> None:
        """The entry needed no request: the host's next one may follow at once."""
        self._back(self._out.pop(host))

    def done(
        self, host: str, now_s: float, outcome: str, retry_after_s: float | None = None
    ) -> None:
        """The host was contacted, and the exchange ended at `now_s`."""
        state = self._out.pop(host)
        wait_s = state.delay_s
        if OUTCOMES[outcome].affects_host:
            state.failures += 1
            if state.failures >= self._max_failures:
                self._postpone(state, f"{state.failures} failures in a row, the last: {outcome}")
        else:
            state.failures = 0
        if retry_after_s is not None:
            wait_s = max(wait_s, retry_after_s)
            if wait_s > self._max_delay_s:
                self._postpone(state, f"the host asked us to wait {retry_after_s:.0f} s")
        state.ready_s = now_s + wait_s
        self._back(state)

    def slow_down(self, host: str, delay_s: float) -> None:
        """A host that is out asks for this delay. One too long postpones all its entries."""
        state = self._out[host]
        state.delay_s = max(state.delay_s, delay_s)
        if state.delay_s > self._max_delay_s:
            self._postpone(state, f"the host asks for {delay_s:.0f} s between requests")

    def _push(self, entry: Entry) -> None:
        host = self._hosts.get(entry.host)
        if host is None:
            host = self._hosts[entry.host] = _Host(entry.host, self._delay_s)
        heappush(host.queue, entry)
        if len(host.queue) == 1 and host.name not in self._out:
            heappush(self._heap, (host.ready_s, host.name))

    def _back(self, host: _Host) -> None:
        if host.queue:
            heappush(self._heap, (host.ready_s, host.name))

    def _postpone(self, host: _Host, reason: str) -> None:
        self.postponed.extend((entry, reason) for entry in sorted(host.queue))
        host.queue.clear()
