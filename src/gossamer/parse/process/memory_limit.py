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
import resource
import sys

MAX_MEMORY_BYTES = 1 << 30
"""What the process may add to what it has at its start."""
MAX_KEPT_BYTES = 1 << 28
"""Resident memory above which the process is ended after a page."""
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


def is_worth_ending(pid: int) -> bool:
    """Whether a child that has parsed a page keeps too much memory."""
    return resident_bytes(pid) > MAX_KEPT_BYTES


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
    with open(f"/proc/{process}/statm", "rb", buffering=0) as file:  # noqa: PTH123  # each page
        return int(file.read().split()[column]) * resource.getpagesize()
