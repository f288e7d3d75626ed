"""When each host may be contacted next, and for which page. No I/O, no clock.

This is Mercator's frontier (Heydon and Najork, World Wide Web 1999, §3.2; Manning, Raghavan and
Schütze, Introduction to Information Retrieval, §20.2.3). Front queues hold all waiting pages by
priority. Back queues, one per active host, hold the host's next pages and are refilled from the
front queues as they empty. A heap orders the hosts by the time at which they may be contacted. As
in BUbiNG (Boldi et al., WWW 2014, §4.2), IP addresses are in the heap, too, since many hosts may
share one.

The states of a host:

    IDLE     its back queue is empty; the front queues may hold more of its pages
    HELD     it has pages to request, but its address is unknown or its robots.txt is being
             fetched: it waits for `release`
    WAITING  it is in the heap, until the time at which it may be contacted
    DUE      it is in the queue of its address, which serves its hosts in order
    OUT      requests are open: as many as are allowed, or one for each row of its back queue

A host has one connection, except the user's own hosts (see `seed_host`), which may have several:
they are WAITING while requests are open and another one is allowed.

Times are seconds of any monotonic clock; the caller passes them in. Rows are numbers that only the
caller interprets.
Cost: O(log hosts) for `next` and `finish`, O(1) for `add`.
"""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush
from itertools import count
from math import frexp, inf, sqrt
from typing import TYPE_CHECKING, NamedTuple

from gossamer.fetch.back_queue import Address, Host, Reason, State
from gossamer.tables.outcomes import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.fetch.politeness import Politeness

FRONT_QUEUES = 64
"""Each holds half an octave of scores; half of them are for scores above 1, half below."""
HALF_OCTAVE = sqrt(0.5)
BACK_QUEUES = 20_000
"""Active hosts. With a delay of 10 s they permit 2,000 pages per second, all a task can fetch."""


class Turn(NamedTuple):
    """A row to request from a host now."""

    host: str
    row: int


# Module-level names, because access to an Enum's member costs 0.1 µs in Python 3.11.
_IDLE, _HELD, _WAITING, _DUE, _OUT = State


class Frontier:
    """Hands out rows politely.

    Invariants
      * A row of a host is open from the `next` that returns it to the `finish` or `skip` that
        follows. At most `owed.connections` of a host are open: one, except for own hosts.
      * A host is in the heap at most once, and always while it is WAITING.
      * `next(now_s)` returns no row of a host before the host's `ready_s`, nor before its
        address's. At most `connections_per_address` requests to an address are open.
      * At most `back_queues` hosts are not IDLE, apart from those that were put back.
      * Every added row is returned by `next` or listed in `given_back` once, and once more for
        each `put_back`.
    """

    def __init__(self, politeness: Politeness, *, back_queues: int = BACK_QUEUES) -> None:
        self.given_back: list[tuple[int, Reason]] = []
        """Rows that will not be handed out, and the reason; the caller empties the list."""
        self.awaiting_address: list[str] = []
        """Hosts that are HELD until the caller looks up their address; the caller empties it."""
        self._owed = politeness
        self._back_queues = back_queues
        self._hosts: dict[str, Host] = {}
        self._addresses: dict[str, Address] = {}
        self._front: list[deque[tuple[Host, int]]] = [deque() for _ in range(FRONT_QUEUES)]
        self._in_front = 0
        self._top = 0
        """All front queues before this one are empty."""
        self._active = 0
        self._open = 0
        self._held = 0
        self._heap: list[tuple[float, int, Host | Address]] = []
        self._order = count()
        self._stopped: Reason | None = None

    def seed_host(
        self,
        host: str,
        *,
        ready_s: float = -inf,
        failures: int = 0,
        delay_s: float | None = None,
        owed: Politeness | None = None,
    ) -> None:
        """Apply what earlier rounds or the settings say about a host."""
        known = self._host(host)
        if owed is not None:
            known.owed, known.delay_s = owed, owed.delay_s
        known.ready_s = max(known.ready_s, ready_s)
        known.failures += failures
        if delay_s is not None:
            known.delay_s = delay_s

    def add(self, host: str, row: int, score: float) -> None:
        """Queue a row. The score may be infinite, which is served first."""
        level = _level(score)
        self._front[level].append((self._host(host), row))
        self._in_front += 1
        self._top = min(self._top, level)

    def next(self, now_s: float) -> Turn | float | None:
        """Return the next turn, or the seconds to wait, or None when all rows are done.

        An infinite wait ends with the next `finish`, `skip` or `release`.
        """
        self._refill()
        heap = self._heap
        while heap:
            ready_s, _, item = heap[0]
            if ready_s > now_s:
                return ready_s - now_s
            heappop(heap)
            if isinstance(item, Address):
                host = self._take_due(item, now_s)
                if host is None:
                    continue
            elif not self._is_ready(item, now_s):
                continue
            elif item.address is not None:
                item.state = _DUE
                item.address.due.append(item)
                self._queue(item.address)
                continue
            else:
                host = item
            host.state = _OUT
            host.open += 1
            self._open += 1
            assert host.queue  # noqa: S101  # the invariant of WAITING and DUE
            turn = Turn(host.name, host.queue.popleft())
            if host.queue and host.open < host.owed.connections:
                self._wait(host)
            return turn
        return inf if self._open or self._held else None

    def put_back(self, turn: Turn) -> None:
        """Return an open row to its host's queue: this turn was needed for something else."""
        host = self._hosts[turn.host]
        if host.closed is not None:
            self.given_back.append((turn.row, host.closed))
        else:
            assert host.queue is not None  # noqa: S101
            host.queue.appendleft(turn.row)

    def skip(self, host: str) -> None:
        """End the turn that `next` returned last without a request; another may follow at once."""
        state = self._end_request(host)
        if state.address is not None:
            state.address.ready_s = state.address.before_s
        self._settle(state)

    def finish(
        self,
        host: str,
        now_s: float,
        outcome: str,
        elapsed_s: float = 0.0,
        retry_after_s: float | None = None,
    ) -> None:
        """End a turn with a request, which ended at `now_s` after `elapsed_s`."""
        state = self._end_request(host)
        owed = state.owed
        if not OUTCOMES[outcome].affects_host:
            state.failures = 0
        elif now_s - elapsed_s >= state.failed_s:  # concurrent requests that fail count once
            state.failures, state.failed_s = state.failures + 1, now_s
        wait_s = owed.wait_s(outcome, state.delay_s, state.failures, elapsed_s, retry_after_s)
        state.ended_s, state.ready_s = now_s, max(state.ready_s, now_s + wait_s)
        if state.failures >= owed.max_failures:
            text = f"{state.failures} failures in a row, the last: {outcome}"
            self._close(state, Reason("failing", text))
        elif wait_s > owed.patience_s:
            self._close(
                state, Reason(outcome, f"the host must not be contacted for {wait_s:.0f} s")
            )
        if state.address is not None and not state.address.open:
            state.address.ready_s = max(state.address.ready_s, now_s + owed.address_delay_s)
        self._settle(state)

    def withdraw(self, host: str) -> list[int]:
        """Remove and return all rows in the back queue of a host that is OUT or HELD."""
        queue = self._hosts[host].queue
        rows = list(queue or ())
        if queue:
            queue.clear()
        return rows

    def slow_down(self, host: str, delay_s: float) -> bool:
        """Apply a delay that a host asked for; if it is too long, close the host and return False.

        The host must not be WAITING.
        """
        state = self._hosts[host]
        state.delay_s = max(state.delay_s, delay_s)
        state.ready_s = max(state.ready_s, state.ended_s + state.delay_s)
        if state.delay_s > state.owed.patience_s:
            text = f"the host asks for {delay_s:.0f} s between requests"
            self._close(state, Reason("crawl_delay", text))
            return False
        return True

    def hold(self, host: str) -> None:
        """Hand out no other row of a host with an open row until its `release`."""
        state = self._hosts[host]
        state.located = False
        if state.state is _WAITING:
            self._wait(state)

    def release(self, host: str, address: str | None = None) -> None:
        """Let a HELD host continue. With an address, the limits per address apply to it."""
        state = self._hosts[host]
        state.located = True
        if address is not None:
            if address not in self._addresses:
                self._addresses[address] = Address(address)
            state.address = self._addresses[address]
        if state.state is _HELD:
            self._held -= 1
            state.state = _OUT
            self._requeue(state)

    def close(self, host: str, reason: Reason) -> None:
        """Request nothing more from a host, and give its rows back."""
        self._close(self._hosts[host], reason)

    def stop(self, reason: Reason) -> None:
        """Request nothing more from any host. Rows that are OUT may still be put back."""
        self._stopped = reason
        for host in self._hosts.values():
            self._close(host, reason)
        for level in self._front:
            self.given_back.extend((row, host.closed or reason) for host, row in level)
            level.clear()
        self._in_front = 0
        self._heap.clear()

    def hosts(self) -> Iterator[Host]:
        """All hosts in their present state."""
        return iter(self._hosts.values())

    def _host(self, name: str) -> Host:
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = Host(name, self._owed)
            host.closed = self._stopped
        return host

    def _refill(self) -> None:
        """Fill the back queues from the front queues, highest priority first."""
        while self._in_front and self._active < self._back_queues:
            level = self._front[self._top]
            self._top += not level
            while level and self._active < self._back_queues:
                host, row = level.popleft()
                self._in_front -= 1
                if host.closed is not None:
                    self.given_back.append((row, host.closed))
                    continue
                if host.queue is None:
                    host.queue = deque()
                host.queue.append(row)
                if host.state is _IDLE:
                    self._active += 1
                    if not host.located:
                        self.awaiting_address.append(host.name)
                    self._wait(host)
                elif host.state is _OUT and host.open < host.owed.connections:
                    self._wait(host)

    def _take_due(self, address: Address, now_s: float) -> Host | None:
        """Give the address to the host that is due on it longest, and return that host."""
        address.queued = False
        while address.due:
            host = address.due.popleft()
            if host.state is _DUE:
                address.open += 1
                address.before_s, address.ready_s = (
                    address.ready_s,
                    now_s + self._owed.address_delay_s,
                )
                self._queue(address)
                return host
        return None

    def _queue(self, address: Address) -> None:
        free = address.open < self._owed.connections_per_address
        if address.due and free and not address.queued:
            address.queued = True
            heappush(self._heap, (address.ready_s, next(self._order), address))

    def _wait(self, host: Host) -> None:
        """Put a host with rows into the heap, or make it HELD until its `release`."""
        if not host.located:
            host.state = _HELD
            self._held += 1
        else:
            host.state = _WAITING
            if not host.queued:
                host.queued = True
                heappush(self._heap, (host.ready_s, next(self._order), host))

    def _is_ready(self, host: Host, now_s: float) -> bool:
        """Whether a host popped from the heap may be contacted; if only later, push it back."""
        host.queued = False
        if host.state is not _WAITING:
            return False  # it was closed or HELD meanwhile
        if host.ready_s > now_s:  # one of several open requests has failed
            self._wait(host)
            return False
        return True

    def _end_request(self, name: str) -> Host:
        host = self._hosts[name]
        host.open -= 1
        self._open -= 1
        if host.address is not None:
            host.address.open -= 1
        return host

    def _settle(self, host: Host) -> None:
        """Make a host WAITING or IDLE after its request, and queue its address again."""
        if host.state is _OUT:
            self._requeue(host)
        if host.address is not None:
            self._queue(host.address)

    def _requeue(self, host: Host) -> None:
        """Make a host that is OUT WAITING, or IDLE if it has no rows and no open requests."""
        if host.queue and host.closed is None:
            self._wait(host)
        elif not host.open:
            host.queue = None
            host.state = _IDLE
            self._active -= 1

    def _close(self, host: Host, reason: Reason) -> None:
        if host.closed is not None:
            return
        host.closed = reason
        self.given_back.extend((row, reason) for row in host.queue or ())
        host.queue = None
        if host.state is _HELD:
            self._held -= 1
        if host.state not in {_IDLE, _OUT}:
            host.state = _OUT if host.open else _IDLE
            self._active -= not host.open


def _level(score: float) -> int:
    """The front queue of a score; 0 is the highest."""
    if score <= 0:
        return FRONT_QUEUES - 1
    if score == inf:
        return 0
    fraction, octave = frexp(score)
    half = 2 * octave + (fraction >= HALF_OCTAVE)
    return min(max(FRONT_QUEUES // 2 - half, 1), FRONT_QUEUES - 2)
