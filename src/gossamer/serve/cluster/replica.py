"""One process that answers, as seen from here: its connections, and whether it is well.

A connection carries one request at a time, and is kept for the next: there are as many as a group
lets requests through (`group.py`). A process that failed is left alone for a while, twice as long
each time, and then tried with a request of nobody's.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from gossamer.serve.cluster import wire
from gossamer.serve.messages import Complete

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.serve.messages import Outcome, Request, Whole

UNIX = "unix:"
CONNECT_S = 1.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 2.0
PROBE = Complete("", 0)
PROBE_S = 1.0


_FAILURES = (
    OSError,
    asyncio.IncompleteReadError,
    wire.BadFrameError,
    ValueError,  # the name is none, or
    OverflowError,  # the port
)


class ReplicaError(Exception):
    """The process did not answer, or not as it should."""


class _Connection(NamedTuple):
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def ask(self, body: bytes) -> bytes:
        self.writer.write(body)
        return await wire.next_frame(self.reader)


class Replica:
    """Belongs to the event loop that asks it. `waiting` requests are on their way."""

    def __init__(self, address: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.address = address
        self.waiting = 0
        self._clock = clock
        self._idle: list[_Connection] = []
        self._pause_s = 0.0
        self._until_s = 0.0

    @property
    def well(self) -> bool:
        """Whether its last answer came."""
        return not self._pause_s

    async def probe(self) -> None:
        """Where its pause is over, see whether it answers again."""
        if self.well or self._clock() < self._until_s:
            return
        with suppress(ReplicaError):
            await self.ask(PROBE, time.monotonic() + PROBE_S)

    async def ask(self, request: Whole | Request, deadline_s: float) -> Outcome:
        """Its answer, awaited until the deadline (time.monotonic). Raises ReplicaError."""
        self.waiting += 1
        try:
            async with asyncio.timeout(deadline_s - time.monotonic()):
                outcome = wire.outcome_of(await self._answer(wire.packed(request)))
        except _FAILURES as error:
            self._pause_s = min(max(2 * self._pause_s, FIRST_PAUSE_S), LONGEST_PAUSE_S)
            self._until_s = self._clock() + self._pause_s
            self.close()
            raise ReplicaError(f"{self.address}: {error}") from None
        finally:
            self.waiting -= 1
        self._pause_s = 0.0
        return outcome

    async def _answer(self, body: bytes) -> bytes:
        """On a connection of before, where the process has not been started again meanwhile."""
        while self._idle:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                return await self._on(self._idle.pop(), body)
        return await self._on(await _connected(self.address), body)

    async def _on(self, connection: _Connection, body: bytes) -> bytes:
        """A connection that did not carry a whole answer is of no more use."""
        try:
            answer = await connection.ask(body)
        except BaseException:  # to be cancelled is one, too
            connection.writer.close()
            raise
        self._idle.append(connection)
        return answer

    def close(self) -> None:
        """Close the connections that nobody uses."""
        while self._idle:
            self._idle.pop().writer.close()


async def _connected(address: str) -> _Connection:
    """Raises OSError (TimeoutError, too)."""
    async with asyncio.timeout(CONNECT_S):
        if address.startswith(UNIX):
            return _Connection(*await asyncio.open_unix_connection(address.removeprefix(UNIX)))
        host, _, port = address.rpartition(":")
        return _Connection(*await asyncio.open_connection(host.strip("[]"), int(port)))
