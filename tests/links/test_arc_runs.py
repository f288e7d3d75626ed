"""Runs of sorted arcs, and the ranges of nodes that tasks encode."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from gossamer.links.bvgraph.files import CHUNK
from gossamer.links.graph.arc_rows import rows_of_sorted_arcs
from gossamer.links.graph.arc_runs import FORWARD, ArcRun, range_bounds, write_run

if TYPE_CHECKING:
    from pathlib import Path


def run(folder: Path, number: int, arcs: list[int]) -> ArcRun:
    """A run with so many arcs from the first node of each chunk."""
    sources = np.repeat(np.arange(len(arcs)) * CHUNK, arcs)
    targets = np.concatenate([np.arange(count) for count in arcs])
    row = write_run(str(folder), "attempt", FORWARD, number, rows_of_sorted_arcs(sources, targets))
    return ArcRun(f"{folder}/{row['path']}")


@pytest.mark.parametrize(
    ("arcs", "bounds"),
    [
        ([], []),
        ([4], []),
        ([9], []),
        ([2, 2, 1], [2]),
        ([9, 1, 3, 1], [1, 3]),
        ([0, 3, 1, 9, 1], [3, 4]),
        ([0, 0, 9, 9], [2, 3]),
    ],
)
def test_a_range_has_as_many_chunks_as_have_few_arcs_and_at_least_one(
    arcs: list[int], bounds: list[int], tmp_path: Path
) -> None:
    halves = [[count // 2 for count in arcs], [count - count // 2 for count in arcs]]
    runs = [run(tmp_path, number, half) for number, half in enumerate(halves) if half]
    nodes = len(arcs) * CHUNK
    assert range_bounds(runs, nodes, most=4) == [CHUNK * bound for bound in bounds]
