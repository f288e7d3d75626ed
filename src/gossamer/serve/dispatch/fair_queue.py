"""Which request may start next: a bounded number run at a time, fairly divided between clients.

In a single queue, a client that sends a thousand requests makes everybody else wait for all of
them. Here the next turn goes to the client that holds the fewest turns at that moment, and among
equals to the one whose last turn was longest ago. When the queue is full, the client with the most
waiting requests loses one of them to a newcomer.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from contextlib import asynccontextmanager
from itertools import count
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

NEVER = -1
ANYBODY = ""
"""The client of requests without a known address. It is not limited to a share of the turns."""


class Busy(Exception):
    """Too many requests of a kind are waiting already; `kind` is its name on /metrics."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"too many requests are waiting ({kind}): try again later")
        self.kind = kind


class FairQueue:
    """At most `running` turns at once, `share` of them for one client; at most `waiting` wait.

    Belongs to one event loop. Invariants: `_running` counts the turns of each client and holds no
    zeros; no queue in `_queues` is empty; no request waits that could start; `_last` holds the
    number of the last turn of each client that runs or waits.
    """

    def __init__(self, kind: str, running: int, waiting: int, share: int | None = None) -> None:
        self.kind = kind
        self._max_waiting = waiting
        self._running: Counter[str] = Counter()
        self._queues: dict[str, deque[asyncio.Future[None]]] = {}
        self._numbers = count()
        self._last: dict[str, int] = {}
        self.allow(running, share)

    def allow(self, running: int, share: int | None = None) -> None:
        """Change how many turns there are at most, altogether and for one client."""
        self._max_running = running
        self._share = running if share is None else share
        self._start_waiting()

    @property
    def waiting(self) -> int:
        return sum(map(len, self._queues.values()))

    @asynccontextmanager
    async def taken(self, client: str) -> AsyncIterator[None]:
        """Wait for a turn and hold it until the end of the block. Raises Busy."""
        if self._may_start(client):
            self._start(client)
        else:
            await self._wait(client)
        try:
            yield
        finally:
            self._give_back(client)

    async def _wait(self, client: str) -> None:
        if self.waiting >= self._max_waiting:
            self._make_room(client)
        turn = asyncio.get_running_loop().create_future()
        self._queues.setdefault(client, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.cancelled():
                self._leave(client, turn)
            elif turn.exception() is None:  # it got the turn at the same moment
                self._give_back(client)
            raise

    def _may_start(self, client: str) -> bool:
        return self._running.total() < self._max_running and self._has_share_left(client)

    def _has_share_left(self, client: str) -> bool:
        return client == ANYBODY or self._running.get(client, 0) < self._share

    def _give_back(self, client: str) -> None:
        self._running[client] -= 1
        if not self._running[client]:
            del self._running[client]
        self._start_waiting()
        self._forget(client)

    def _start_waiting(self) -> None:
        while self._running.total() < self._max_running:
            following = self._next_client()
            if following is None:
                return
            turn = self._queues[following].popleft()
            if not turn.done():  # else its request was cancelled, and will notice it soon
                turn.set_result(None)
                self._start(following)
            self._forget(following)

    def _next_client(self) -> str | None:
        """The client whose request starts next, if one may start."""
        found, least = None, (inf, inf)
        for client in self._queues:
            if self._has_share_left(client):
                place = self._running.get(client, 0), self._last.get(client, NEVER)
                if place < least:
                    found, least = client, place
                if place == (0, NEVER):  # in a flood of new clients, that is the first one
                    break
        return found

    def _start(self, client: str) -> None:
        self._running[client] += 1
        self._last[client] = next(self._numbers)

    def _forget(self, client: str) -> None:
        """Drop all state of a client that neither runs nor waits."""
        if not self._queues.get(client, True):
            del self._queues[client]
        if client not in self._queues and client not in self._running:
            self._last.pop(client, None)

    def _make_room(self, client: str) -> None:
        """Refuse the newest request of the client with the most waiting ones, or raise Busy."""
        most = max(self._queues, key=lambda each: len(self._queues[each]), default=client)
        if len(self._queues.get(most, ())) <= len(self._queues.get(client, ())) + 1:
            raise Busy(self.kind)
        turn = self._queues[most].pop()
        if not turn.done():
            turn.set_exception(Busy(self.kind))

    def _leave(self, client: str, turn: asyncio.Future[None]) -> None:
        if turn in self._queues.get(client, ()):
            self._queues[client].remove(turn)
        self._forget(client)
