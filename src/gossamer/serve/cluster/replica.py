"""One process that answers, as seen from here: its connections, and whether it is well.

A connection carries one request at a time, and is kept for the next. A process that failed is left
alone for a while, twice as long each time, and then tried with a request of nobody's.
"""

from __future__ import annotations

import socket
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

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
MAX_IDLE = 16
"""Connections that are kept."""


class ReplicaError(Exception):
    """The process did not answer, or not as it should."""


class Replica:
    """Used from several threads. `waiting` requests are on their way."""

    def __init__(self, address: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.address = address
        self.waiting = 0
        self._clock = clock
        self._guard = threading.Lock()
        self._idle: list[socket.socket] = []
        self._pause_s = 0.0
        self._until_s = 0.0

    @property
    def well(self) -> bool:
        """Whether its last answer came."""
        return not self._pause_s

    def probe(self) -> None:
        """Where its pause is over, see whether it answers again."""
        if self.well or self._clock() < self._until_s:
            return
        with suppress(ReplicaError):
            self.begin(PROBE).finish(time.monotonic() + PROBE_S)

    def begin(self, request: Whole | Request) -> Call:
        """Send a request. Raises ReplicaError."""
        body = wire.packed(request)
        with self._guard:
            self.waiting += 1
        connection = None
        try:
            connection = self._kept() or _connected(self.address)
            connection.sendall(body)
        except OSError as error:
            raise self.failed(error, connection) from None
        return Call(self, connection)

    def _kept(self) -> socket.socket | None:
        """A connection of before; not one to a process that was started again meanwhile."""
        while True:
            with self._guard:
                kept = self._idle.pop() if self._idle else None
            if kept is None or _is_open(kept):
                return kept
            kept.close()

    def done(self, connection: socket.socket) -> None:
        with self._guard:
            self.waiting -= 1
            self._pause_s = 0.0
            if len(self._idle) < MAX_IDLE:
                self._idle.append(connection)
                return
        connection.close()

    def failed(self, error: Exception, connection: socket.socket | None) -> ReplicaError:
        """What to raise where a request came to nothing."""
        with self._guard:
            self.waiting -= 1
            self._pause_s = min(max(2 * self._pause_s, FIRST_PAUSE_S), LONGEST_PAUSE_S)
            self._until_s = self._clock() + self._pause_s
        if connection is not None:
            connection.close()
        self.close()
        return ReplicaError(f"{self.address}: {error}")

    def close(self) -> None:
        """Close the connections that nobody uses."""
        with self._guard:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


class Call:
    """A request on its way."""

    def __init__(self, replica: Replica, connection: socket.socket) -> None:
        self.replica = replica
        self._connection = connection

    def finish(self, deadline_s: float) -> Outcome:
        """Its answer, awaited until the deadline (time.monotonic). Raises ReplicaError."""
        try:
            self._connection.settimeout(max(deadline_s - time.monotonic(), 0.001))
            outcome = wire.outcome_of(wire.receive(self._connection))
        except (OSError, wire.BadFrameError) as error:
            raise self.replica.failed(error, self._connection) from None
        self.replica.done(self._connection)
        return outcome


def _connected(address: str) -> socket.socket:
    """Raises OSError."""
    if address.startswith(UNIX):
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(CONNECT_S)
        try:
            connection.connect(address.removeprefix(UNIX))
        except OSError:
            connection.close()
            raise
        return connection
    host, _, port = address.rpartition(":")
    connection = socket.create_connection((host.strip("[]"), int(port)), CONNECT_S)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _is_open(connection: socket.socket) -> bool:
    """Whether there is nothing to be read of an idle connection, not even its end."""
    connection.settimeout(0)
    try:
        connection.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        connection.settimeout(CONNECT_S)
        return True
    except OSError:
        pass
    return False
