"""What both forms of the step return."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pyarrow as pa

    from gossamer.store import Layer


class Ranking(NamedTuple):
    """The ranks that were written, and how they came about."""

    layers: tuple[Layer, ...]
    nodes: int
    iterations: int
    remembered: tuple[Layer, ...] = ()
    """What the next run recalls of pages (`remembered.py`)."""
    fetched_hosts: pa.LargeStringArray | None = None
    """The hosts that have fetched pages, some of them more than once; None if that is unknown."""
