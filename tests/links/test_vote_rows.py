"""The votes of a graph, held or decoded each time, by definition: see links.rank.vote_rows."""

from __future__ import annotations

import random
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from gossamer.errors import StoreError
from gossamer.links.graph.overlay import Overlaid
from gossamer.links.rank import vote_rows
from gossamer.links.rank.vote_rows import Span, SpanThreads, Votes
from tests.support.bvgraph_files import write

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.bvgraph_files import Rows

BASE, NODES, DOMAINS = 40, 43, 5
PATIENCE_S = 10


def random_rows(draw: random.Random) -> Rows:
    """The voters of each node."""
    return [sorted(draw.sample(range(BASE), draw.choice((0, 1, 3, 9)))) for _ in range(BASE)]


def random_changes(
    draw: random.Random, rows: Rows
) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Arcs that were added or removed, sorted, also of nodes that were added."""
    changes = []
    for node in range(NODES):
        held = set(rows[node]) if node < BASE else set()
        voters = draw.sample(range(NODES), 2)
        changes += [(node, ~voter if voter in held else voter) for voter in voters]
    changes.sort(key=lambda change: (change[0], max(change[1], ~change[1])))
    return np.array(changes, np.int64).T


def changed_rows(rows: Rows, changes: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> Rows:
    found = [set(row) for row in rows] + [set() for _ in range(NODES - len(rows))]
    for node, voter in changes.T.tolist():
        found[node] ^= {max(voter, ~voter)}
    return [sorted(row) for row in found]


@pytest.mark.parametrize("memory_bytes", [0, 1e9])
@pytest.mark.parametrize("chunk", [8, 1 << 14])
@pytest.mark.parametrize("threads", [1, 3])
def test_votes_are_added_up_and_links_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, memory_bytes: float, chunk: int, threads: int
) -> None:
    monkeypatch.setattr(vote_rows, "CHUNK", chunk)
    draw = random.Random(chunk)  # noqa: S311  # reproducible
    rows = random_rows(draw)
    changes = random_changes(draw, rows)
    graph = Overlaid(write(tmp_path / "web", rows), changes, NODES)
    of_nodes = [draw.randrange(DOMAINS) for _ in range(NODES)]
    domains = np.array(of_nodes, np.int32)
    carried = np.array([draw.random() for _ in range(2 * NODES)])
    expected, within, beyond = [0.0] * NODES, [0] * NODES, [0] * NODES
    for node, voters in enumerate(changed_rows(rows, changes)):
        for voter in voters:
            is_own = of_nodes[voter] == of_nodes[node]
            expected[node] += carried[voter if is_own else NODES + voter]
            (within if is_own else beyond)[voter] += 1
    with SpanThreads(NODES, threads) as spans:
        votes = Votes(graph, domains, memory_bytes, spans)
        found = votes.links()
        received = np.full(NODES, 7.0)
        sums = spans.each(lambda span: votes.pull(span, carried, received[slice(*span)]))
    assert [each.tolist() for each in found] == [within, beyond]
    assert received.tolist() == pytest.approx(expected)
    assert sum(sums) == pytest.approx(sum(expected))


@pytest.mark.parametrize("change", [(BASE, 1), (1, BASE), (1, ~BASE)])
def test_changes_of_nodes_that_are_not_there_are_damage(
    tmp_path: Path, change: tuple[int, int]
) -> None:
    graph = write(tmp_path / "web", [[]] * BASE)
    changes = np.array([change], np.int64).T
    with (
        SpanThreads(BASE, 1) as spans,
        pytest.raises(StoreError, match="its rows and their lengths differ"),
    ):
        Votes(Overlaid(graph, changes, BASE), np.zeros(BASE, np.int32), 0, spans)


def test_rows_are_held_if_they_fit(tmp_path: Path) -> None:
    graph = write(tmp_path / "web", [[1, 2], [0], []])
    needed = 4 * 3 + vote_rows.BYTES_PER_NODE * 3
    with SpanThreads(3, 1) as spans:
        for memory, is_held in ((needed, True), (needed - 1, False)):
            votes = Votes(graph, np.zeros(3, np.int32), memory, spans)
            assert (votes._held is not None) is is_held


def test_spans_are_whole_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vote_rows, "CHUNK", 10)
    monkeypatch.setattr(vote_rows, "SPANS", 3)
    for nodes, spans in (
        (0, []),
        (1, [(0, 1)]),
        (10, [(0, 10)]),
        (30, [(0, 10), (10, 20), (20, 30)]),
        (31, [(0, 20), (20, 31)]),
    ):
        with SpanThreads(nodes, 1) as threads:
            assert threads.spans == spans


def test_each_span_is_worked_on_once_by_all_threads() -> None:
    met = threading.Barrier(3, timeout=PATIENCE_S)
    names: set[str] = set()

    def work(span: Span) -> int:
        met.wait()
        names.add(threading.current_thread().name)
        return span.first

    with SpanThreads(0, 3) as threads:
        spans = [Span(first, first + 1) for first in range(6)]
        assert threads.each(work, *spans) == list(range(6))
    assert len(names) == 3


def test_an_error_of_any_thread_is_raised() -> None:
    def fail(span: Span) -> None:
        if span.first == 5:
            raise KeyError

    with SpanThreads(0, 2) as threads, pytest.raises(KeyError):
        threads.each(fail, *(Span(first, first + 1) for first in range(6)))
