"""Answers as scripts, for what an `Answer` cannot express: bytes, pauses and an end.

Steps are generated while they are played, and only as fast as the client reads, so ten gigabytes
cost no memory. An endless script is played until the client disconnects.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

TURN_BYTES = 256 << 10  # written before other connections get their turn
FLUSH_S = 0.001  # interval of the checks whether all bytes before a reset have been sent

_RESET = struct.pack("ii", 1, 0)  # SO_LINGER with zero seconds: close() sends RST (socket(7))

Steps = Iterable[bytes | float]
"""Bytes to send, and floats: seconds to wait."""


class End(Enum):
    KEEP = auto()  # the connection takes the next request
    CLOSE = auto()
    RESET = auto()  # TCP RST
    HANG = auto()  # the connection stays open and silent


@dataclass(frozen=True)
class Act:
    """A script. `status` is the status it sends, for the log, or 0. Each `steps()` restarts it."""

    status: int
    steps: Callable[[], Steps] = tuple
    end: End = End.CLOSE


class Player:
    """Plays one act on a transport.

    Invariants
      * Nothing is written while the client does not read.
      * One iteration of the event loop writes at most TURN_BYTES plus one step, so other
        connections get their turns.
      * After `cancel`, which the connection calls when it ends, nothing is scheduled.
    """

    def __init__(
        self,
        act: Act,
        transport: asyncio.Transport,
        loop: asyncio.AbstractEventLoop,
        kept: Callable[[], None],
    ) -> None:
        """`kept` is called after an act that ends with `End.KEEP`."""
        self._steps = iter(act.steps())
        self._end = act.end
        self._transport = transport
        self._loop = loop
        self._kept = kept
        self._paused = False
        self._next: asyncio.Handle | None = None

    def pause(self) -> None:
        self._paused = True

    def resume(self) -> None:
        self._paused = False
        if self._next is None:
            self.play()

    def cancel(self) -> None:
        self._steps = iter(())
        self._end = End.HANG
        if self._next is not None:
            self._next.cancel()

    def play(self) -> None:
        self._next = None
        written = 0
        while not self._paused:
            step = next(self._steps, None)
            if step is None:
                self._finish()
                return
            if isinstance(step, float):
                self._next = self._loop.call_later(step, self.play)
                return
            self._transport.write(step)
            written += len(step)
            if written >= TURN_BYTES:
                self._next = self._loop.call_soon(self.play)
                return

    def _finish(self) -> None:
        if self._end is End.KEEP:
            self._kept()
        elif self._end is End.CLOSE:
            self._transport.close()
        elif self._end is End.RESET:
            self._reset()

    def _reset(self) -> None:
        if self._transport.get_write_buffer_size():  # a reset would discard unsent bytes
            self._next = self._loop.call_later(FLUSH_S, self._reset)
            return
        connection = self._transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._transport.abort()
