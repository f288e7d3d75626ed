"""Where rows end, found without decoding their successors.

Of a row, the blocks and intervals give how many successors they stand for, whatever these are. So
only outdegrees are kept, and a row of any length takes no memory. Bits of strangers are safe to
measure, as they are to decode, in time proportional to their number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.links.bvgraph import check_shape
from gossamer.links.bvgraph.codes import BROKEN, WORD_BITS, read_gamma, read_zeta
from gossamer.links.bvgraph.decoding import read_header
from gossamer.native import native

if TYPE_CHECKING:
    from gossamer.links.bvgraph.codes import Numbers, Words


@native
def measure_rows(
    words: Words,
    at: int,
    first: int,
    nodes: int,
    recent: Numbers,
    lengths: Numbers,
    window: int,
    min_interval: int,
    zeta: int,
) -> tuple[int, int]:
    """Put the lengths in bits of the rows from node `first` on, which begins at `at`, in `lengths`.

    `recent`: the outdegree of node n at n modulo its size, for the last `window` nodes, which is
    brought up to date. Returns the position after the rows, or BROKEN, and the number of arcs.
    """
    check_shape(window, min_interval, zeta)
    if min(at, first) < 0 or len(recent) <= window:
        raise ValueError("measure_rows: no place for the last rows")
    arcs = 0
    for n in range(len(lengths)):
        node, begin = first + n, at
        degree, distance, at = read_header(words, at, window)
        if at < 0 or degree > nodes or distance > min(window, node):
            return BROKEN, 0
        of_reference = recent[(node - distance) % len(recent)] if distance else 0
        at = _row_end(words, at, degree, of_reference, distance > 0, min_interval, zeta)
        if at < 0 or at > WORD_BITS * len(words):
            return BROKEN, 0
        recent[node % len(recent)] = degree
        lengths[n] = at - begin
        arcs += degree
    return at, arcs


def _row_end(
    words: Words,
    at: int,
    degree: int,
    of_reference: int,
    refers: bool,
    min_interval: int,
    zeta: int,
) -> int:
    """The position after a row, whose header ends at `at`, or BROKEN."""
    left = degree
    if refers and left:
        copied, at = _count_copied(words, at, of_reference)
        left -= copied
    if at >= 0 and left > 0 and min_interval:
        intervals, at = read_gamma(words, at)
        for _ in range(intervals):
            _, at = read_gamma(words, at)
            length, at = read_gamma(words, at)
            if at < 0 or length > left - min_interval:
                return BROKEN
            left -= length + min_interval
    if at < 0 or left < 0:
        return BROKEN
    for _ in range(left):
        _, at = read_zeta(words, at, zeta)
        if at < 0:
            return BROKEN
    return at


def _count_copied(words: Words, at: int, of_reference: int) -> tuple[int, int]:
    """The number of successors that are copied of a row with so many, and the position."""
    blocks, at = read_gamma(words, at)
    copied = end = 0
    for block in range(blocks):
        run, at = read_gamma(words, at)
        run += block > 0
        end += run
        if at < 0 or end > of_reference:
            return 0, BROKEN
        if block & 1 == 0:
            copied += run
    if blocks & 1 == 0:
        copied += of_reference - end
    return copied, at
