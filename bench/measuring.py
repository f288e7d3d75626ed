"""CPU time and memory of this process and of those that it started."""

from __future__ import annotations

import ctypes
import os
import resource
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from typing import Self

PR_SET_CHILD_SUBREAPER = 36


def tree_cpu_s(without: int | None = None) -> float:
    """CPU seconds of this process and its descendants, including ended ones, but without one."""
    me = psutil.Process()
    return sum(
        sum(process.cpu_times()[:4])
        for process in (me, *me.children(recursive=True))
        if process.pid != without
    )


def children_s() -> float:
    """CPU seconds of the children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def adopt_orphans() -> None:
    """Adopt descendants whose parent ends, so that their CPU time is counted."""
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def reap_orphans(without: int) -> None:
    """Wait for the descendants that were adopted, so that their CPU time is counted."""
    orphans = [each for each in psutil.Process().children() if each.pid != without]
    for orphan in orphans:
        with suppress(ChildProcessError):
            os.waitpid(orphan.pid, 0)


class Peak(threading.Thread):
    """The most memory that this process and its children take: a context manager."""

    def __enter__(self) -> Self:
        self.bytes, self._ended = 0, threading.Event()
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.join()

    def run(self) -> None:
        this = psutil.Process()
        while not self._ended.wait(0.3):
            total = 0
            for process in (this, *this.children(recursive=True)):
                with suppress(psutil.NoSuchProcess):
                    total += process.memory_info().rss
            self.bytes = max(self.bytes, total)
