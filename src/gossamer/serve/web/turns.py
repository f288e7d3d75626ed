"""Which connection's next request may begin: one at a time, fairly between clients.

Facts
  * A request that needs no search process, such as a search whose answer is cached, occupies the
    event loop for about a millisecond, and its connection may have sent thousands of them.
  * A search of somebody else takes several iterations of the event loop: to read it, to send it to
    a process, to read and pass on the reply. If each connection began a request per iteration, each
    of these would be as long as there are connections.
  * An iteration in which nothing happens takes a few microseconds.

So between two requests, REST iterations pass, in which requests that have begun get on. The next
turn goes to the client whose last one was longest ago.
"""

from __future__ import annotations

import asyncio
from collections import deque
from heapq import heappop, heappush
from itertools import count
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

REST = 8
MAX_KEPT = 4_096
"""Clients whose last turns are remembered."""


class Turns:
    """Belongs to one event loop.

    Invariants: no queue in `_waiting` is empty; `_order` is a heap of its clients, by the number of
    their last turn and by when they began to wait; `_is_resting` if and only if `_rest` is
    scheduled; `_last` holds the numbers of turns by client, in increasing order.
    """

    def __init__(self) -> None:
        self._waiting: dict[str, deque[Callable[[], None]]] = {}
        self._order: list[tuple[int, int, str]] = []
        self._is_resting = False
        self._numbers = count()
        self._last: dict[str, int] = {}

    def take(self, client: str, begin: Callable[[], None]) -> None:
        """Call `begin` now if no other request has just begun, else when it is its turn."""
        if (queue := self._waiting.get(client)) is not None:
            queue.append(begin)
        else:
            self._waiting[client] = deque([begin])
            self._await_turn(client)
        if not self._is_resting:
            self._start()

    def _start(self) -> None:
        *_, client = heappop(self._order)
        begin = self._waiting[client].popleft()
        self._last.pop(client, None)
        self._last[client] = next(self._numbers)
        if len(self._last) > MAX_KEPT:
            del self._last[next(iter(self._last))]
        if self._waiting[client]:
            self._await_turn(client)
        else:
            del self._waiting[client]
        self._is_resting = True
        self._rest(REST)
        begin()

    def _await_turn(self, client: str) -> None:
        heappush(self._order, (self._last.get(client, -1), next(self._numbers), client))

    def _rest(self, iterations: int) -> None:
        if iterations:
            asyncio.get_running_loop().call_soon(self._rest, iterations - 1)
        else:
            self._is_resting = False
            if self._waiting:
                self._start()
