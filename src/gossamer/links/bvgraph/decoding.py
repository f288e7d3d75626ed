"""Bits become rows (see the package).

Bits of strangers are safe to decode: what no writer makes gives the position BROKEN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gossamer.links.bvgraph import integer
from gossamer.links.bvgraph.codes import BROKEN, read_gamma, read_unary, read_zeta
from gossamer.links.bvgraph.compiled import compiled

if TYPE_CHECKING:
    from gossamer.links.bvgraph.codes import Numbers, Words


@compiled
def decode_rows(
    words: Words,
    at: int,
    first: int,
    have: int,
    starts: Numbers,
    targets: Numbers,
    window: int,
    min_interval: int,
    zeta: int,
) -> int:
    """Decode as many rows as `starts` has room for, and return the position after them, or BROKEN.

    The first `have` rows are decoded already; `first` is the node of the first of these. BROKEN
    also if there are more arcs than `targets` has room for.
    """
    spare = np.empty(64, np.int64)
    for n in range(have, starts.size - 1):
        degree, distance, at = read_header(words, at, window)
        begin = starts[n]
        if at < 0 or distance > n or degree > targets.size - begin:
            return BROKEN
        if 2 * degree > spare.size:
            spare = np.empty(3 * degree, np.int64)
        starts[n + 1] = begin + degree
        reference = targets[starts[n - distance] : starts[n - distance + 1]]
        row = targets[begin : begin + degree]
        copies = reference if distance else reference[:0]
        at = decode_successors(
            words, at, first + n, copies, distance > 0, min_interval, zeta, row, spare
        )
        if at < 0:
            return BROKEN
    return at


@compiled
def read_header(words: Words, at: int, window: int) -> tuple[int, int, int]:
    """The outdegree of a row, the distance of its reference, and the position after both."""
    degree, at = read_gamma(words, at)
    distance = 0
    if at >= 0 and degree and window:
        distance, at = read_unary(words, at)
    return degree, distance, at


@compiled
def decode_successors(
    words: Words,
    at: int,
    node: int,
    reference: Numbers,
    refers: bool,
    min_interval: int,
    zeta: int,
    row: Numbers,
    spare: Numbers,
) -> int:
    """Decode a row, all of whose length is known, and return the position after it, or BROKEN.

    `refers`: whether it refers to another one, which is `reference`. `spare`: a place to work, of
    twice its length.
    """
    copied = intervals = 0
    if refers and row.size:
        copied, at = _copy_blocks(words, at, reference, row)
    left = row.size - copied
    if at >= 0 and left and min_interval:
        intervals, at = _read_intervals(words, at, node, min_interval, spare[:left])
    if at < 0 or not left:
        return at
    residuals = spare[left : 2 * left - intervals]
    value = 0
    for n in range(residuals.size):
        gap, at = read_zeta(words, at, zeta)
        value = value + gap + 1 if n else node + integer(gap)
        if at < 0 or value < 0:
            return BROKEN
        residuals[n] = value
    _merge_ascending(row, copied, spare[:intervals], residuals)
    return at


@compiled
def _copy_blocks(words: Words, at: int, reference: Numbers, row: Numbers) -> tuple[int, int]:
    """Copy the blocks into `row`; return the number of successors, and the position after them."""
    blocks, at = read_gamma(words, at)
    count = begin = 0
    for block in range(blocks + 1):
        if at < 0:
            return 0, BROKEN
        end = reference.size
        if block < blocks:
            run, at = read_gamma(words, at)
            end = begin + run + (block > 0)
        if end > reference.size:
            return 0, BROKEN
        if block & 1 == 0:
            if count + end - begin > row.size:
                return 0, BROKEN
            for n in range(begin, end):
                row[count] = reference[n]
                count += 1
        begin = end
    return count, at


@compiled
def _read_intervals(
    words: Words, at: int, node: int, min_interval: int, found: Numbers
) -> tuple[int, int]:
    """Put the successors of the intervals into `found`; return their number, and the position."""
    intervals, at = read_gamma(words, at)
    count = before = 0
    for interval in range(intervals):
        gap, at = read_gamma(words, at) if at >= 0 else (0, BROKEN)
        length, at = read_gamma(words, at) if at >= 0 else (0, BROKEN)
        start = before + gap + 1 if interval else node + integer(gap)
        length += min_interval
        if at < 0 or start < 0 or length > found.size - count:
            return 0, BROKEN
        for n in range(length):
            found[count] = start + n
            count += 1
        before = start + length
    return count, at


@compiled
def _merge_ascending(row: Numbers, copied: int, intervals: Numbers, residuals: Numbers) -> None:
    """Merge two sorted arrays into a row that begins with a third one, from the end on."""
    i, j, k = copied - 1, intervals.size - 1, residuals.size - 1
    for at in range(row.size - 1, -1, -1):
        if k >= 0 and (j < 0 or residuals[k] > intervals[j]) and (i < 0 or residuals[k] > row[i]):
            row[at] = residuals[k]
            k -= 1
        elif j >= 0 and (i < 0 or intervals[j] > row[i]):
            row[at] = intervals[j]
            j -= 1
        elif j < 0 and k < 0:
            return
        else:
            row[at] = row[i]
            i -= 1
