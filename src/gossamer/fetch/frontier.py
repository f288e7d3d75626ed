"""When each host may be contacted next, and what is to be asked of it. No I/O, no clock.

Mercator's frontier (Heydon and Najork, World Wide Web 1999, §3.2; Manning, Raghavan and Schütze,
Introduction to Information Retrieval, §20.2.3): front queues hold what waits, by priority; back
queues, one a host, hold what is next of the hosts in turn, and are refilled from the front as they
empty; a heap tells which of them may be contacted, and when. Beside it, as in BUbiNG (Boldi et al.,
WWW 2014, §4.2), the IP addresses, each of which many hosts may share.

The life of a host:

    IDLE     its back queue is empty; more of it may stand in the front queues
    HELD     it has something to be asked, but its address is not known yet, or its robots.txt is
             being asked of another host: it waits for `release`
    WAITING  in the heap, until the time at which it may be contacted
    DUE      in the queue of its address, which takes its hosts one after the other
    OUT      an entry of it was given out: a request is open

Times are seconds of any clock that never goes back; the caller passes them in. Rows are the
caller's own numbers: what they stand for is not known here.
Cost: O(log hosts) for `next` and `done`, O(1) for `add`; bench/frontier.py.
"""

from __future__ import annotations

from collections import deque
from enum import Enum, auto
from heapq import heappop, heappush
from itertools import count
from math import frexp, inf, sqrt
from typing import TYPE_CHECKING, NamedTuple

from gossamer.outcomes import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.fetch.politeness import Politeness

FRONT_QUEUES = 64
"""Of half an octave of scores each, as many above 1 as below."""
HALF_OCTAVE = sqrt(0.5)
BACK_QUEUES = 20_000
"""Hosts in turn. With a delay of 10 s they permit 2,000 pages a second: all that a task fetches."""


class Turn(NamedTuple):
    """Something to ask of a host."""

    host: str
    row: int


class Reason(NamedTuple):
    """Why something is not asked in this round: a word to count, and a text."""

    word: str
    text: str


class _State(Enum):
    IDLE = auto()
    HELD = auto()
    WAITING = auto()
    DUE = auto()
    OUT = auto()


# As names of the module: a member of an Enum costs 0.1 µs each time in Python 3.11.
_IDLE, _HELD, _WAITING, _DUE, _OUT = _State


class _Address:
    """An IP address. Invariant: it is in the heap once, if a host is due and it may take one."""

    __slots__ = ("before_s", "due", "name", "open", "queued", "ready_s")

    def __init__(self, name: str) -> None:
        self.name = name
        self.due: deque[Host] = deque()
        self.open = 0
        self.ready_s = self.before_s = -inf
        self.queued = False


class Host:
    """What the frontier knows of a host."""

    __slots__ = (
        "address", "closed", "delay_s", "ended_s", "failures", "located", "name", "queue",
        "ready_s", "state",
    )  # fmt: skip

    def __init__(self, name: str, delay_s: float) -> None:
        self.name = name
        self.delay_s = delay_s
        self.failures = 0
        self.ended_s = self.ready_s = -inf
        self.queue: deque[int] | None = None  # an empty deque takes 700 bytes
        self.state = _IDLE
        self.address: _Address | None = None
        self.located = False
        self.closed: Reason | None = None


class Frontier:
    """Rows, given out politely.

    Invariants
      * A host is OUT from the `next` that gives a row of it to the `done` or `skip` that
        follows. So it is never asked for two things at once.
      * `next(now_s)` gives no row of a host before its `ready_s`, and none of an address before
        the address's; at most `connections_per_address` hosts of an address are OUT.
      * At most `back_queues` hosts are not IDLE, but for those that were put back.
      * Every row that is added is given out by `next`, or stands in `given_back`, once; and once
        more for each `put_back`.
    """

    def __init__(self, politeness: Politeness, *, back_queues: int = BACK_QUEUES) -> None:
        self.given_back: list[tuple[int, Reason]] = []
        """Rows that are not going to be given out, and why; the caller empties it."""
        self.activated: list[str] = []
        """Hosts that are HELD until the caller has found their addresses; the caller empties it."""
        self._owed = politeness
        self._back_queues = back_queues
        self._hosts: dict[str, Host] = {}
        self._addresses: dict[str, _Address] = {}
        self._front: list[deque[tuple[Host, int]]] = [deque() for _ in range(FRONT_QUEUES)]
        self._in_front = 0
        self._top = 0
        """No queue before this one holds anything."""
        self._active = 0
        self._open = 0
        self._held = 0
        self._heap: list[tuple[float, int, Host | _Address]] = []
        self._order = count()
        self._stopped: Reason | None = None

    def know(
        self,
        host: str,
        *,
        ready_s: float = -inf,
        failures: int = 0,
        delay_s: float | None = None,
    ) -> None:
        """What was learned of a host elsewhere, or is set for it."""
        known = self._host(host)
        known.ready_s = max(known.ready_s, ready_s)
        known.failures += failures
        if delay_s is not None:
            known.delay_s = delay_s

    def add(self, host: str, row: int, score: float) -> None:
        """A row to be given out. The highest score is infinite."""
        level = _level(score)
        self._front[level].append((self._host(host), row))
        self._in_front += 1
        self._top = min(self._top, level)

    def next(self, now_s: float) -> Turn | float | None:
        """The next turn; or how many seconds to wait; or None when all is done.

        An infinite wait ends with the next `done`, `skip` or `release`.
        """
        self._refill()
        heap = self._heap
        while heap:
            ready_s, _, item = heap[0]
            if ready_s > now_s:
                return ready_s - now_s
            heappop(heap)
            if isinstance(item, _Address):
                host = self._take_due(item, now_s)
                if host is None:
                    continue
            elif item.state is not _WAITING:
                continue  # it was closed meanwhile
            elif item.address is not None:
                item.state = _DUE
                item.address.due.append(item)
                self._queue(item.address)
                continue
            else:
                host = item
            host.state = _OUT
            self._open += 1
            assert host.queue  # noqa: S101  # the invariant of WAITING and DUE
            return Turn(host.name, host.queue.popleft())
        return inf if self._open or self._held else None

    def put_back(self, turn: Turn) -> None:
        """Give a row whose host is OUT another turn: this one was needed for something else."""
        host = self._hosts[turn.host]
        if host.closed is not None:
            self.given_back.append((turn.row, host.closed))
        else:
            assert host.queue is not None  # noqa: S101
            host.queue.appendleft(turn.row)

    def skip(self, host: str) -> None:
        """The row that `next` gave last needed no request: the next one may follow at once."""
        state = self._in(host)
        if state.address is not None:
            state.address.ready_s = state.address.before_s
        self._back(state)

    def done(
        self,
        host: str,
        now_s: float,
        outcome: str,
        elapsed_s: float = 0.0,
        retry_after_s: float | None = None,
    ) -> None:
        """The host was contacted, and the exchange ended at `now_s` after `elapsed_s`."""
        state, owed = self._in(host), self._owed
        state.failures = state.failures + 1 if OUTCOMES[outcome].affects_host else 0
        wait_s = owed.wait_s(outcome, state.delay_s, state.failures, elapsed_s, retry_after_s)
        state.ended_s, state.ready_s = now_s, max(state.ready_s, now_s + wait_s)
        if state.failures >= owed.max_failures:
            text = f"{state.failures} failures in a row, the last: {outcome}"
            self._close(state, Reason("failing", text))
        elif wait_s > owed.patience_s:
            self._close(state, Reason(outcome, f"to be left alone for {wait_s:.0f} s"))
        if state.address is not None and not state.address.open:
            state.address.ready_s = max(state.address.ready_s, now_s + owed.address_delay_s)
        self._back(state)

    def withdraw(self, host: str) -> list[int]:
        """Take all rows out of the back queue of a host that is OUT."""
        queue = self._hosts[host].queue
        rows = list(queue or ())
        if queue:
            queue.clear()
        return rows

    def slow_down(self, host: str, delay_s: float) -> bool:
        """A host that is not WAITING asks for this delay. One too long closes it: then False."""
        state = self._hosts[host]
        state.delay_s = max(state.delay_s, delay_s)
        state.ready_s = max(state.ready_s, state.ended_s + state.delay_s)
        if state.delay_s > self._owed.patience_s:
            text = f"the host asks for {delay_s:.0f} s between requests"
            self._close(state, Reason("crawl_delay", text))
            return False
        return True

    def hold(self, host: str) -> None:
        """A host that is OUT waits for its `release` after its `done`."""
        self._hosts[host].located = False

    def release(self, host: str, address: str | None = None) -> None:
        """The host may go on. Its address, where one is known and is to be spared."""
        state = self._hosts[host]
        state.located = True
        if address is not None:
            if address not in self._addresses:
                self._addresses[address] = _Address(address)
            state.address = self._addresses[address]
        if state.state is _HELD:
            self._held -= 1
            self._wait(state)

    def close(self, host: str, reason: Reason) -> None:
        """Nothing more is asked of a host: its rows are given back."""
        self._close(self._hosts[host], reason)

    def stop(self, reason: Reason) -> None:
        """Nothing more is asked of any host. What is OUT may still be put back."""
        self._stopped = reason
        for host in self._hosts.values():
            self._close(host, reason)
        for level in self._front:
            self.given_back.extend((row, host.closed or reason) for host, row in level)
            level.clear()
        self._in_front = 0
        self._heap.clear()

    def hosts(self) -> Iterator[Host]:
        """All hosts, as they are now."""
        return iter(self._hosts.values())

    def _host(self, name: str) -> Host:
        host = self._hosts.get(name)
        if host is None:
            host = self._hosts[name] = Host(name, self._owed.delay_s)
            host.closed = self._stopped
        return host

    def _refill(self) -> None:
        """Fill back queues from the front, the highest queue first."""
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
                        self.activated.append(host.name)
                    self._wait(host)

    def _take_due(self, address: _Address, now_s: float) -> Host | None:
        """The host that has waited longest for an address, which is given to it."""
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

    def _queue(self, address: _Address) -> None:
        free = address.open < self._owed.connections_per_address
        if address.due and free and not address.queued:
            address.queued = True
            heappush(self._heap, (address.ready_s, next(self._order), address))

    def _wait(self, host: Host) -> None:
        """Of a host with something to ask: when may it go on?"""
        if not host.located:
            host.state = _HELD
            self._held += 1
        else:
            host.state = _WAITING
            heappush(self._heap, (host.ready_s, next(self._order), host))

    def _in(self, name: str) -> Host:
        host = self._hosts[name]
        self._open -= 1
        if host.address is not None:
            host.address.open -= 1
        return host

    def _back(self, host: Host) -> None:
        """After its request: in turn again, or idle."""
        if host.queue and host.closed is None:
            self._wait(host)
        else:
            host.queue = None
            host.state = _IDLE
            self._active -= 1
        if host.address is not None:
            self._queue(host.address)

    def _close(self, host: Host, reason: Reason) -> None:
        if host.closed is not None:
            return
        host.closed = reason
        self.given_back.extend((row, reason) for row in host.queue or ())
        host.queue = None
        if host.state is _HELD:
            self._held -= 1
        if host.state not in {_IDLE, _OUT}:
            host.state = _IDLE
            self._active -= 1


def _level(score: float) -> int:
    """The front queue of a score: 0 for the highest."""
    if score <= 0:
        return FRONT_QUEUES - 1
    if score == inf:
        return 0
    fraction, octave = frexp(score)
    half = 2 * octave + (fraction >= HALF_OCTAVE)
    return min(max(FRONT_QUEUES // 2 - half, 1), FRONT_QUEUES - 2)
