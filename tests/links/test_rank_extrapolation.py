"""Extrapolation of PageRank: beside a solution of a linear system, and beside plain iterations."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gossamer.config import RankConfig
from gossamer.links.rank.extrapolation import KEPT, ExtrapolationCycle, extrapolation_weights
from gossamer.links.rank.power import error_bound, fixed_point, share_votes
from gossamer.links.rank.vote_rows import SpanThreads, Votes
from tests.support.bvgraph_files import write
from tests.support.networkx_graphs import SHAPES

if TYPE_CHECKING:
    from pathlib import Path

DAMPING = 0.9


def test_the_weights_solve_a_system_of_as_many_unknowns_as_there_are_differences() -> None:
    random = np.random.default_rng(1)
    matrix, given_ = random.random((KEPT - 1, KEPT - 1)) / KEPT, random.random(KEPT - 1)
    ranks = [given_]
    for _ in range(KEPT):
        ranks.insert(0, matrix @ ranks[0] + given_)
    changes = np.array([newer - older for newer, older in pairwise(ranks)])
    found = extrapolation_weights(changes @ changes.T)
    solved = np.linalg.solve(np.eye(KEPT - 1) - matrix, given_)
    assert found.sum() == pytest.approx(1)
    assert found @ np.array(ranks[:KEPT]) == pytest.approx(solved, rel=1e-6)
    assert ranks[0] != pytest.approx(solved, rel=1e-3)


def test_an_extrapolation_that_helps_is_kept() -> None:
    cycle = ExtrapolationCycle(0.5)
    for more in range(KEPT - 1, 0, -1):
        assert cycle.keeps(2.0**more)
        assert not cycle.is_over
    assert cycle.keeps(1.0)
    assert cycle.is_over
    cycle.extrapolated()
    assert not cycle.is_over
    assert cycle.keeps(0.5)


def test_one_that_does_not_help_is_undone_and_the_next_comes_later() -> None:
    cycle = ExtrapolationCycle(0.5)
    for _ in range(KEPT):
        cycle.keeps(1.0)
    for length in (2 * KEPT, 4 * KEPT):
        cycle.extrapolated()
        assert not cycle.keeps(0.6)
        for _ in range(length):
            assert not cycle.is_over
            assert cycle.keeps(1.0)
        assert cycle.is_over
    cycle.extrapolated()
    assert cycle.keeps(0.5)
    for _ in range(KEPT - 1):
        assert not cycle.is_over
        assert cycle.keeps(0.1)
    assert cycle.is_over


def iterations(links: nx.DiGraph, start: np.ndarray, tolerance: float) -> int:
    """Plain iterations, by the definition."""
    nodes = len(links)
    move = nx.to_numpy_array(links, nodelist=range(nodes)).T
    degrees = move.sum(axis=0)
    move /= np.maximum(degrees, 1)
    move[:, degrees == 0] = 1 / nodes
    ranks, found, change = start, 0, np.inf
    while error_bound(change, DAMPING) > tolerance:
        image = DAMPING * move @ ranks + (1 - DAMPING) / nodes
        change, ranks, found = np.abs(image - ranks).sum(), image, found + 1
    return found


def compare(folder: Path, links: nx.DiGraph, start: np.ndarray, tolerance: float) -> None:
    nodes = len(links)
    transposed = write(folder, [sorted(links.predecessors(node)) for node in range(nodes)])
    even = np.full(nodes, 1 / nodes)
    config = RankConfig(damping=DAMPING, tolerance=tolerance, iterations=5_000)
    with SpanThreads(nodes, 2) as threads:
        votes = Votes(transposed, np.zeros(nodes, np.int32), 1e9, threads)
        how = share_votes(votes, 1.0, np.ones(nodes), threads)
        found = fixed_point(votes, how, even, start.copy(), config, threads)
    plain = iterations(links, start, tolerance)
    undone = max(np.log2(plain / KEPT), 0) + 1
    assert found.error <= tolerance
    assert found.iterations <= plain + undone


@pytest.mark.parametrize("from_one", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_few_iterations_are_lost_in_any_shape(tmp_path: Path, shape: str, from_one: bool) -> None:
    nodes = len(SHAPES[shape])
    start = np.eye(nodes)[0] if from_one else np.full(nodes, 1 / nodes)
    compare(tmp_path / "transposed", SHAPES[shape], start, 1e-8)


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(2, 60), st.floats(0.5, 6), st.integers(0, 1_000), st.floats(1e-10, 1e-2))
def test_few_iterations_are_lost_in_random_graphs(
    tmp_path_factory: pytest.TempPathFactory, nodes: int, degree: float, seed: int, tolerance: float
) -> None:
    links = nx.gnp_random_graph(nodes, degree / nodes, seed, directed=True)
    start = np.random.default_rng(seed).random(nodes)
    compare(tmp_path_factory.mktemp("graph") / "t", links, start / start.sum(), tolerance)


def test_many_iterations_are_saved_where_ranks_converge_slowly(tmp_path: Path) -> None:
    links = nx.connected_caveman_graph(30, 8).to_directed()
    nodes = len(links)
    start = np.eye(nodes)[0]
    transposed = write(tmp_path / "t", [sorted(links.predecessors(node)) for node in range(nodes)])
    even = np.full(nodes, 1 / nodes)
    config = RankConfig(damping=DAMPING, tolerance=1e-8, iterations=5_000)
    with SpanThreads(nodes, 1) as threads:
        votes = Votes(transposed, np.zeros(nodes, np.int32), 1e9, threads)
        how = share_votes(votes, 1.0, np.ones(nodes), threads)
        found = fixed_point(votes, how, even, start.copy(), config, threads)
    assert found.iterations < 0.6 * iterations(links, start, 1e-8)
