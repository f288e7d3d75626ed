"""graph centrality: graph → centrality. How near is each page, and each host, to all others?

Reads the graphs as they were last brought up to date; replaces centrality. It is harmonic:

    H(x) = Σ 1 / d(y, x)   over all nodes y ≠ x, where d is the number of links on a shortest way

so what counts are the ways that lead to x. Nodes that do not reach x add nothing. Of the measures
that Boldi and Vigna compare in "Axioms for Centrality" (Internet Mathematics 10, 2014), it is the
only one that has all the properties that they ask for.

A small graph is searched breadth-first from all nodes. A search visits 64 sources at once, one per
bit of a word, which share the links that they follow (Then et al., "The More the Merrier: Efficient
Multi-Source Graph Traversal", VLDB 2014). Of a larger one, `hyperball.py` estimates the centrality.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

from gossamer.links.graph import hyperball
from gossamer.links.graph.names import url_column
from gossamer.links.graph.row_windows import WindowedRows
from gossamer.links.graph.stored_graph import open_graph
from gossamer.native import native
from gossamer.storage.task_output import ParquetWriter, layers_of
from gossamer.tables import CENTRALITY

if TYPE_CHECKING:
    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.graph.hyperball import Values
    from gossamer.links.graph.overlay import Graph
    from gossamer.links.graph.row_windows import Indices
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport

KINDS = ("page", "host")
ROWS = 1 << 16
"""Rows of a row group."""
MAX_EXACT = 30_000_000_000
"""The largest product of nodes and links for which all nodes are searched from."""
SOURCES = 64
"""Sources of a search: the bits of a word."""


def run(work: Workspace) -> StepReport:
    """Compute the harmonic centrality of all pages and hosts of the graphs.

    Raises UsageError if they were never built.
    """
    with work.step("graph.centrality", work.round) as draft:
        written = ParquetWriter(
            work.root, "scratch", work.scratch_attempt(), schema=CENTRALITY.schema
        )
        for kind in KINDS:
            opened = open_graph(work, kind)
            names, forward = opened.names, opened.forward
            found = harmonic_centrality(forward)
            for first in range(0, forward.nodes, ROWS):
                some = np.arange(first, min(first + ROWS, forward.nodes))
                columns = {
                    "kind": pa.repeat(kind, some.size),
                    "name": names.take(some),
                    "harmonic": found.values[some],
                    "error": np.full(some.size, found.error),
                }
                written.write(pa.table(columns))
            draft.counts[f"{kind}s"] = forward.nodes
        files = layers_of(written.close(), work.round)
        paths = [f"{work.root}/{file.path}" for layer in files.values() for file in layer.files]
        rows = work.engine.read(paths, CENTRALITY.ddl)
        of_urls = rows.withColumn("name", url_column(F.col("name")))
        draft.replace[CENTRALITY.name] = (work.write(of_urls, CENTRALITY.name, work.round),)
    return draft.done


class Harmonic(NamedTuple):
    values: Values
    """The centrality of each node."""
    error: float
    """The relative standard deviation of the values; 0 if they are exact."""


def harmonic_centrality(graph: Graph) -> Harmonic:
    """The harmonic centrality of all nodes: exact up to MAX_EXACT, else estimated."""
    if graph.nodes * graph.arcs <= MAX_EXACT:
        return Harmonic(exact_harmonic(graph), 0.0)
    registers = hyperball.registers_for(graph.nodes)
    return Harmonic(hyperball.estimate_harmonic(graph, registers), hyperball.deviation(registers))


def exact_harmonic(graph: Graph) -> Values:
    """The centrality of all nodes, by searches in as many threads as there are processors."""
    window = WindowedRows(graph).around(0)
    workers = os.cpu_count() or 1
    shares = np.linspace(0, graph.nodes, workers + 1, dtype=np.int64).tolist()
    search = partial(_search_shares, window.starts, window.targets)
    with ThreadPoolExecutor(workers) as threads:
        parts = list(threads.map(search, shares[:-1], shares[1:]))
    return sum(parts, start=np.zeros(graph.nodes))


def _search_shares(starts: Numbers, targets: Indices, begin: int, end: int) -> Values:
    """What the nodes from `begin` to before `end` add to the centrality of each node."""
    values = np.zeros(starts.size - 1)
    search_from(starts, targets, begin, end, values)
    return values


@native
def search_from(starts: Numbers, targets: Indices, begin: int, end: int, values: Values) -> None:
    """Add what some nodes add to the centrality of each node.

    Bit s of `seen` of a node is set if source s has reached it, and that of `fresh` if it did so by
    the last step.
    """
    for first in range(begin, end, SOURCES):
        fresh = {source: 1 << source - first for source in range(first, min(first + SOURCES, end))}
        seen = fresh.copy()
        steps = 0
        while fresh:
            steps += 1
            found = dict[int, int]()
            for node, sources in fresh.items():
                for target in targets[starts[node] : starts[node + 1]]:
                    if more := sources & ~seen.get(target, 0):
                        found[target] = found.get(target, 0) | more
            for node, sources in found.items():
                seen[node] = seen.get(node, 0) | sources
                values[node] += sources.bit_count() / steps
            fresh = found
