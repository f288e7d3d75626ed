"""Processes on this machine that answer for the whole index: started, watched, and started again.

Each listens on a socket in a folder that only this user may enter, and ends when its standard input
does: a pipe to all of them, which ends with this process, however that dies.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.serve.cluster.replica import UNIX

if TYPE_CHECKING:
    from typing import Self

    from gossamer.workspace import Workspace

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.5, 8.0
"""Before a process that ended is started again; twice as long each time that it ends at once."""
AT_ONCE_S = 10.0
END_S = 5
MAX_FOLDER_BYTES = 80
"""A socket's whole path has 107 at most (unix(7), sun_path)."""
_CODE = "import sys; sys.path[:] = {path!r}; from gossamer.serve.cluster.child import main; main()"
_log = logging.getLogger(__name__)


class Children:
    """So many processes, from `with` to its end."""

    def __init__(self, work: Workspace, processes: int) -> None:
        self._root = work.root
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
        for path in self._sockets:
            self._start(path)
            watcher = threading.Thread(target=self._watch, args=[path], daemon=True)
            watcher.start()
            self._watchers.append(watcher)
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        os.close(self._end)  # one that is being started just now, too, ends then
        for watcher in self._watchers:
            watcher.join(END_S)
        os.close(self._input)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        code = _CODE.format(path=sys.path)
        self._running[path] = subprocess.Popen(  # noqa: S603  # our own interpreter and module
            [sys.executable, "-c", code, self._root, str(path)],
            stdin=self._input,
            process_group=0,  # Ctrl-C is for this process alone
        )

    def _watch(self, path: Path) -> None:
        pause_s = 0.0
        while True:
            started_s = time.monotonic()
            status = self._running[path].wait()
            pause_s = next_pause_s(pause_s, time.monotonic() - started_s)
            if self._ended.wait(pause_s):
                return
            _log.warning("a process that searches ended (status %d) and is started again", status)
            self._start(path)


def next_pause_s(before_s: float, lived_s: float) -> float:
    """Until a process is started again that lived so long, after the pause before."""
    if lived_s >= AT_ONCE_S:
        return FIRST_PAUSE_S
    return min(max(2 * before_s, FIRST_PAUSE_S), LONGEST_PAUSE_S)


def _folder() -> Path:
    """A new one for sockets; in /tmp where that for temporary files has too long a name."""
    usual = len(os.fsencode(tempfile.gettempdir())) <= MAX_FOLDER_BYTES
    return Path(tempfile.mkdtemp(prefix="gossamer-", dir=None if usual else "/tmp"))  # noqa: S108
