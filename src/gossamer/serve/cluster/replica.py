"""The client's view of one search process: its connections, and whether it is healthy.

A connection carries one request at a time and is reused for the next, so there are as many as a
group sends requests at once (`group.py`). A process that failed gets no requests for a pause, which
doubles with each failure, and then a probe. Those on other machines are probed all the time, as
their reports say what they hold.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from gossamer.search.messages import Probe, Report
from gossamer.serve.cluster import wire

if TYPE_CHECKING:
    from collections.abc import Callable
    from ssl import SSLContext

    from gossamer.search.messages import AnyReply, AnyRequest

UNIX = "unix:"
CONNECT_S = 1.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 2.0
PROBE = Probe()
PROBE_S = 1.0
_FAILURES = (
    OSError,
    asyncio.IncompleteReadError,
    wire.BadFrameError,
    ValueError,  # an invalid host name
    OverflowError,  # a port above 65,535
)


class ReplicaError(Exception):
    """The process did not answer in time, or its answer was invalid."""


class _Connection(NamedTuple):
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def ask(self, body: bytes) -> bytes:
        self.writer.write(body)
        return await wire.next_frame(self.reader)

    def end(self) -> None:
        """Close at once: with TLS, an orderly end would wait for the other side."""
        self.writer.transport.abort()


class Replica:
    """Belongs to one event loop. `waiting` is the number of requests without an answer yet."""

    def __init__(
        self,
        address: str,
        tls: SSLContext | None = None,
        certified: str | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`certified`: whom its certificate must name, if not the host of the address."""
        self.address = address
        self.waiting = 0
        self._tls = tls
        self._certified = certified
        self._clock = clock
        self._idle: list[_Connection] = []
        self._pause_s = 0.0
        self._until_s = 0.0

    @property
    def well(self) -> bool:
        """Whether the last request succeeded; late answers to heavy requests do not count."""
        return not self._pause_s

    async def revive(self) -> None:
        """Send a probe if the process has failed and its pause is over."""
        if not self.well:
            await self.probe()

    async def probe(self) -> Report | None:
        """The process's report, or None; not sent while a failed process has its pause.

        A healthy process that is busy does not count as failed if it is late with its report.
        """
        if not self.well and self._clock() < self._until_s:
            return None
        try:
            weight = 0 if self.well else 1
            report = await self.ask(PROBE, time.monotonic() + PROBE_S, weight)
        except ReplicaError:
            return None
        return report if isinstance(report, Report) else None

    async def ask(self, request: AnyRequest, deadline_s: float, weight: int = 1) -> AnyReply:
        """Return the answer if it comes before the deadline (time.monotonic).

        The request counts as `weight` requests in `waiting`. Raises ReplicaError.
        """
        self.waiting += weight
        try:
            async with asyncio.timeout(deadline_s - time.monotonic()):
                outcome = wire.outcome_of(await self._answer(wire.pack(request)))
        except _FAILURES as error:
            # A process that is late with an expensive answer may be in time with others.
            if weight == 1 or not isinstance(error, TimeoutError):
                self._pause_s = min(max(2 * self._pause_s, FIRST_PAUSE_S), LONGEST_PAUSE_S)
                self._until_s = self._clock() + self._pause_s
                self.close()
            raise ReplicaError(f"{self.address}: {error}") from None
        finally:
            self.waiting -= weight
        self._pause_s = 0.0
        return outcome

    async def _answer(self, body: bytes) -> bytes:
        """Use an idle connection if one still works; all break if the process was restarted."""
        while self._idle:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                return await self._send(self._idle.pop(), body)
        return await self._send(await self._connect(), body)

    async def _send(self, connection: _Connection, body: bytes) -> bytes:
        """Keep the connection for later requests only if it delivered a complete answer."""
        try:
            answer = await connection.ask(body)
        except BaseException:  # cancellation too
            connection.end()
            raise
        self._idle.append(connection)
        return answer

    def close(self) -> None:
        """Close the idle connections."""
        while self._idle:
            self._idle.pop().end()

    async def _connect(self) -> _Connection:
        """Open a connection. Raises OSError (TimeoutError is one)."""
        async with asyncio.timeout(CONNECT_S):
            if self.address.startswith(UNIX):
                path = self.address.removeprefix(UNIX)
                return _Connection(*await asyncio.open_unix_connection(path))
            host, _, port = self.address.rpartition(":")
            certified = self._certified if self._tls else None
            return _Connection(
                *await asyncio.open_connection(
                    host.strip("[]"), int(port), ssl=self._tls, server_hostname=certified
                )
            )
