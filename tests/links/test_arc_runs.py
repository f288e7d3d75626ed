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
    rows = rows_of_sorted_arcs(sources, targets, np.arange(sources.size))
    row = write_run(str(folder), "attempt", FORWARD, number, rows)
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


@pytest.mark.parametrize(("first", "last"), [(0, 9), (1, 3), (2, 3), (3, 4), (4, 9)])
@pytest.mark.parametrize("arcs", [[2, 0, 3, 1], [0, 1], [1, 0, 0, 0, 2]])
def test_a_part_of_a_run_has_the_rows_of_its_nodes(
    arcs: list[int], first: int, last: int, tmp_path: Path
) -> None:
    found = run(tmp_path, 0, arcs).part(first * CHUNK, last * CHUNK - 1)
    within = [node for node in range(first, min(last, len(arcs))) if arcs[node]]
    assert found.sources.tolist() == [node * CHUNK for node in within]
    assert np.diff(found.starts).tolist() == [arcs[node] for node in within]
    assert found.targets.tolist() == [n for node in within for n in range(arcs[node])]
    before = sum(arcs[:first])
    assert found.links.tolist() == [*range(before, before + found.targets.size)]


@pytest.mark.parametrize(("node", "arcs"), [(0, 0), (1, 2), (2, 2), (3, 5), (9, 6)])
def test_arcs_before_a_node_are_counted(node: int, arcs: int, tmp_path: Path) -> None:
    counts = run(tmp_path, 0, [2, 0, 3, 1]).arcs_before(np.array([node * CHUNK]))
    assert counts.tolist() == [arcs]
