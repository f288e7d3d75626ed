"""Graphs in files, from lists of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gossamer.links.bvgraph import ORIGINAL, Shape
from gossamer.links.bvgraph.files import BvGraph, Csr, GraphWriter

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    Rows = Sequence[Sequence[int]]


def csr(rows: Rows) -> Csr:
    starts = np.cumsum([0, *map(len, rows)])
    return Csr(starts, np.array([target for row in rows for target in row], np.int64))


def write(base: Path, rows: Rows, shape: Shape = ORIGINAL, chunk: int = 1_000) -> BvGraph:
    writer = GraphWriter(base, shape)
    for first in range(0, len(rows), chunk):
        writer.append(csr(rows[first : first + chunk]))
    writer.close()
    return BvGraph(base)
