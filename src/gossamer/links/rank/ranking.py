"""What both forms of the step return."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

    from gossamer.storage.store import Layer


class Written(NamedTuple):
    """Layers of ranks; of pages, also what the next run recalls, and the sizes of their hosts.

    See previous_run.py and page_ranks.py.
    """

    ranks: tuple[Layer, ...]
    remembered: tuple[Layer, ...] = ()
    sizes: tuple[Layer, ...] = ()


class Ranking(NamedTuple):
    """Ranks, and how they came about."""

    write: Callable[[], Written]
    """Writes them; in a thread, too."""
    nodes: int
    iterations: int
    fetched_hosts: pa.LargeStringArray | None = None
    """The hosts that have fetched pages, some of them more than once; None if that is unknown."""
