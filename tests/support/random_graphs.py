"""Random graphs for hypothesis, and shapes of their files."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from gossamer.links.bvgraph import Shape

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.links.bvgraph.files import BvGraph
    from tests.support.bvgraph_files import Rows

SHAPES = st.builds(
    Shape,
    window=st.integers(0, 9),
    max_references=st.integers(0, 4),
    min_interval=st.sampled_from([0, 2, 4, 7]),
    zeta=st.integers(1, 6),
)


@st.composite
def graphs(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Rows:
    """Rows that resemble those before them, with runs, gaps and empty ones."""
    nodes = draw(st.integers(0, 40))
    rows: list[list[int]] = []
    for _ in range(nodes):
        some = draw(st.sets(st.integers(0, nodes - 1), max_size=6))
        if rows and draw(st.booleans()):
            some |= set(draw(st.sampled_from(rows[-9:])))
        if draw(st.booleans()):
            start = draw(st.integers(0, nodes - 1))
            some |= set(range(start, min(start + draw(st.integers(1, 12)), nodes)))
        if draw(st.integers(0, 4)) == 0:
            some = set()
        rows.append(sorted(some))
    return rows


def rows_of(graph: BvGraph, count: int = 1_000) -> Rows:
    rows: list[list[int]] = []
    for starts, targets in graph.rows(count):
        rows += [targets[start:end].tolist() for start, end in pairwise(starts)]
    return rows
