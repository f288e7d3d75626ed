"""Where the row of a node begins.

The offsets of a graph take some bits per node as γ codes, and 64 as an array. So they stay coded,
and only every `step`-th one is known: a row is found by reading half as many codes on average.
`samples` has, for every `step`-th node, the offset of its row, and the position of
the code after it; the last row has the numbers of bits of both files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer.links.bvgraph import check_shape, decoding
from gossamer.links.bvgraph.codes import BROKEN, WORD_BITS, read_gamma
from gossamer.native import are_starts, native

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.links.bvgraph.codes import Numbers, Words


FEW = 16
"""Successors per row for which there is room at first."""


def sample_offsets(offsets: Words, nodes: int, step: int, last: int) -> Numbers:
    """The samples of a file of offsets, none of which is after the position `last`.

    If the file is broken, their last offset is BROKEN.
    """
    samples = np.zeros((nodes // step + 2, 2), np.int64)
    fill_samples(offsets, nodes, step, last, samples)
    return samples


@native
def fill_samples(offsets: Words, nodes: int, step: int, last: int, samples: Numbers) -> None:
    if nodes < 0 or step < 1 or len(samples) != 2 * (nodes // step + 2):
        raise ValueError("fill_samples: no place for the samples")
    row, at = read_gamma(offsets, 0)
    for node in range(nodes):
        if node % step == 0:
            place = 2 * (node // step)
            samples[place], samples[place + 1] = row, at
        if at < 0 or at > WORD_BITS * len(offsets) or row > last:
            row = BROKEN
            break
        length, at = read_gamma(offsets, at)
        row += length
    is_whole = 0 <= at <= WORD_BITS * len(offsets)
    samples[-2], samples[-1] = row if is_whole else BROKEN, at


def _places(offsets: Words, samples: Numbers, step: int, node: int) -> Iterator[int]:
    """The positions of the rows from a node on."""
    place = 2 * (node // step)
    if node < 0 or place >= len(samples):
        raise ValueError("a node that the graph does not have")
    row, at = samples[place], samples[place + 1]
    for _ in range(node % step):
        length, at = read_gamma(offsets, at)
        row += length
    while True:
        yield row
        length, at = read_gamma(offsets, at)
        row += length


@native
def row_offset(offsets: Words, samples: Numbers, step: int, node: int) -> int:
    """The position of a node's row."""
    return next(_places(offsets, samples, step, node))


@native
def read_outdegrees(
    words: Words, offsets: Words, samples: Numbers, step: int, first: int, degrees: Numbers
) -> None:
    """Read the outdegrees of the nodes from `first` on, or BROKEN."""
    for n, at in zip(range(len(degrees)), _places(offsets, samples, step, first), strict=False):
        degree, after = read_gamma(words, at)
        degrees[n] = degree if after >= 0 else BROKEN


def read_rows(
    words: Words,
    offsets: Words,
    samples: Numbers,
    step: int,
    nodes: Numbers,
    most: int,
    window: int,
    min_interval: int,
    zeta: int,
) -> tuple[Numbers, Numbers, bool]:
    """The rows of some nodes as those of a CSR matrix, and whether all could be read.

    `most`: the number of nodes of the graph.
    """
    starts = np.zeros(nodes.size + 1, np.int64)
    targets = np.empty(FEW * nodes.size, np.int64)
    done = 0
    while True:
        how = words, offsets, samples, step, nodes, most, window, min_interval, zeta
        done = fill_rows(*how, done, starts, targets)
        if done in {BROKEN, nodes.size}:
            return starts, targets[: starts[-1]], done != BROKEN
        more = np.empty(targets.size + FEW, np.int64)
        targets = np.concatenate((targets[: starts[done]], more))


@native
def fill_rows(
    words: Words,
    offsets: Words,
    samples: Numbers,
    step: int,
    nodes: Numbers,
    most: int,
    window: int,
    min_interval: int,
    zeta: int,
    done: int,
    starts: Numbers,
    targets: Numbers,
) -> int:
    """Read the rows of the nodes after the first `done` ones, until `targets` has no room for one.

    Returns how many are done then, or BROKEN. The rows to which a row refers are decoded before it,
    the farthest first.
    """
    check_shape(window, min_interval, zeta)
    if len(starts) != len(nodes) + 1 or not are_starts(starts[: done + 1], len(targets)):
        raise ValueError("fill_rows: rows that are not inside their array")
    for n in range(done, len(nodes)):
        node = nodes[n]
        chain: list[tuple[int, int, int, int]] = []
        while not chain or chain[-1][2]:
            at = next(_places(offsets, samples, step, node))
            degree, distance, at = decoding.read_header(words, at, window)
            if at < 0 or degree > most or distance > node:
                return BROKEN
            chain.append((node, degree, distance, at))
            node -= distance
        begin, size = starts[n], chain[0][1]
        if size > len(targets) - begin:
            return n
        row = targets[begin : begin + size]
        reference: Numbers | None = None
        for place in range(len(chain) - 1, -1, -1):
            node, degree, _, at = chain[place]
            found: Any = np.empty(degree, np.int64).data if place else row
            if (
                decoding.decode_successors(words, at, node, reference, min_interval, zeta, found)
                < 0
            ):
                return BROKEN
            reference = found
        if any(target >= most for target in row):
            return BROKEN
        starts[n + 1] = begin + size
    return len(nodes)
