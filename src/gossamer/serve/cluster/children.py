"""Starts, watches and restarts search processes on this machine, each with the whole index.

Each listens on a socket in a folder that only this user may enter. It ends at the end of its
standard input, a pipe that all of them share, or when this process dies (processes.py).
"""

from __future__ import annotations

import logging
import os
import shutil
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from gossamer.engine.processes import start_python
from gossamer.serve.cluster.replica import UNIX

if TYPE_CHECKING:
    import subprocess
    from typing import Self

    from gossamer.state.workspace import Workspace

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 8.0
"""The pause before a process is restarted. It doubles each time a process ends within AT_ONCE_S."""
AT_ONCE_S = 10.0
END_S = 5
MAX_FOLDER_BYTES = 80
"""The whole path of a socket may have 107 bytes on Linux, and 103 on macOS (sun_path)."""
WHOLE_FILES = "whole"
"""A file beside the sockets: lists the index files whose checksums this process has verified, so
that the search processes need not read them again."""
_CODE = "from gossamer.serve.cluster.child import main; main()"
_log = logging.getLogger(__name__)


class Children:
    """The given number of search processes, which run for the duration of a `with` block."""

    def __init__(self, work: Workspace, processes: int) -> None:
        self._work = work
        self._folder = _folder()
        self._sockets = [self._folder / f"{number}" for number in range(processes)]
        self._input, self._end = os.pipe()
        self._ended = threading.Event()
        self._running: dict[Path, subprocess.Popen[bytes]] = {}
        self._watchers: list[threading.Thread] = []

    @property
    def addresses(self) -> list[str]:
        return [f"{UNIX}{path}" for path in self._sockets]

    @property
    def pids(self) -> list[int]:
        return [child.pid for child in self._running.values()]

    def __enter__(self) -> Self:
        # Verified here once for all of them; a process verifies files of a newer index itself.
        whole = [*self._work.store.whole("index"), *self._work.store.whole("vectors")]
        (self._folder / WHOLE_FILES).write_bytes(msgspec.json.encode(whole))
        for path in self._sockets:
            self._start(path)
            watcher = threading.Thread(target=self._watch, args=[path], daemon=True)
            watcher.start()
            self._watchers.append(watcher)
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        os.close(self._end)  # this also ends a process that is just being started
        for watcher in self._watchers:
            watcher.join(END_S)
        os.close(self._input)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self._running[path] = start_python(
            _CODE,
            [self._work.root, str(path)],
            signal.SIGTERM,
            stdin=self._input,
            process_group=0,  # Ctrl-C must reach only this process
        )

    def _watch(self, path: Path) -> None:
        pause_s = 0.0
        while True:
            started_s = time.monotonic()
            status = self._running[path].wait()
            pause_s = next_pause_s(pause_s, time.monotonic() - started_s)
            if self._ended.wait(pause_s):
                return
            _log.warning("a search process ended (status %d); starting another", status)
            try:
                self._start(path)
            except OSError as error:  # the pause grows: the old process counts as ended at once
                _log.warning("a search process cannot be started: %s", error)


def next_pause_s(before_s: float, lived_s: float) -> float:
    """The pause before a restart, given the previous pause and how long the process lived."""
    if lived_s >= AT_ONCE_S:
        return FIRST_PAUSE_S
    return min(max(2 * before_s, FIRST_PAUSE_S), LONGEST_PAUSE_S)


def _folder() -> Path:
    """Create a folder for the sockets; in /tmp if the usual temporary folder has a long path."""
    usual = len(os.fsencode(tempfile.gettempdir())) <= MAX_FOLDER_BYTES
    return Path(tempfile.mkdtemp(prefix="gossamer-", dir=None if usual else "/tmp"))  # noqa: S108
