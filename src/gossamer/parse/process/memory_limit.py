"""How much memory may the process take that parses pages?

Linux: the process limits its address space (RLIMIT_AS). The kernel refuses it more, so its page
fails, and nothing has to watch it.

macOS does not enforce this limit. So elsewhere, the parent looks at the child's resident memory
every LOOK_S while it waits for the answer, and kills a child that has too much. Between two looks,
a page may take a few hundred megabytes more. What the system has compressed or swapped out is not
seen, so a machine that is short of memory allows more.

In both cases, a child that stays large is ended after its page, because malloc rarely returns the
fragments that a greedy page leaves.
"""

from __future__ import annotations

import math
import os
import resource
import sys

MAX_MEMORY_BYTES = 1 << 30
"""What the process may add to what it has at its start."""
MAX_KEPT_BYTES = 1 << 28
"""Resident memory above which the process is ended after a page."""
STATM_BYTES = 256
"""More than seven numbers take."""
LOOK_S = 0.05
"""Seconds between two looks at a process that limits nothing itself."""


def limit_own_memory() -> None:
    """Limit the memory of this process, if the kernel does so."""
    if sys.platform == "linux":
        limit_resource(resource.RLIMIT_AS, _size_bytes("self", 0) + MAX_MEMORY_BYTES)


def look_s() -> float:
    """How often the parent must look at the memory of its child; infinity: never."""
    return math.inf if sys.platform == "linux" else LOOK_S


def is_too_large(pid: int) -> bool:
    """Whether a child that is parsing a page has more memory than it may have."""
    return resident_bytes(pid) > MAX_KEPT_BYTES + MAX_MEMORY_BYTES


class KeptMemory:
    """What a child keeps, looked at after each of its pages.

    On Linux, its file in /proc stays open: to open it takes ten times as long as to read it.
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._statm = (
            os.open(f"/proc/{pid}/statm", os.O_RDONLY) if sys.platform == "linux" else None
        )

    def is_too_much(self) -> bool:
        """Whether the child is worth ending."""
        if self._statm is None:
            return resident_bytes(self._pid) > MAX_KEPT_BYTES
        return _size_of(os.pread(self._statm, STATM_BYTES, 0), 1) > MAX_KEPT_BYTES

    def close(self) -> None:
        if self._statm is not None:
            os.close(self._statm)


def resident_bytes(pid: int) -> int:
    """Return the resident memory of a process; 0 if it has ended but was not waited for."""
    if sys.platform == "linux":
        return _size_bytes(str(pid), 1)
    import psutil  # takes long to import

    try:
        resident: int = psutil.Process(pid).memory_info().rss
    except psutil.NoSuchProcess:
        return 0
    return resident


def limit_resource(what: int, most: int) -> None:
    """Set the soft limit of a resource, or the hard limit if that is lower."""
    _, hard = resource.getrlimit(what)
    resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def _size_bytes(process: str, column: int) -> int:
    """Return a column of statm (proc(5)) in bytes: 0 is the address space, 1 its resident part.

    Other than psutil's, this look costs nothing beside a page.
    """
    with open(f"/proc/{process}/statm", "rb", buffering=0) as file:  # noqa: PTH123  # no buffer
        return _size_of(file.read(), column)


def _size_of(statm: bytes, column: int) -> int:
    return int(statm.split()[column]) * resource.getpagesize()
