"""Components and the bow tie, beside their definitions by reachability."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import StoreError
from gossamer.links.bvgraph.files import CHUNK, BvGraph, Csr, GraphWriter
from gossamer.links.graph import components, row_windows
from gossamer.links.graph.components import REGIONS, bow_tie, graph_structure, strong_components
from gossamer.links.graph.overlay import Overlaid
from tests.support.bvgraph_files import write
from tests.support.native_loops import compiled_only

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import numpy.typing as npt

    from tests.support.bvgraph_files import Rows

NODES = 300_000


@st.composite
def graphs(draw: st.DrawFn) -> Rows:
    """Random graphs of all densities, in which chains and cycles are frequent."""
    nodes = draw(st.integers(1, 24))
    node = st.integers(0, nodes - 1)
    links = draw(st.sets(st.tuples(node, node), max_size=2 * nodes))
    for walk in draw(st.lists(st.lists(node, min_size=2, max_size=8), max_size=3)):
        links |= set(pairwise(walk))
    return [sorted(target for source, target in links if source == n) for n in range(nodes)]


def reachable(links: Rows) -> npt.NDArray[np.bool_]:
    """Whether a way of any length leads from one node to another (Warshall's algorithm)."""
    reached = np.eye(len(links), dtype=bool)
    for node, targets in enumerate(links):
        reached[node, targets] = True
    for via in range(len(links)):
        reached |= np.outer(reached[:, via], reached[via])
    return reached


def partition(numbers: npt.NDArray[np.signedinteger]) -> npt.NDArray[np.bool_]:
    """Which nodes are in the same component."""
    same: npt.NDArray[np.bool_] = numbers[:, None] == numbers
    return same


WINDOWS = st.sampled_from(["whole", "row by row"])


@contextmanager
def windows(kind: str) -> Iterator[None]:
    """All rows in one window, or each in its own, as in a graph that is too large for memory."""
    with pytest.MonkeyPatch.context() as patch:
        if kind != "whole":
            patch.setattr(row_windows, "MAX_RESIDENT", 0)
            patch.setattr(row_windows, "MAX_INT32", 0)
        yield


@given(graphs(), WINDOWS)
def test_components_are_those_of_the_definition(
    tmp_path_factory: pytest.TempPathFactory, links: Rows, kind: str
) -> None:
    graph = write(tmp_path_factory.mktemp("graph") / "web", links, chunk=7)
    reached = reachable(links)
    with windows(kind):
        strong, weak = strong_components(graph), components.weak_components(graph)
    assert np.array_equal(partition(strong.numbers), reached & reached.T)
    both = [sorted({*row, *np.flatnonzero(reached[:, node])}) for node, row in enumerate(links)]
    assert np.array_equal(partition(weak.numbers), reachable(both) & reachable(both).T)
    for found in (strong, weak):
        assert np.array_equal(found.sizes, np.bincount(found.numbers))
        assert found.sizes.min() > 0
    assert all(
        strong.numbers[node] >= strong.numbers[target]
        for node, targets in enumerate(links)
        for target in targets
    )


@given(graphs(), WINDOWS)
def test_the_bow_tie_is_that_of_the_definition(
    tmp_path_factory: pytest.TempPathFactory, links: Rows, kind: str
) -> None:
    graph = write(tmp_path_factory.mktemp("graph") / "web", links)
    reached = reachable(links)
    mutual = reached & reached.T
    core = mutual[np.argmax(mutual.sum(axis=1))]  # of several, the one with the smallest node
    inward = reached[:, core].any(axis=1) & ~core
    outward = reached[core].any(axis=0) & ~core
    hanging = ~(core | inward | outward)
    tubes = hanging & reached[inward].any(axis=0) & reached[:, outward].any(axis=1)
    both = [sorted({*row, *np.flatnonzero(reached[:, node])}) for node, row in enumerate(links)]
    weak = reachable(both)[core].any(axis=0)
    wanted = np.select(
        [core, inward, outward, tubes, weak],
        list(map(REGIONS.index, REGIONS[:-1])),
        len(REGIONS) - 1,
    )
    with windows(kind):
        assert np.array_equal(bow_tie(graph), wanted)
        found = graph_structure(graph)
    assert list(found.bow_tie.values()) == np.bincount(wanted, minlength=len(REGIONS)).tolist()
    assert (found.strong_components, found.largest_strong) == (
        len({tuple(row) for row in mutual.tolist()}),
        core.sum(),
    )
    assert found.largest_weak >= weak.sum()


def test_each_region_has_its_node(tmp_path: Path) -> None:
    core, inward, outward = [1, 2], [0], [3]
    links = [[1, 4, 6], [2], [1, 3], [], [3], [3], [], [], [6]]
    assert core != inward != outward
    regions = [REGIONS[number] for number in bow_tie(write(tmp_path / "web", links)).tolist()]
    assert regions == [
        *("in", "core", "core", "out", "tubes", "tendrils", "tendrils", "disconnected", "tendrils"),
    ]


def long(base: Path, targets: npt.NDArray[np.int64]) -> BvGraph:
    """A graph in which each node has at most one successor; -1: none."""
    writer = GraphWriter(base)
    for first in range(0, targets.size, CHUNK):
        some = targets[first : first + CHUNK]
        starts = np.concatenate([[0], np.cumsum(some >= 0)])
        writer.append(Csr(starts, some[some >= 0]))
    writer.close()
    return BvGraph(base)


@compiled_only
def test_a_deep_graph_needs_no_recursion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_windows, "MAX_RESIDENT", NODES)
    order = np.random.default_rng(1).permutation(NODES)
    following = np.empty(NODES, np.int64)
    following[order] = np.roll(order, -1)
    assert graph_structure(long(tmp_path / "cycle", following))[:4] == (1, NODES, 1, NODES)
    following[order[-1]] = -1
    found = graph_structure(long(tmp_path / "chain", following))
    assert found[:4] == (NODES, 1, 1, NODES)
    place = int(np.argmax(order == 0))  # the core is the smallest node
    assert found.bow_tie == {
        **dict.fromkeys(REGIONS, 0),
        "core": 1,
        "in": place,
        "out": NODES - 1 - place,
    }


def test_the_removal_of_a_link_that_is_not_there_is_found(tmp_path: Path) -> None:
    removed = np.array([[0], [~0]])
    with pytest.raises(StoreError, match="changes"):
        strong_components(Overlaid(write(tmp_path / "web", [[1], [0]]), removed, 2))


def test_an_empty_graph_has_no_components(tmp_path: Path) -> None:
    graph = write(tmp_path / "web", [])
    assert graph_structure(graph) == (0, 0, 0, 0, dict.fromkeys(REGIONS, 0))
    assert bow_tie(graph).size == 0
