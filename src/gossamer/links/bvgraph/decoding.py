"""Bits become rows (see the package).

Bits of strangers are safe to decode: what no writer makes gives the position BROKEN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.links.bvgraph import check_shape, integer
from gossamer.links.bvgraph.codes import BROKEN, MAX_NUMBER, read_gamma, read_unary, read_zeta
from gossamer.native import are_starts, native

if TYPE_CHECKING:
    from gossamer.links.bvgraph.codes import Numbers, Words


@native
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
    check_shape(window, min_interval, zeta)
    if min(at, first, have) < 0 or not are_starts(starts[: have + 1], len(targets)):
        raise ValueError("decode_rows: rows that are not inside their array")
    for n in range(have, len(starts) - 1):
        degree, distance, at = read_header(words, at, window)
        begin = starts[n]
        if at < 0 or distance > n or degree > len(targets) - begin:
            return BROKEN
        starts[n + 1] = begin + degree
        reference = targets[starts[n - distance] : starts[n - distance + 1]]
        row = targets[begin : begin + degree]
        copies = reference if distance else None
        at = decode_successors(words, at, first + n, copies, min_interval, zeta, row)
        if at < 0:
            return BROKEN
    return at


def read_header(words: Words, at: int, window: int) -> tuple[int, int, int]:
    """The outdegree of a row, the distance of its reference, and the position after both."""
    degree, at = read_gamma(words, at)
    distance = 0
    if at >= 0 and degree and window:
        distance, at = read_unary(words, at)
    return degree, distance, at


def decode_successors(
    words: Words,
    at: int,
    node: int,
    reference: Numbers | None,
    min_interval: int,
    zeta: int,
    row: Numbers,
) -> int:
    """Decode a row, all of whose length is known, and return the position after it, or BROKEN.

    `reference`: the row to which it refers, if to any.
    """
    copied = 0
    if reference is not None and len(row):
        copied, at = _copy_blocks(words, at, reference, row)
    left = len(row) - copied
    intervals: list[int] = []
    if at >= 0 and left and min_interval:
        intervals, at = _read_intervals(words, at, node, min_interval, left)
    residuals = []
    value = 0
    for n in range(left - len(intervals) if at >= 0 else 0):
        gap, at = read_zeta(words, at, zeta)
        value = value + gap + 1 if n else node + integer(gap)
        if at < 0 or not 0 <= value <= MAX_NUMBER:
            return BROKEN
        residuals.append(value)
    if at >= 0 and left:
        _merge_ascending(row, copied, intervals, residuals)
    return at


def _copy_blocks(words: Words, at: int, reference: Numbers, row: Numbers) -> tuple[int, int]:
    """Copy the blocks into `row`; return the number of successors, and the position after them."""
    blocks, at = read_gamma(words, at)
    count = begin = 0
    for block in range(blocks + 1):
        if at < 0:
            return 0, BROKEN
        end = len(reference)
        if block < blocks:
            run, at = read_gamma(words, at)
            end = begin + run + (block > 0)
        if at < 0 or end > len(reference):
            return 0, BROKEN
        if block & 1 == 0:
            if count + end - begin > len(row):
                return 0, BROKEN
            row[count : count + end - begin] = reference[begin:end]
            count += end - begin
        begin = end
    return count, at


def _read_intervals(
    words: Words, at: int, node: int, min_interval: int, most: int
) -> tuple[list[int], int]:
    """The successors of the intervals, of which there are not more than `most`; the position."""
    intervals, at = read_gamma(words, at)
    found: list[int] = []
    before = 0
    for interval in range(intervals):
        gap, at = read_gamma(words, at)
        length, at = read_gamma(words, at)
        length += min_interval
        start = before + gap + 1 if interval else node + integer(gap)
        if at < 0 or not 0 <= start <= MAX_NUMBER or length > most - len(found):
            return [], BROKEN
        found += range(start, start + length)
        before = start + length
    return found, at


def _merge_ascending(row: Numbers, copied: int, intervals: list[int], residuals: list[int]) -> None:
    """Merge two sorted lists into a row that begins with a third one, from the end on."""
    i, j, k = copied - 1, len(intervals) - 1, len(residuals) - 1
    for at in range(len(row) - 1, -1, -1):
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
