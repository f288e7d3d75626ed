"""Keeps a crawl without end in a process of its own, and replaces that process between two rounds.

The engine keeps some memory of each query for good (engine.py), so a crawl would grow by a few MB
per round, for ever. Its process therefore ends when it has grown by a part of what it had first, or
of `engine.memory_gb` (forever_process.py), and another one goes on. The kernel may also kill it
when memory is short, or a library may crash, in it or in one of its workers: then another one goes
on, too, after a wait that grows from time to time. When no page is due for minutes, the process
that crawls ends, and another one begins when one is due.

This process stays, and remains small: it imports neither the engine nor what the steps need. It
runs the search page, handles all signals and passes on what the crawl tells systemd. The two are
connected by a socket (`Line`): the crawl's process sends fields for systemd, and as bytes what its
successor needs. That process is stopped by a signal of its own (`stopping.WATCHED`), and killed if
this one ends (processes.py).
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager
from functools import cached_property
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from gossamer.cli.systemd_notification import SystemdNotifier
from gossamer.cli.terminal import STOPPED, echo_event
from gossamer.engine.processes import start_python
from gossamer.errors import EngineError, UsageError
from gossamer.state.stopping import CTRL_C, SIGNALS, WATCHED, obey_parent

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gossamer.engine.processes import Process
    from gossamer.storage.lock_holder import Holder

Message = dict[str, str] | bytes | tuple["Rest | None", bytes]
"""What the process that crawls sends: fields for systemd, or what its successor needs."""
RENEW = 75
"""The exit code of a process that is to be replaced: EX_TEMPFAIL of sysexits.h, "try again"."""
LOST_WORKER = 71
"""That of a process that has lost a worker: EX_OSERR, "an error of the operating system"."""
LOOK_S = 0.5
"""Seconds between two looks at the search page."""
END_S = 10.0
"""Seconds in which the search page finishes its open requests."""
WAITS_S = (1.0, 300.0)
"""The shortest and the longest wait after a crash. Each is twice the one before, until a process
has lived as long as the longest."""
PATIENCE = 2
"""Signals that ask the crawl to end. The next one kills it."""

CRAWL = (
    "from gossamer.state.stopping import leave_to_parent; leave_to_parent()\n"
    "from gossamer.cli.supervisor import hold_supervisor_line as hold; line = hold({})\n"
    "from gossamer.cli import main; main(line)"
)
_SERVE = "from gossamer.cli import main; main()"


class Start(NamedTuple):
    """What the crawl's process is told first."""

    program: str
    """The first word of the command line."""
    limit_s: float
    """See `supervision.Told`."""
    kept: bytes
    """What the process before it has kept for this one; b"" if there was none."""
    must_reload: bool
    """Whether it must read the settings first: it may have no other work, and end soon."""


class Rest(NamedTuple):
    """A wait for which the process that crawls ends."""

    crawl: str
    """Its path or URL."""
    version: int
    """That of the crawl. If it changes, there may be work."""
    due_ms: int | None
    """When a page is due; None: none ever is."""


class Line:
    """The connection with this process's parent, which watches over it."""

    def __init__(self, connection: Connection) -> None:
        start: Start = connection.recv()
        self.program, self.limit_s, self.must_reload = (
            start.program,
            start.limit_s,
            start.must_reload,
        )
        self._kept = start.kept
        self._connection, self._lock = connection, threading.Lock()

    @cached_property
    def kept(self) -> Any:
        """What the process before this one has kept; None if there was none.

        Asking imports all that crawls, and with it Arrow, which then has its allocator for good
        (allocators.py).
        """
        return pickle.loads(self._kept) if self._kept else None  # noqa: S301  # our own

    def tell(self, **fields: str) -> None:
        """Tell systemd: see `supervision.Told`."""
        self._send(fields)

    def keep(self, state: object) -> None:
        """Keep something for the process that will follow this one."""
        self._send(pickle.dumps(state))

    def leave(self, rest: Rest | None, state: object) -> None:
        """Keep something for the process that follows when this one has ended, after a rest."""
        self._send((rest, pickle.dumps(state)))

    def holder(self) -> Holder:
        """Who locks the crawl: the parent, which is the process to be ended."""
        from gossamer.storage.lock_holder import Holder  # the parent does without

        return Holder.me(os.getppid())

    def _send(self, message: Message) -> None:
        with self._lock:
            self._connection.send(message)


def hold_supervisor_line(descriptor: int) -> Line:
    """Make this process the one that crawls, and return its connection with its parent."""
    line = Line(Connection(descriptor))
    sys.argv[0] = line.program
    obey_parent()
    return line


def keep_crawling(
    crawl: Sequence[str],
    page: Sequence[str] = (),
    *,
    page_first: bool = False,
    as_json: bool = False,
) -> int:
    """Run a command line that crawls in processes, one after the other; return the exit code.

    `page` is the command line of the search page, which starts when the crawl is ready, or before
    it (`page_first`). Raises EngineError if the first process is killed before it crawls,
    UsageError if the search page ends, and KeyboardInterrupt after a signal that the crawl has left
    unmentioned.
    """
    with closing(_Keeper(crawl, page, as_json=as_json)) as keeper, keeper.signals():
        if page_first:
            keeper.open_page()
        return keeper.run()


class _Keeper:
    def __init__(self, crawl: Sequence[str], page: Sequence[str], *, as_json: bool) -> None:
        self._crawl_line, self._page_line, self._as_json = crawl, page, as_json
        self._supervisor = SystemdNotifier()
        self._page: Process | None = None
        self._crawl: Process | None = None
        self._is_ready = False
        """Whether the present process crawls."""
        self._kept = b""
        self._rest: Rest | None = None
        """For which wait the present process ends."""
        self._stops = 0
        """Signals that came and ask for an end."""
        self._is_terminated = False
        """Whether SIGTERM was one of them."""
        self._must_reload = False
        """Whether SIGHUP came, and no process has read the settings since."""

    @contextmanager
    def signals(self) -> Iterator[None]:
        """Handle signals while open."""
        handlers = dict.fromkeys(SIGNALS, self._stop) | {signal.SIGHUP: self._reload}
        before = {number: signal.signal(number, each) for number, each in handlers.items()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def run(self) -> int:
        wait_s = 0.0
        while True:
            began_s = time.monotonic()
            status = self._run_once()
            if self._stops:
                return self._stopped(status)
            if status < 0 or status == LOST_WORKER:
                wait_s = next_wait_s(wait_s, time.monotonic() - began_s)
                self._recover(cause_of_death(status), wait_s)
            elif status != RENEW:
                return status
            elif self._rest is not None:
                self._wait_for_work(self._rest)
            if self._stops:
                return self._stopped(status)

    def open_page(self) -> None:
        """Start the search page, unless nobody asked for one, or it runs already."""
        if self._page_line and self._page is None:
            # What the crawl prints may be for programs, so the page says its address elsewhere.
            # Ctrl-C does not reach it: it ends after us.
            self._page = start_python(
                _SERVE, self._page_line, signal.SIGTERM, process_group=0, stdout=sys.stderr
            )

    def close(self) -> None:
        """End the search page, after its open requests."""
        if self._page is None:
            return
        self._page.terminate()
        try:
            self._page.wait(END_S)
        except subprocess.TimeoutExpired:
            self._page.kill()

    def _run_once(self) -> int:
        """Let a process crawl until it ends; return its status, which is negative for a signal."""
        ours, theirs = Pipe()
        self._rest = None
        with theirs:
            descriptor = theirs.fileno()
            self._crawl = start_python(
                CRAWL.format(descriptor), self._crawl_line, pass_fds=[descriptor]
            )
        try:
            with ours:
                self._listen(ours)
        except BaseException:
            self._crawl.send_signal(WATCHED)
            self._crawl.wait()
            raise
        self._is_ready = False
        return self._crawl.wait()

    def _listen(self, line: Connection) -> None:
        """Do what the crawl's process asks for until it ends."""
        if self._stops:  # the signal came before there was a process
            self._pass_on(WATCHED)
            return
        try:
            limit_s, must_reload = self._supervisor.limit_s, self._must_reload
            line.send(Start(sys.argv[0], limit_s, self._kept, must_reload))
            while True:
                if line.poll(LOOK_S):
                    self._hear(line.recv())
                self._look_at_page()
        except (EOFError, ConnectionError):
            return

    def _hear(self, message: Message) -> None:
        if isinstance(message, tuple):
            self._rest, self._kept = message  # it may not have heard of new settings
            return
        if isinstance(message, bytes):
            self._kept = message
            self._must_reload &= not self._is_ready
            return
        if "READY" in message:
            self._is_ready = True
            self.open_page()
            if self._must_reload:
                self._pass_on(signal.SIGHUP)
        self._supervisor.tell(**message)

    def _look_at_page(self) -> None:
        if self._page is not None and (status := self._page.poll()) is not None:
            raise UsageError(
                "the search page", f"ended with status {status}", "its own message says why"
            )

    def _wait_for_work(self, rest: Rest) -> None:
        """Wait in place of the process that crawls."""
        from gossamer.flow.waiting import wait_until_due  # it takes 15 MB
        from gossamer.state.heartbeats import forget_wait
        from gossamer.storage.backends import open_backend
        from gossamer.storage.store import Store

        try:
            store = Store(open_backend(rest.crawl, is_known=True))
            wait_until_due(store, rest.version, rest.due_ms, self._is_woken, wall_ms)
        finally:
            forget_wait(rest.crawl)

    def _is_woken(self) -> bool:
        """Whether a signal ends a wait."""
        self._supervisor.tell(WATCHDOG="1")
        self._look_at_page()
        return bool(self._stops) or self._must_reload

    def _recover(self, why: str, wait_s: float) -> None:
        """Tell of a crash, and wait. Raises EngineError if no process has crawled yet."""
        if not self._kept:
            raise EngineError("the process that crawls", why, "run the command again")
        text = f"the process that crawls {why}; another one goes on in {wait_s:.0f} s"
        if self._as_json:
            echo_event("died", text)
        else:
            typer.echo(f"gossamer: {text}", err=True)
        self._supervisor.tell(STATUS=text)
        until_s = time.monotonic() + wait_s
        while not self._stops and (left_s := until_s - time.monotonic()) > 0:
            self._supervisor.tell(WATCHDOG="1")
            self._look_at_page()
            time.sleep(min(left_s, LOOK_S))

    def _stopped(self, status: int) -> int:
        """The exit code after a signal that asked for the end; raises KeyboardInterrupt.

        SIGTERM is how a crawl without end is meant to end, so its code is 0.
        """
        if status > 0 and status not in (CTRL_C, RENEW, LOST_WORKER):
            return status  # an error, which the process that crawled has reported
        if status == CTRL_C:  # it has said that it was stopped
            return 0 if self._is_terminated else status
        if not self._is_terminated:
            raise KeyboardInterrupt
        typer.echo(f"gossamer: {STOPPED}", err=True)
        return 0

    def _stop(self, number: int, _: object) -> None:
        self._stops += 1
        self._is_terminated |= number == signal.SIGTERM
        self._pass_on(WATCHED if self._stops <= PATIENCE else signal.SIGKILL)

    def _reload(self, *_: object) -> None:
        self._must_reload = True
        if self._is_ready:
            self._pass_on(signal.SIGHUP)

    def _pass_on(self, number: signal.Signals) -> None:
        if self._crawl is not None:
            self._crawl.send_signal(number)


def wall_ms() -> int:
    return int(1000 * time.time())


def next_wait_s(before_s: float, lived_s: float) -> float:
    """The wait after a process has died that lived `lived_s`, and that waited before it began."""
    shortest_s, longest_s = WAITS_S
    return shortest_s if lived_s >= longest_s else min(max(2 * before_s, shortest_s), longest_s)


def cause_of_death(status: int) -> str:
    """How a process ended that was killed by a signal, or lost a worker."""
    if status == LOST_WORKER:
        return "lost a worker"
    why = f"was killed by signal {-status} ({signal.Signals(-status).name})"
    if -status == signal.SIGKILL:
        why += ", as the kernel does when memory is short: lower engine.memory_gb or engine.workers"
    return why
