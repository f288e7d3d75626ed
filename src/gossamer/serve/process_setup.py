"""What a process that answers many requests sets up: the garbage collector."""

from __future__ import annotations

import gc


def exempt_present_objects() -> None:
    """Exclude all objects that exist now from garbage collection, after a last full pass.

    A full pass visits every object that may be part of a cycle, and the event loop stands still
    until it is done.
    """
    gc.unfreeze()
    gc.collect()
    gc.freeze()
