"""An answer as a script: bytes and pauses, and how it ends. What an honest `Answer` cannot say.

Steps are made while they are played, and only as fast as the client reads, so that ten gigabytes
cost no memory. A script that has no end is played until the client goes away.
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

TURN_BYTES = 256 << 10
FLUSH_S = 0.001  # between two looks whether all is sent that goes before a reset

_RESET = struct.pack("ii", 1, 0)  # SO_LINGER with zero seconds: close() sends RST (socket(7))

Steps = Iterable[bytes | float]
"""Bytes to send, and seconds to wait."""


class End(Enum):
    KEEP = auto()  # the connection takes the next request
    CLOSE = auto()
    RESET = auto()  # TCP RST
    HANG = auto()  # nothing more is said, and nothing closed


@dataclass(frozen=True)
class Act:
    """`status` is the one that the log shows: as sent, 0 where none is. `steps` starts anew."""

    status: int
    steps: Callable[[], Steps] = tuple
    end: End = End.CLOSE


class Player:
    """Plays one act on a transport.

    Invariants
      * Nothing is written while the client does not read.
      * A turn of the loop writes at most TURN_BYTES and a step, so other connections get theirs.
      * After `cancel`, which the end of the connection calls, nothing is scheduled.
    """

    def __init__(
        self,
        act: Act,
        transport: asyncio.Transport,
        loop: asyncio.AbstractEventLoop,
        kept: Callable[[], None],
    ) -> None:
        """`kept` is called after an act that leaves the connection to the next request."""
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
        if self._transport.get_write_buffer_size():  # a reset discards what is not sent yet
            self._next = self._loop.call_later(FLUSH_S, self._reset)
            return
        connection = self._transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self._transport.abort()
