"""What both forms of the step return."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from gossamer.store import Layer


class Ranking(NamedTuple):
    """The ranks that were written, and how they came about."""

    layers: tuple[Layer, ...]
    nodes: int
    iterations: int
