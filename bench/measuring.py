"""CPU time and memory of this process and of all processes that it started."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import psutil

if TYPE_CHECKING:
    from typing import Self


def tree_cpu_s(without: int | None = None) -> float:
    """CPU seconds of this process and its descendants, including ended ones, but without one."""
    me = psutil.Process()
    return sum(
        sum(process.cpu_times()[:4])
        for process in (me, *me.children(recursive=True))
        if process.pid != without
    )


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
                try:
                    total += process.memory_info().rss
                except psutil.NoSuchProcess:
                    continue
            self.bytes = max(self.bytes, total)
