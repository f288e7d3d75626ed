"""The limit of address space, `ulimit -v`: refused where libraries would end the process instead.

Facts
  * Native libraries reserve far more address space than they use: the embedded engine's allocator
    by the gigabyte, OpenBLAS a buffer and every thread a stack of 8 MB. A crawl that uses 500 MB of
    memory has 3 to 5 GB of addresses.
  * Where they get none, some abort, some exit and some raise whatever they raise, so nothing that
    runs later could report it well.
"""

from __future__ import annotations

import resource

from gossamer.errors import EngineError

GB = 10**9
COMMAND_BYTES = 2 * GB
"""What a command without an engine needs."""
ENGINE_BYTES = 6 * GB
"""What a process with the embedded engine needs, besides the memory that the settings grant it."""


def require_address_space(needed_bytes: int) -> None:
    """Raise EngineError if this process may have less address space."""
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most == resource.RLIM_INFINITY or most >= needed_bytes:
        return
    raise EngineError(
        "ulimit -v",
        f"allows {most / GB:.1f} GB of address space, and {needed_bytes / GB:.0f} GB are needed, "
        "most of them only reserved",
        "lift it (ulimit -v unlimited), and limit memory itself: engine.memory_gb, or MemoryMax of "
        "systemd",
    )
