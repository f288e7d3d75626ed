"""How a running step is asked to end early, on any engine: a file in the crawl folder.

Tasks run in other processes, maybe on other machines, and see the crawl folder alone. While
`on_signals` is open, the first SIGINT (Ctrl-C) or SIGTERM makes the file, and the step ends of its
own accord; the second does what it would have done without us.
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
    """Whether the tasks of a crawl shall end."""
    return os.path.exists(_sign(root))  # noqa: PTH110  # asked twice a second by every task


def ask(root: str) -> None:
    """Ask the step that runs to end."""
    _sign(root).touch()


class Signals:
    """The signals that came while `on_signals` was open."""

    def __init__(self) -> None:
        self.aborted = False

    def check(self) -> None:
        """Raises KeyboardInterrupt where the second signal came and was lost.

        It is raised in whatever code it meets, and some libraries drop what is raised in theirs.
        """
        if self.aborted:
            raise KeyboardInterrupt


@contextmanager
def on_signals(root: str) -> Iterator[Signals]:
    """Within, signals ask the step to end. Only the main thread can be told of signals."""
    signals = Signals()
    _sign(root).unlink(missing_ok=True)  # of a process that died
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


def _sign(root: str) -> Path:
    return Path(root, "stop")
