"""The changes of rows of a graph, beside their definition by sets of arcs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gossamer.links.graph.graph_changes import (
    is_among,
    renumber_changes,
    row_changes,
    sort_unique,
)
from tests.support.bvgraph_files import write

if TYPE_CHECKING:
    import pytest

    from gossamer.links.graph.overlay import Changes

NODES, MORE = 6, 9
ARCS = st.sets(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1)), max_size=20)
NEW_ARCS = st.lists(st.tuples(st.integers(0, MORE - 1), st.integers(0, MORE - 1)), max_size=20)


def pairs(changes: Changes) -> list[tuple[int, int]]:
    return [(source, target) for source, target in changes.T.tolist()]


@given(ARCS, NEW_ARCS, st.sets(st.integers(0, MORE - 1)))
def test_rows_change_to_those_that_pages_have_now(
    tmp_path_factory: pytest.TempPathFactory,
    before: set[tuple[int, int]],
    now: list[tuple[int, int]],
    touched: set[int],
) -> None:
    """Links may be found several times; pages from NODES on are new."""
    rows = [sorted(dst for src, dst in before if src == node) for node in range(NODES)]
    graph = write(tmp_path_factory.mktemp("graph") / "web", rows)
    arcs = [arc for arc in now if arc[0] in touched]
    ends = np.array(arcs, np.int64).reshape(-1, 2).T
    found = pairs(row_changes(graph, np.array(sorted(touched), np.int64), *ends))
    old = {arc for arc in before if arc[0] in touched}
    assert sorted(found) == sorted(
        [*({*arcs} - old), *((source, ~target) for source, target in old - {*arcs})]
    )


@given(st.lists(st.integers(0, 9)), st.sets(st.integers(0, 9)))
def test_numbers_among_others(numbers: list[int], others: set[int]) -> None:
    listed = np.array(numbers, np.int64)
    assert sort_unique(listed).tolist() == sorted(set(numbers))
    ascending = np.array(sorted(others), np.int64)
    assert is_among(listed, ascending).tolist() == [number in others for number in numbers]


def test_nodes_from_the_first_on_get_other_numbers() -> None:
    changes = np.array([[0, 1, 5, 7], [7, ~2, ~9, 4]])
    found = renumber_changes(changes, 5, np.array([5, 7, 9]), np.array([6, 5, 8]))
    assert pairs(found) == [(0, 5), (1, ~2), (5, 4), (6, ~8)]
