"""Stopping a running step early, on any engine: a file in the crawl folder.

Tasks run in other processes, maybe on other machines, and share only the crawl folder. While
`on_signals` is open, the first SIGINT (Ctrl-C) or SIGTERM creates the file, and the step then ends
in order. The second signal has its usual effect.
"""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM)


def asked(root: str) -> bool:
    """Whether the tasks of a crawl should end."""
    return os.path.exists(_flag(root))  # noqa: PTH110  # every task calls this twice a second


def ask(root: str) -> None:
    """Ask the running step to end."""
    _flag(root).touch()


class Signals:
    """The signals that arrived while `on_signals` was open."""

    def __init__(self) -> None:
        self.aborted = False

    def check(self) -> None:
        """Raise KeyboardInterrupt if the second signal came but its exception was swallowed.

        The signal raises it in whatever code is running, and some libraries ignore exceptions.
        """
        if self.aborted:
            raise KeyboardInterrupt


@contextmanager
def on_signals(root: str) -> Iterator[Signals]:
    """While open, signals ask the step to end; does nothing outside of the main thread.

    Only the main thread can handle signals.
    """
    signals = Signals()
    _flag(root).unlink(missing_ok=True)  # left by a process that died
    if threading.current_thread() is not threading.main_thread():
        yield signals
        return

    def first(_number: int, _frame: FrameType | None) -> None:
        for number in SIGNALS:
            signal.signal(number, second)
        ask(root)

    def second(number: int, _frame: FrameType | None) -> None:
        signals.aborted = True
        restore()
        signal.raise_signal(number)

    before = {number: signal.signal(number, first) for number in SIGNALS}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    try:
        yield signals
    finally:
        restore()


def _flag(root: str) -> Path:
    return Path(root, ".stop")
