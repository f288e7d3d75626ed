"""Keeps the garbage collector's full passes short in a process that answers requests.

A full pass visits every object that may be part of a cycle, and the event loop stands still until
it is done.
"""

from __future__ import annotations

import gc


def exempt_present_objects() -> None:
    """Exclude all objects that exist now from further passes, after a last one over all of them."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
