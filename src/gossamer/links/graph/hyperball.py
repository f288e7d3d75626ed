"""HyperBall: how many nodes are within t links, for all nodes at once?

Boldi and Vigna, "In-Core Computation of Geometric Centralities with HyperBall: A Hundred Billion
Nodes and Beyond" (ICDM Workshops, 2013). The ball of node x holds the nodes that reach x within t
links. It is the union of the balls within t - 1 of x and of the nodes that link to x. A ball is
represented by a HyperLogLog counter (Flajolet, Fusy, Gandouet and Meunier, AofA 2007), which counts
distinct nodes with a relative standard deviation of about 1.04 / √registers, and whose union is the
maximum of each register.

A register has five bits, and a word twelve of them, whose maxima are taken at once (the broadword
comparison of Vigna, "Broadword Implementation of Rank/Select Queries", WEA 2008). As in the paper,
only the balls that grew in the last step are united with others. Each thread has a span of nodes
whose balls it unites with those of others. Maxima do not depend on their order, so the results do
not depend on the number of threads.

The harmonic centrality is a sum of balls with positive weights:

    H(x) = Σ (|B(t)| - |B(t - 1)|) / t = Σ |B(t)| · (1 / t - 1 / (t + 1)) - 1

So by the triangle inequality, the standard deviation of H(x) is at most that of a counter, relative
to H(x) + 1.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from gossamer.links.graph.row_windows import WindowedRows
from gossamer.native import native

if TYPE_CHECKING:
    import numpy.typing as npt

    from gossamer.links.bvgraph.codes import Numbers, Words
    from gossamer.links.graph.overlay import Graph
    from gossamer.links.graph.row_windows import Indices

    Values = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]

REGISTERS = 256
"""Registers per counter, if MAX_BYTES suffice: a deviation of 6.5 %."""
MIN_REGISTERS = 16
MAX_BYTES = 4 << 30
"""Memory for the counters of all nodes."""
DEVIATIONS = {16: 1.106, 32: 1.070, 64: 1.054, 128: 1.046}
"""The relative standard deviation times √registers, as published; 1.03896 in the limit."""
LIMIT = 1.03896
ALPHAS = {16: 0.673, 32: 0.697, 64: 0.709}
"""The factor of the estimate, as published; 0.7213 / (1 + 1.079 / registers) from 128 on."""
FIELDS = 12
"""Registers per word."""
BITS = 5
MOST = 31
"""The largest value of a register."""
HIGH = sum(1 << 5 * field + 4 for field in range(FIELDS))
"""The highest bit of each register."""
ALL = (1 << 64) - 1
HALF = 32
"""Bits of a half of a hash, which has more leading zeros than a register can count."""
CHUNK = 1 << 16
"""Nodes that are hashed at once."""
SEED = 1
FEW = 1 << 12
"""With fewer links at a time, further threads cost more than they save. Also the links from which
the spans of threads follow."""


def registers_for(nodes: int) -> int:
    """The registers per counter that fit into MAX_BYTES, at least MIN_REGISTERS."""
    registers = REGISTERS
    while registers > MIN_REGISTERS and 2 * 8 * nodes * _words(registers) > MAX_BYTES:
        registers //= 2
    return registers


def deviation(registers: int) -> float:
    """The published relative standard deviation of a counter."""
    return float(DEVIATIONS.get(registers, LIMIT) / np.sqrt(registers))


def estimate_harmonic(
    graph: Graph, registers: int = REGISTERS, seed: int = SEED, workers: int | None = None
) -> Values:
    """Estimate the harmonic centrality of all nodes. `registers`: a power of 2, 16 at least.

    `seed` chooses the hash function. `workers`: threads, by default one per processor.
    """
    workers = workers or os.cpu_count() or 1
    with ThreadPoolExecutor(workers) as threads:
        return _estimate_harmonic(graph, registers, seed, threads, workers)


def _estimate_harmonic(
    graph: Graph, registers: int, seed: int, threads: ThreadPoolExecutor, workers: int
) -> Values:
    rows = WindowedRows(graph)
    counters = np.zeros((graph.nodes, _words(registers)), np.uint64)
    _add_nodes(counters, registers, seed)
    grown, sizes, values = counters.copy(), np.ones(graph.nodes), np.zeros(graph.nodes)
    alpha = ALPHAS.get(registers, 0.7213 / (1 + 1.079 / registers))
    few = _small_sizes(registers)
    is_met = np.zeros(graph.nodes, np.bool_)
    changed = np.arange(graph.nodes)
    steps = 0
    while changed.size:
        steps += 1
        at = 0
        for window in rows.along(changed):
            unite = partial(_unite_counters, *window, changed, at, counters, grown, is_met)
            bounds = _span_bounds(window.targets, graph.nodes, workers)
            *_, at = threads.map(unite, bounds[:-1], bounds[1:])
        met = np.flatnonzero(is_met)
        is_met[met] = False
        balls = counters, grown, sizes, values, few, alpha, steps
        grows = [threads.submit(_grown_of, part, *balls) for part in np.array_split(met, workers)]
        changed = met[np.concatenate([each.result() for each in grows])]
    return values


def _span_bounds(targets: Indices, nodes: int, spans: int) -> list[int]:
    """The bounds of spans of nodes that are about equally often among the targets."""
    if targets.size < FEW:
        return [0, nodes]
    some = np.sort(targets[:: targets.size // FEW])
    inner = some[np.arange(1, spans) * some.size // spans]
    return [0, *inner.tolist(), nodes]


def _words(registers: int) -> int:
    return -(-registers // FIELDS)


def _add_nodes(counters: Words, registers: int, seed: int) -> None:
    """Put each node into its own counter: the leading zeros of its hash, by its last bits.

    The hash is the one of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
    """
    for first in range(0, len(counters), CHUNK):
        part = counters[first : first + CHUNK]
        word = np.arange(first + 1, first + 1 + len(part), dtype=np.uint64)
        word += np.uint64(seed * 0x632BE59BD9B4E019 & ALL)
        word *= np.uint64(0x9E3779B97F4A7C15)
        word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        word ^= word >> np.uint64(31)
        register = (word & np.uint64(registers - 1)).astype(np.int64)
        _, bits = np.frexp((word >> np.uint64(HALF)).astype(np.float64))
        value = np.minimum(HALF - bits + 1, MOST).astype(np.uint64)
        shift = (BITS * (register % FIELDS)).astype(np.uint64)
        part[np.arange(len(part)), register // FIELDS] = value << shift


@native
def _unite_counters(
    first: int,
    starts: Numbers,
    targets: Indices,
    changed: Numbers,
    at: int,
    counters: Words,
    grown: Words,
    is_met: Flags,
    begin: int,
    end: int,
) -> int:
    """Unite the counters of changed nodes with those of their successors, from `at` on.

    Only successors from `begin` to before `end` are looked at. Returns where a row is not in the
    window.
    """
    words = len(counters) // max(len(is_met), 1)
    while at < len(changed):
        node = changed[at]
        if not first <= node < first + len(starts) - 1:
            break
        ours = counters[words * node : words * (node + 1)]
        for target in targets[starts[node - first] : starts[node - first + 1]]:
            if not begin <= target < end:
                continue
            is_met[target] = True
            for place, x in enumerate(ours, words * target):
                y = grown[place]
                less = (((y | HIGH) - (x & ~HIGH) | x ^ y) ^ (y | ~x)) & HIGH  # where y < x
                mask = (less << 1) - (less >> 4)
                grown[place] = x & mask | y & ~mask
        at += 1
    return at


def _grown_of(
    met: Numbers,
    counters: Words,
    grown: Words,
    sizes: Values,
    values: Values,
    few: Values,
    alpha: float,
    steps: int,
) -> Flags:
    """Take over the counters that grew; return which they are."""
    is_grown = np.zeros(met.size, np.bool_)
    take_over(met, counters, grown, sizes, values, few, alpha, steps, is_grown)
    return is_grown


def _small_sizes(registers: int) -> Values:
    """The size of a counter by its number of registers that are zero."""
    logarithms = (math.log(registers / zeros) for zeros in range(1, registers + 1))
    return np.array([0.0, *(registers * logarithm for logarithm in logarithms)])


@native
def take_over(
    met: Numbers,
    counters: Words,
    grown: Words,
    sizes: Values,
    values: Values,
    few: Values,
    alpha: float,
    steps: int,
    is_grown: Flags,
) -> None:
    """Take over the counters that grew, mark them, and add what they add to the centrality.

    `few`: the size of a counter by its number of registers that are zero, from none to all.
    """
    words = len(counters) // max(len(sizes), 1)
    for n, node in enumerate(met):
        counter = slice(words * node, words * (node + 1))
        is_grown[n] = counters[counter] != grown[counter]
        if is_grown[n]:
            counters[counter] = grown[counter]
            size = _estimate_size(counters[counter], few, alpha)
            values[node] += (size - sizes[node]) / steps
            sizes[node] = size


def _estimate_size(counter: Words, few: Values, alpha: float) -> float:
    """The number of nodes in a counter; few are counted by the registers that are still zero."""
    registers, zeros, total = len(few) - 1, 0, 0.0
    for register in range(registers):
        value = counter[register // FIELDS] >> BITS * (register % FIELDS) & MOST
        zeros += value == 0
        total += 1.0 / (1 << value)
    size = alpha * registers * registers / total
    if size <= 2.5 * registers and zeros:
        return float(few[zeros])
    return size
