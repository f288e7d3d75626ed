"""Starts the worker processes of a pool, and the first one before its driver is ready.

Until a small crawl fetches its first page, most of the time goes into importing libraries: in the
driver, and as long in a worker. `started_ahead` lets them do it side by side, so this module itself
imports nothing large.
"""

from __future__ import annotations

import pickle
import socket
import subprocess
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

from gossamer.engine.processes import start_python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gossamer.engine.processes import Process


class Started(NamedTuple):
    """A worker process, and our end of the connection with it."""

    process: Process
    socket: socket.socket

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.socket.close()


_ahead: dict[Callable[[], None], Started] = {}
"""Workers that no pool uses yet, by the function that they call first."""


def start_worker(prepare: bytes) -> Started:
    """Start a worker that first calls a pickled function; b"" for none. Raises OSError."""
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            process = start_python(
                f"from gossamer.engine.pool import work; work({theirs.fileno()}, {prepare!r})",
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        except BaseException:
            ours.close()
            raise
    return Started(process, ours)


@contextmanager
def started_ahead(prepare: Callable[[], None]) -> Iterator[None]:
    """Start a worker for the first pool of the block whose workers call `prepare` first.

    `prepare` is a function of a module.
    """
    with suppress(OSError):  # raised again when a worker is needed
        _ahead[prepare] = start_worker(pickle.dumps(prepare))
    try:
        yield
    finally:
        end_unused(prepare)


def take(prepare: Callable[[], None] | None) -> Started | None:
    """The worker that was started ahead and calls this function first; None if there is none."""
    return None if prepare is None else _ahead.pop(prepare, None)


def end_unused(prepare: Callable[[], None] | None) -> None:
    """End the worker that was started ahead and calls this function first, if no pool took it."""
    if (unused := take(prepare)) is not None:
        unused.end()
