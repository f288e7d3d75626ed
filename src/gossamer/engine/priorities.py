"""Which work gives way to searches, for which users wait?

That of worker processes, and of the batch engine, whose threads belong to the process that uses it.
On Linux, nice(2) applies to a thread and those that it starts (sched(7)). On other systems it
applies to the whole process, so there the engine's threads keep its priority.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Result = TypeVar("Result")

NICE = 10
"""Priority of workers and of the engine's threads. If a process of normal priority (0) needs the
same core, it gets 90 %."""


def call_at_low_priority(call: Callable[[], Result]) -> Result:
    """Call a function in a thread with the priority of workers, which threads it starts inherit."""
    if sys.platform != "linux":
        return call()

    def lowered() -> Result:
        lower_priority()
        return call()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(lowered).result()


def lower_priority() -> None:
    """Give a process, or on Linux this thread, the priority NICE, unless it has a lower one."""
    os.nice(max(NICE - os.nice(0), 0))
