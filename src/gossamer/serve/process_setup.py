"""What a process that answers many requests sets up: open files, and the garbage collector."""

from __future__ import annotations

import gc
import resource
from contextlib import suppress


def raise_file_limit() -> int:
    """Raise the soft limit of open files (RLIMIT_NOFILE) to the hard one, and return it.

    It is often 1,024 at first. See getrlimit(2).
    """
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # some systems allow less than the hard limit they report
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return soft


def exempt_present_objects() -> None:
    """Exclude all objects that exist now from garbage collection, after a last full pass.

    A full pass visits every object that may be part of a cycle, and the event loop stands still
    until it is done.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()
