"""CPU time and memory of this process and of those that it started."""

from __future__ import annotations

import ctypes
import os
import resource
import subprocess
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import psutil

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

PR_SET_CHILD_SUBREAPER = 36
BLOCK_BYTES = 512
FIRST_SAMPLE_S, SAMPLE_S = 0.02, 0.5
"""Pauses between samples of memory grow, so that short runs have some, too. The kernel takes 5 ms
for the PSS of 300 MB: many samples would slow large crawlers down more than small ones."""


class Usage(NamedTuple):
    """What a command used, with all processes that it started."""

    wall_s: float
    cpu_s: float
    memory_bytes: float
    """The most at once, as the sum of PSS: memory that processes share counts once."""
    written_bytes: float
    """What went to files, in whole pages of memory, whether a disk has it already or not."""


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


def run_measured(command: Sequence[str], without: int) -> Usage:
    """Run a command to its end, and measure all descendants of this process except one.

    Needs `adopt_orphans`. Raises CalledProcessError if the command fails.
    """
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began_s, memory_bytes, pause_s = time.perf_counter(), 0, FIRST_SAMPLE_S
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            memory_bytes = max(memory_bytes, pss_bytes(without))
            with suppress(subprocess.TimeoutExpired):
                process.wait(pause_s)
            pause_s = min(1.2 * pause_s, SAMPLE_S)
    wall_s = time.perf_counter() - began_s
    reap_orphans(without)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Usage(
        wall_s,
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        memory_bytes,
        (after.ru_oublock - before.ru_oublock) * BLOCK_BYTES,
    )


def pss_bytes(without: int) -> int:
    """PSS of all descendants of this process except one."""
    total = 0
    for process in psutil.Process().children(recursive=True):
        if process.pid != without:
            with suppress(psutil.NoSuchProcess):
                total += process.memory_full_info().pss
    return total
