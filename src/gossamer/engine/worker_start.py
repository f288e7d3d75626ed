"""Starts the worker processes of a pool, and what they need before their driver is ready.

Until a small crawl fetches its first page, most of the time goes into importing libraries. On
Linux, workers are forked from a server that has imported them once (`fork_server.py`). A command
without other threads forks this server itself, so that what both need is imported only once
(`started_ahead`). Elsewhere, each worker is a new interpreter, and the first one imports its
libraries while the driver does. So this module itself imports nothing large.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import threading
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol

from gossamer.engine import fork_server
from gossamer.engine.priorities import lower_priority
from gossamer.engine.processes import start_python

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gossamer.engine.fork_server import Forked, ForkServer
    from gossamer.engine.processes import Process


class Started(NamedTuple):
    """A worker process, and our end of the connection with it."""

    process: Process | Forked
    socket: socket.socket

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        self.socket.close()


class Starter(Protocol):
    """Starts workers that have called `prepare` before they get work."""

    is_quick: bool
    """Whether a worker need not prepare anything itself."""

    def start(self) -> Started:
        """Start a worker. Raises OSError."""

    def end(self) -> None:
        """End what no worker needs."""


class Interpreters:
    """Each worker is a new interpreter. If it has something to prepare, one starts ahead.

    `prepare` is a pickled function; None: there is nothing to prepare.
    """

    is_quick = False

    def __init__(self, prepare: bytes | None) -> None:
        self._prepare = prepare
        self._ahead: list[Started] = []
        if prepare is not None:
            with suppress(OSError):  # raised again when a worker is needed
                self._ahead.append(self._start())

    def start(self) -> Started:
        return self._ahead.pop() if self._ahead else self._start()

    def end(self) -> None:
        while self._ahead:
            self._ahead.pop().end()

    def _start(self) -> Started:
        def start(descriptor: int) -> Process:
            code = f"from {__name__} import work_prepared as work"
            return start_python(
                f"{code}; work({self._prepare!r}, {descriptor})",
                stdin=subprocess.DEVNULL,
                pass_fds=[descriptor],
            )

        return _connect(start)


class Forks:
    """Workers are forked from a server, which starts at once if there is something to prepare."""

    is_quick = True

    def __init__(self, prepare: bytes | None, server: ForkServer | None = None) -> None:
        self._prepare = prepare
        self._server = server
        self._lock = threading.Lock()
        if server is None and prepare is not None:
            with suppress(OSError):  # raised again when a worker is needed
                self._server = self._start_server()

    def start(self) -> Started:
        with self._lock:
            if self._server is not None:
                with suppress(EOFError, ConnectionError):  # it was killed
                    return _connect(self._fork)
                self.end()
            self._server = self._start_server()
            try:
                return _connect(self._fork)
            except EOFError:
                raise ChildProcessError("the server of workers ended") from None

    def end(self) -> None:
        if self._server is not None:
            self._server.end()
            self._server = None

    def _start_server(self) -> ForkServer:
        return fork_server.start_server(partial(prepare_worker, self._prepare))

    def _fork(self, descriptor: int) -> Forked:
        assert self._server is not None  # noqa: S101  # `start` started it
        return self._server.fork(work, (), [descriptor], os.environ)


def _connect(start: Callable[[int], Process | Forked]) -> Started:
    """Start a worker with one end of a connection."""
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            return Started(start(theirs.fileno()), ours)
        except BaseException:
            ours.close()
            raise


_ahead: dict[Callable[[], None], Starter] = {}
"""What no pool uses yet, by what its workers prepare."""


@contextmanager
def started_ahead(prepare: Callable[[], None], *, by_fork: bool = False) -> Iterator[None]:
    """Begin to start workers for the first pool of the block that prepares the same.

    `prepare` is a function of a module. `by_fork`: this process has no other threads than those of
    libraries that it has just imported (`fork_server.is_single`).
    """
    with suppress(OSError):  # raised again when a worker is needed
        if by_fork:
            pickled = pickle.dumps(prepare)
            server = fork_server.fork_here(partial(prepare_worker, pickled))
            _ahead[prepare] = Forks(pickled, server)
        else:
            _ahead[prepare] = open_starter(prepare)
    try:
        yield
    finally:
        end_unused(prepare)


def open_starter(
    prepare: Callable[[], None] | None, dumps: Callable[[object], bytes] = pickle.dumps
) -> Starter:
    """What was started ahead, or starts workers from now on, that prepare this."""
    if prepare is not None and prepare in _ahead:
        return _ahead.pop(prepare)
    pickled = None if prepare is None else dumps(prepare)
    return Forks(pickled) if fork_server.is_possible() else Interpreters(pickled)


def end_unused(prepare: Callable[[], None] | None) -> None:
    """End what was started ahead for workers that prepare this, if no pool took it."""
    if prepare is not None and prepare in _ahead:
        _ahead.pop(prepare).end()


def prepare_worker(prepare: bytes | None) -> None:
    """Do once, in a server, what workers would do when they start."""
    from gossamer.engine import worker  # noqa: F401  # what all of them need
    from gossamer.engine.lean_imports import forgo_pandas

    forgo_pandas()
    if prepare is not None:
        pickle.loads(prepare)()  # noqa: S301  # our own


def work_prepared(prepare: bytes | None, descriptor: int) -> None:
    """Run as a worker that is a new interpreter."""
    _give_way()
    with suppress(Exception):  # whatever it is, the functions that need it will meet it
        prepare_worker(prepare)
    work(descriptor)


def work(descriptor: int) -> None:
    """Run as a worker."""
    from gossamer.engine import worker

    fork_server.name_process("gossamer-worker")
    _give_way()
    worker.work(descriptor)


def _give_way() -> None:
    for number in (signal.SIGINT, signal.SIGTERM):  # the parent handles Ctrl-C and the end of
        signal.signal(number, signal.SIG_IGN)  # a service, and then ends its workers
    lower_priority()
