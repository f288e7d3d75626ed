"""Stopping a running step early, on any engine: a file in the crawl folder.

Tasks run in other processes, maybe on other machines, and share only the crawl folder. While
`stop_on_signals` is open, the first SIGINT (Ctrl-C) or SIGTERM creates the file, and the step then
ends in order. The second signal has its usual effect.

Ctrl-C reaches every process of a terminal's job, and the end of a service may reach all of its
processes. A process that is watched over by its parent (`leave_to_parent`) would get the signal a
second time when the parent passes it on. So it heeds only WATCHED, which only the parent sends.
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gossamer.storage import opening

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)
CTRL_C, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM
"""Exit codes of commands that a signal has stopped: as shells report it."""
WATCHED = signal.SIGUSR1
"""The signal by which a parent stops the process that it watches over."""


def leave_to_parent() -> None:
    """Let only the parent stop this process from now on. SIGHUP is ignored until it is handled."""
    for number in (*SIGNALS, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


def obey_parent() -> None:
    """Treat WATCHED as other processes treat Ctrl-C. Until now it has killed this process."""
    signal.signal(WATCHED, signal.default_int_handler)


def requested(root: str) -> bool:
    """Whether the tasks of a crawl should end."""
    return opening.exists_lately(_flag(root))


def request(root: str) -> None:
    """Ask the running step to end."""
    opening.touch(_flag(root))


def take_back(root: str) -> None:
    """Forget what was asked of a step that has ended."""
    opening.remove(_flag(root))


def heed_nobody() -> None:
    """Ignore WATCHED too, in a process that is about to end: it would interrupt that."""
    signal.signal(WATCHED, signal.SIG_IGN)


class Signals:
    """The signals that arrived while `stop_on_signals` was open."""

    def __init__(self) -> None:
        self.aborted = False
        self.exit_code = CTRL_C
        """That of a command that the first signal has stopped."""

    def check(self) -> None:
        """Raise KeyboardInterrupt if the second signal came but its exception was swallowed.

        The signal raises it in whatever code is running, and some libraries ignore exceptions.
        """
        if self.aborted:
            raise KeyboardInterrupt


@contextmanager
def stop_on_signals(root: str) -> Iterator[Signals]:
    """While open, signals ask the step to end; does nothing outside of the main thread.

    Only the main thread can handle signals.
    """
    signals = Signals()
    take_back(root)  # left by a process that died
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return

    def first(asked: int, _frame: FrameType | None) -> None:
        if asked == signal.SIGTERM:
            signals.exit_code = TERMINATED
        for number in before:
            signal.signal(number, second)
        request(root)

    def second(number: int, _frame: FrameType | None) -> None:
        signals.aborted = True
        restore()
        signal.raise_signal(number)

    before = {number: signal.signal(number, first) for number in _watched_signals()}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    try:
        yield signals
    finally:
        restore()


def _watched_signals() -> tuple[signal.Signals, ...]:
    watched = signal.getsignal(WATCHED) is signal.default_int_handler
    return (WATCHED,) if watched else SIGNALS


def _flag(root: str) -> str:
    return f"{root}/.stop"
