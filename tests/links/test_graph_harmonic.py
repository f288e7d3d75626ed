"""Harmonic centrality: exact beside plain searches, estimated beside exact."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.links.graph import centrality, hyperball, row_windows
from tests.support.bvgraph_files import write
from tests.support.native_loops import compiled_only

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.links.bvgraph.files import BvGraph
    from gossamer.links.graph.hyperball import Values
    from tests.support.bvgraph_files import Rows

SEEDS = range(40)


@st.composite
def graphs(draw: st.DrawFn) -> Rows:
    """Graphs with more nodes than a search has sources, and some of them unlinked."""
    nodes = draw(st.sampled_from([1, 5, 63, 64, 65, 150]))
    node = st.integers(0, nodes - 1)
    links = draw(st.sets(st.tuples(node, node), max_size=2 * nodes))
    chain = draw(st.lists(node, max_size=20))
    links |= set(pairwise(chain))
    return [sorted(target for source, target in links if source == n) for n in range(nodes)]


def random_graph(base: Path, nodes: int = 1_500, links: int = 4_000) -> BvGraph:
    random = np.random.default_rng(7)
    targets = [np.unique(random.integers(0, nodes, 2 * links // nodes)) for _ in range(nodes)]
    return write(base, [row[: random.integers(0, row.size + 1)].tolist() for row in targets])


def searched(links: Rows) -> Values:
    """The definition, by one plain breadth-first search per node."""
    values = np.zeros(len(links))
    for source in range(len(links)):
        reached, rim, steps = {source}, {source}, 0
        while rim:
            steps += 1
            rim = {target for node in rim for target in links[node]} - reached
            reached |= rim
            values[list(rim)] += 1 / steps
    return values


def test_nodes_are_hashed_as_splitmix64_does() -> None:
    """Its first numbers from 0, as published: E220A8397B1DCDAF, 6E789E6AA1B965F4 …"""
    counters = np.zeros((3, 2), np.uint64)
    hyperball._add_nodes(counters, 16, seed=0)
    # The last four bits choose a register: 15, 4 and 15. A word has twelve, of five bits each.
    # The value is one more than the leading zeros.
    assert counters.tolist() == [[0, 1 << 15], [2 << 20, 0], [0, 6 << 15]]


@given(graphs())
def test_it_is_that_of_the_definition(
    tmp_path_factory: pytest.TempPathFactory, links: Rows
) -> None:
    graph = write(tmp_path_factory.mktemp("graph") / "web", links)
    found = centrality.harmonic_centrality(graph)
    assert found.error == 0
    assert found.values == pytest.approx(searched(links), rel=1e-12)


def test_closed_forms(tmp_path: Path) -> None:
    n = 100
    clique = [[other for other in range(n) if other != node] for node in range(n)]
    cycle = [[(node + 1) % n] for node in range(n)]
    star = [[], *([0] for _ in range(n - 1))]
    sums = np.cumsum(1 / np.arange(1, n))
    for name, links, wanted in (
        ("clique", clique, np.full(n, n - 1)),
        ("cycle", cycle, np.full(n, sums[-1])),
        ("chain", [*cycle[:-1], []], np.concatenate([[0], sums])),
        ("star", star, np.array([n - 1, *[0] * (n - 1)])),
    ):
        assert centrality.exact_harmonic(write(tmp_path / name, links)) == pytest.approx(wanted)


@compiled_only
def test_estimates_are_as_exact_as_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = random_graph(tmp_path / "web")
    wanted = centrality.exact_harmonic(graph)
    for registers in (16, 64):
        found = [hyperball.estimate_harmonic(graph, registers, seed) for seed in SEEDS]
        errors = (np.array(found) - wanted) / (wanted + 1) / hyperball.deviation(registers)
        assert 0.3 < np.sqrt(np.mean(errors**2)) < 1
        assert abs(errors.mean()) < 0.2
    monkeypatch.setattr(centrality, "MAX_EXACT", 0)
    estimated = centrality.harmonic_centrality(graph)
    assert estimated.error == hyperball.deviation(hyperball.REGISTERS)
    assert np.array_equal(estimated.values, hyperball.estimate_harmonic(graph))


@compiled_only
def test_large_counts_are_estimated_too(tmp_path: Path) -> None:
    n = 3_000
    graph = write(tmp_path / "star", [[], *([0] for _ in range(n - 1))])
    found = [hyperball.estimate_harmonic(graph, 64, seed)[0] for seed in SEEDS]
    errors = np.array(found) / (n - 1) - 1
    assert np.sqrt(np.mean(errors**2)) == pytest.approx(hyperball.deviation(64), rel=0.35)


def test_a_graph_that_is_read_by_rows_has_the_same_estimates(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = random_graph(tmp_path / "web")
    wanted = hyperball.estimate_harmonic(graph, 32)
    monkeypatch.setattr(row_windows, "MAX_RESIDENT", 0)
    assert np.array_equal(hyperball.estimate_harmonic(graph, 32), wanted)


@compiled_only
def test_estimates_do_not_depend_on_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = random_graph(tmp_path / "web")
    wanted = hyperball.estimate_harmonic(graph, 32, workers=1)
    monkeypatch.setattr(hyperball, "FEW", 10)
    for resident in (1 << 30, 0):
        monkeypatch.setattr(row_windows, "MAX_RESIDENT", resident)
        for workers in (2, 5):
            assert np.array_equal(hyperball.estimate_harmonic(graph, 32, workers=workers), wanted)


def test_spans_of_threads_have_all_nodes() -> None:
    targets = np.repeat([3, 5], 5_000)
    assert hyperball._span_bounds(targets, 10, 2) == [0, 5, 10]
    assert hyperball._span_bounds(targets, 10, 4) == [0, 3, 5, 5, 10]
    assert hyperball._span_bounds(targets[:9], 10, 4) == [0, 10]


@given(st.lists(st.tuples(st.integers(0, 31), st.integers(0, 31)), min_size=12, max_size=12))
def test_twelve_maxima_are_taken_at_once(pairs: list[tuple[int, int]]) -> None:
    words = [
        np.uint64(sum(values << 5 * field for field, values in enumerate(column)))
        for column in zip(*pairs, strict=True)
    ]
    counters = np.array([[words[0]], [words[1]]])
    grown, is_met = counters.copy(), np.zeros(2, np.bool_)
    starts, targets = np.array([0, 1, 1]), np.array([1], np.int32)
    balls = counters, grown, is_met
    assert hyperball._unite_counters(0, starts, targets, np.arange(2), 0, *balls, 0, 2) == 2
    wanted = sum(max(pair) << 5 * field for field, pair in enumerate(pairs))
    assert (int(grown[0, 0]), int(grown[1, 0])) == (int(words[0]), wanted)
    assert is_met.tolist() == [False, True]


def test_counters_fit_into_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    assert hyperball.registers_for(1_000_000) == hyperball.REGISTERS
    monkeypatch.setattr(hyperball, "MAX_BYTES", 200_000_000)
    assert hyperball.registers_for(1_000_000) == 128
    assert hyperball.registers_for(1 << 40) == hyperball.MIN_REGISTERS


def test_an_empty_graph(tmp_path: Path) -> None:
    graph = write(tmp_path / "web", [])
    assert centrality.exact_harmonic(graph).size == hyperball.estimate_harmonic(graph).size == 0


@pytest.mark.parametrize("value", [1, 5, hyperball.MOST])
def test_the_size_of_a_full_counter_is_the_harmonic_mean_of_its_registers(value: int) -> None:
    registers = 2 * hyperball.FIELDS
    word = sum(value << hyperball.BITS * field for field in range(hyperball.FIELDS))
    counter, few = np.array([word, word], np.uint64), hyperball._small_sizes(registers)
    size = hyperball._estimate_size(counter, few, 0.7)
    assert size == pytest.approx(0.7 * registers * 2.0**value)


def test_a_counter_with_registers_that_are_zero_is_counted_by_these() -> None:
    registers = 2 * hyperball.FIELDS
    few = hyperball._small_sizes(registers)
    assert few[0] == few[registers] == 0
    for zeros in range(1, registers + 1):
        values = [0] * zeros + [1] * (registers - zeros)
        words = [
            sum(value << hyperball.BITS * field for field, value in enumerate(part))
            for part in (values[: hyperball.FIELDS], values[hyperball.FIELDS :])
        ]
        size = hyperball._estimate_size(np.array(words, np.uint64), few, 0.7)
        assert size == pytest.approx(registers * np.log(registers / zeros))
