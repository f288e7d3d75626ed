"""Harmonic centrality: how near is a node to all others?

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

from gossamer.links.bvgraph.compiled import compiled, ones
from gossamer.links.graph import hyperball
from gossamer.links.graph.row_windows import WindowedRows

if TYPE_CHECKING:
    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.graph.hyperball import Values
    from gossamer.links.graph.overlaid import Graph
    from gossamer.links.graph.row_windows import Indices

MAX_EXACT = 30_000_000_000
"""The largest product of nodes and links for which all nodes are searched from."""
SOURCES = 64
"""Sources of a search: the bits of a word."""


class Harmonic(NamedTuple):
    values: Values
    """The centrality of each node."""
    error: float
    """The relative standard deviation of the values; 0 if they are exact."""


def harmonic(graph: Graph) -> Harmonic:
    """The harmonic centrality of all nodes: exact up to MAX_EXACT, else estimated."""
    if graph.nodes * graph.arcs <= MAX_EXACT:
        return Harmonic(exact(graph), 0.0)
    registers = hyperball.registers_for(graph.nodes)
    return Harmonic(hyperball.harmonic(graph, registers), hyperball.deviation(registers))


def exact(graph: Graph) -> Values:
    """The centrality of all nodes, by searches in as many threads as there are processors."""
    window = WindowedRows(graph).around(0)
    workers = os.cpu_count() or 1
    shares = np.linspace(0, graph.nodes, workers + 1, dtype=np.int64).tolist()
    search = partial(_search, window.starts, window.targets)
    with ThreadPoolExecutor(workers) as threads:
        parts = list(threads.map(search, shares[:-1], shares[1:]))
    return sum(parts, start=np.zeros(graph.nodes))


@compiled
def _search(starts: Numbers, targets: Indices, begin: int, end: int) -> Values:
    """What the nodes from `begin` to before `end` add to the centrality of each node.

    Bit s of `seen` of a node is set if source s has reached it, and that of `fresh` if it did so by
    the last step.
    """
    nodes = starts.size - 1
    values = np.zeros(nodes)
    seen, fresh, found = np.zeros((3, nodes), np.uint64)
    here, there = np.empty((2, nodes), np.int64)
    for first in range(begin, end, SOURCES):
        seen[:] = 0
        count = min(SOURCES, end - first)
        for source in range(count):
            here[source] = first + source
            seen[first + source] = fresh[first + source] = np.uint64(1) << np.uint64(source)
        steps = 0
        while count:
            steps += 1
            met = 0
            for n in range(count):
                node = here[n]
                for at in range(starts[node], starts[node + 1]):
                    target = targets[at]
                    more = fresh[node] & ~seen[target]
                    if more:
                        if not found[target]:
                            there[met] = target
                            met += 1
                        found[target] |= more

            for n in range(count):
                fresh[here[n]] = 0
            for n in range(met):
                node = there[n]
                fresh[node] = found[node]
                seen[node] |= found[node]
                values[node] += ones(found[node]) / steps
                found[node] = 0
            here, there, count = there, here, met
    return values
