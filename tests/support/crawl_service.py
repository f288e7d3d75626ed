"""`gossamer crawl --forever` as a service: a process of its own, and its reports."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import psutil

from gossamer.state.stopping import CTRL_C
from tests.support.systemd_socket import LONGEST_S

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from typing import Self

PROGRAM = """
from gossamer.cli import main, supervisor as renewal
renewal.CRAWL, renewal.WAITS_S = {first!r} + renewal.CRAWL, (0, 0)
{before}main()
"""


class Service:
    """`gossamer crawl --forever --json`. A context manager that kills it."""

    def __init__(
        self,
        folder: Path,
        first: str = "",
        options: Sequence[str] = (),
        before: str = "",
        **environment: str,
    ) -> None:
        """What each process that crawls does `first`, and the other one `before`, in Python."""
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-c", PROGRAM.format(first=first, before=before)),
                *("crawl", str(folder), "http://a.test/", "--forever", "--json", *options),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            process_group=0,
            env={**os.environ, **environment},
        )
        assert self.process.stdout is not None
        self._lines = map(json.loads, self.process.stdout)
        self._timer = self._new_timer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._timer.cancel()
        self.process.kill()
        self.process.communicate()

    def _new_timer(self) -> threading.Timer:
        """Kills it if it prints no line for a long time: a line is awaited for ever."""
        timer = threading.Timer(LONGEST_S, self.process.kill)
        timer.start()
        return timer

    def until(self, **fields: object) -> list[dict[str, Any]]:
        """Read lines up to the first one that has these fields."""
        read: list[dict[str, Any]] = []
        for line in self._lines:
            self._timer.cancel()
            self._timer = self._new_timer()
            read.append(line)
            if line.items() >= fields.items():
                return read
        _, errors = self.process.communicate()
        raise AssertionError(f"it ended with {self.process.returncode} after {read[-3:]}: {errors}")

    def crawling(self) -> psutil.Process:
        """The process that crawls now."""
        (process,) = psutil.Process(self.process.pid).children()
        return process

    def end(self, number: signal.Signals = signal.SIGTERM) -> str:
        """Stop it in order; return what it has written to standard error."""
        self.process.send_signal(number)
        _, errors = self.process.communicate()
        assert self.process.returncode == (0 if number == signal.SIGTERM else CTRL_C), errors
        assert "Traceback" not in errors
        assert errors.count("gossamer: ") == 1
        assert "stopped; all committed steps are kept" in errors or "was stopped" in errors
        return errors
