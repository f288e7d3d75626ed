"""Where the row of a node begins.

The offsets of a graph take some bits per node as γ codes, and 64 as an array. So they stay coded,
and only every `step`-th one is known: a row is found by reading half as many codes on average.
`samples` has, for every `step`-th node, the offset of its row, and the position of
the code after it; the last row has the numbers of bits of both files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gossamer.links.bvgraph import decoding
from gossamer.links.bvgraph.codes import BROKEN, read_gamma
from gossamer.links.bvgraph.compiled import compiled

if TYPE_CHECKING:
    from gossamer.links.bvgraph.codes import Numbers, Words


@compiled
def sample_offsets(offsets: Words, nodes: int, step: int, last: int) -> Numbers:
    """The samples of a file of offsets, none of which is after the position `last`.

    If the file is broken, their last offset is BROKEN.
    """
    samples = np.zeros((nodes // step + 2, 2), np.int64)
    row, at = read_gamma(offsets, 0)
    for node in range(nodes):
        if node % step == 0:
            samples[node // step, 0], samples[node // step, 1] = row, at
        if at < 0 or at > 64 * offsets.size or not 0 <= row <= last:  # the sum may overflow
            row = BROKEN
            break
        length, at = read_gamma(offsets, at)
        row += length
    samples[-1, 0], samples[-1, 1] = row, at
    if at < 0 or at > 64 * offsets.size:
        samples[-1, 0] = BROKEN
    return samples


@compiled
def row_offset(offsets: Words, samples: Numbers, step: int, node: int) -> int:
    """The position of a node's row."""
    row, at = samples[node // step, 0], samples[node // step, 1]
    for _ in range(node % step):
        length, at = read_gamma(offsets, at)
        row += length
    return int(row)


@compiled
def read_outdegrees(
    words: Words, offsets: Words, samples: Numbers, step: int, first: int, degrees: Numbers
) -> None:
    """Read the outdegrees of the nodes from `first` on."""
    row, at = samples[first // step, 0], samples[first // step, 1]
    for _ in range(first % step):
        length, at = read_gamma(offsets, at)
        row += length
    for n in range(degrees.size):
        degrees[n], _ = read_gamma(words, row)
        length, at = read_gamma(offsets, at)
        row += length


@compiled
def read_row(
    words: Words,
    offsets: Words,
    samples: Numbers,
    step: int,
    node: int,
    most: int,
    window: int,
    min_interval: int,
    zeta: int,
) -> tuple[Numbers, bool]:
    """The row of a node of a graph of `most` nodes, and whether it could be read.

    The rows to which it refers are decoded before it, the farthest first.
    """
    rows = np.empty((4, 4), np.int64)  # node, outdegree, distance, position
    count, other = 0, node
    found = np.empty(0, np.int64)
    while True:
        if count == rows.shape[0]:
            rows = np.concatenate((rows, np.empty_like(rows)))
        at = row_offset(offsets, samples, step, other)
        degree, distance, at = decoding.read_header(words, at, window)
        if at < 0 or degree > most or distance > other:
            return found, False
        rows[count, 0], rows[count, 1], rows[count, 2], rows[count, 3] = other, degree, distance, at
        count += 1
        if not distance:
            break
        other -= distance
    for n in range(count - 1, -1, -1):
        other, degree, distance, at = rows[n]
        before, found = found, np.empty(degree, np.int64)
        spare = np.empty(2 * degree, np.int64)
        at = decoding.decode_successors(
            words, at, other, before, distance > 0, min_interval, zeta, found, spare
        )
        if at < 0:
            return found[:0], False
    for target in found:
        if target >= most:
            return found[:0], False
    return found, True


@compiled
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
    """The rows of some nodes as those of a CSR matrix, and whether all could be read."""
    starts = np.zeros(nodes.size + 1, np.int64)
    targets = np.empty(16 * nodes.size, np.int64)
    for n in range(nodes.size):
        row, is_whole = read_row(
            words, offsets, samples, step, nodes[n], most, window, min_interval, zeta
        )
        if not is_whole:
            return starts, targets[:0], False
        count = starts[n]
        if count + row.size > targets.size:
            targets = np.concatenate((targets[:count], np.empty(count + row.size, np.int64)))
        targets[count : count + row.size] = row
        starts[n + 1] = count + row.size
    return starts, targets[: starts[-1]], True
