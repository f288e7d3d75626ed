"""Imports without garbage collection.

Fact (Python 3.11): hundreds of thousands of objects are created while modules are imported, and
hardly any of them die. The collector looks at them again and again, which takes 11 % of the time
until a crawl starts, and later whenever it looks at all objects.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def without_collections() -> Iterator[None]:
    """Do not collect garbage in the block, and never look again at what exists at its end.

    For programs: garbage of a caller would stay for ever.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
