"""Processes on this machine that answer for the whole index: started, watched, and started again.

Each listens on a socket in a folder that only this user may enter, and ends when its standard input
does: when its parent is gone, however that died.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from gossamer.serve.cluster.replica import UNIX

if TYPE_CHECKING:
    from typing import Self

    from gossamer.workspace import Workspace

PAUSE_S = 0.5
"""Before a process that ended is started again."""
END_S = 5
_CODE = "import sys; sys.path[:] = {path!r}; from gossamer.serve.cluster.child import main; main()"


class Children:
    """So many processes, from `with` to its end."""

    def __init__(self, work: Workspace, processes: int) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="gossamer-"))
        self._root = work.root
        self._sockets = [self._folder / f"{number}" for number in range(processes)]
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
        for child in list(self._running.values()):
            if child.stdin is not None:
                child.stdin.close()
        for watcher in self._watchers:
            watcher.join(END_S)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        code = _CODE.format(path=sys.path)
        self._running[path] = subprocess.Popen(  # noqa: S603  # our own interpreter and module
            [sys.executable, "-c", code, self._root, str(path)],
            stdin=subprocess.PIPE,
        )

    def _watch(self, path: Path) -> None:
        while True:
            child = self._running[path]
            child.wait()
            if child.stdin is not None:
                child.stdin.close()
            if self._ended.wait(PAUSE_S):
                return
            self._start(path)
