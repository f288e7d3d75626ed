"""Rows become bits (see the package).

A row is described by numbers for each row that it may refer to, and written with the one for which
these have the fewest bits; the nearest of several, as in the original. The numbers of a description
are all in γ, up to the residuals, which are in ζ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gossamer.links.bvgraph import natural
from gossamer.links.bvgraph.codes import (
    exponent,
    gamma_bits,
    write_gamma,
    write_unary,
    write_zeta,
    zeta_lengths,
)
from gossamer.links.bvgraph.compiled import compiled

if TYPE_CHECKING:
    from gossamer.links.bvgraph.codes import Numbers, Words

MAX_CODE_BITS = 256
"""More bits than an outdegree and a reference take."""


@compiled
def encode_rows(
    first: int,
    starts: Numbers,
    targets: Numbers,
    window: int,
    max_references: int,
    min_interval: int,
    zeta: int,
    ends: Numbers,
) -> tuple[Words, int]:
    """Encode the rows of the nodes from `first` on. Return the words, and their number of bits.

    No row refers to one before `first`. `ends` receives the position after each row.
    """
    most = 1
    for n in range(ends.size):
        most = max(most, starts[n + 1] - starts[n])
    words = np.zeros(targets.size // 4 + ends.size + MAX_CODE_BITS, np.uint64)
    best, tried = np.empty(2 * most + 8, np.int64), np.empty(2 * most + 8, np.int64)
    extras = np.empty(most, np.int64)
    chains = np.zeros(ends.size, np.int64)  # the number of references from each row on
    lengths = zeta_lengths(zeta)
    at = 0
    for n in range(ends.size):
        row = targets[starts[n] : starts[n + 1]]
        extras[: row.size] = row
        gammas, total = _list_rest(first + n, extras[: row.size], min_interval, best, 0)
        bits = 1 + _count_bits(best, gammas, total, lengths)
        chosen = 0
        for distance in range(1, min(window, n) + 1 if row.size else 0):
            other = n - distance
            reference = targets[starts[other] : starts[other + 1]]
            if chains[other] >= max_references or not reference.size:
                continue
            count, left = _list_blocks(row, reference, tried, extras)
            if left == row.size:  # nothing is copied, and the same bits follow
                continue
            count, size = _list_rest(first + n, extras[:left], min_interval, tried, count)
            needed = distance + 1 + _count_bits(tried, count, size, lengths)
            if needed < bits:
                best, tried = tried, best
                chosen, bits, gammas, total = distance, needed, count, size
        chains[n] = chains[n - chosen] + 1 if chosen else 0
        if at + bits + MAX_CODE_BITS > 64 * words.size:
            words = np.concatenate((words, np.zeros(words.size + bits // 64, np.uint64)))
        at = write_gamma(words, at, row.size)
        if row.size and window:
            at = write_unary(words, at, chosen)
        at = ends[n] = _write_values(words, at, best, gammas, total, zeta)
    return words, at


@compiled
def _write_values(
    words: Words, at: int, values: Numbers, gammas: int, total: int, zeta: int
) -> int:
    for value in values[:gammas]:
        at = write_gamma(words, at, value)
    for value in values[gammas:total]:
        at = write_zeta(words, at, value, zeta)
    return at


@compiled
def _count_bits(values: Numbers, gammas: int, total: int, zeta_lengths: Numbers) -> int:
    bits = 0
    for value in values[:gammas]:
        bits += gamma_bits(value)
    for value in values[gammas:total]:
        bits += zeta_lengths[exponent(value)]
    return bits


@compiled
def _list_blocks(
    row: Numbers, reference: Numbers, values: Numbers, extras: Numbers
) -> tuple[int, int]:
    """Put the blocks into `values`, and what is not copied into `extras`; return both numbers.

    What comes next in two rows is hard to predict, so a step has no branches: it writes what it may
    have to, and counts it if it had to.
    """
    count, left, i, j, run = 1, 0, 0, 0, 0
    copying = 1
    while i < row.size and j < reference.size:
        ours, theirs = row[i], reference[j]
        extras[left] = ours
        left += ours < theirs
        is_passed = int(theirs <= ours)
        turns = is_passed & int(copying != (ours == theirs))
        values[count] = run - (count > 1)
        count += turns
        run = run * (1 - turns) + is_passed
        copying ^= turns
        i += ours <= theirs
        j += is_passed
    if copying and j < reference.size:
        values[count] = run - (count > 1)
        count += 1
    values[0] = count - 1
    rest = row.size - i
    extras[left : left + rest] = row[i:]
    return count, left + rest


@compiled
def _list_rest(
    node: int, extras: Numbers, min_interval: int, values: Numbers, count: int
) -> tuple[int, int]:
    """Append what is not copied of a row to `count` values; it is overwritten.

    Returns how many values are in γ, and how many there are.
    """
    left = extras.size
    if left and min_interval:
        count, left = _list_intervals(node, extras, min_interval, values, count)
    if left:
        values[count] = natural(extras[0] - node)
    for n in range(1, left):
        values[count + n] = extras[n] - extras[n - 1] - 1
    return count, count + left


@compiled
def _list_intervals(
    node: int, extras: Numbers, min_interval: int, values: Numbers, count: int
) -> tuple[int, int]:
    """Append the intervals to `values`, and keep the residuals in `extras`; return both numbers."""
    number = count
    count += 1
    values[number] = 0
    left = start = 0
    before = -1
    while start < extras.size:
        end = start + 1
        while end < extras.size and extras[end] == extras[end - 1] + 1:
            end += 1
        if end - start >= min_interval:
            first = extras[start]
            values[count] = first - before - 1 if values[number] else natural(first - node)
            values[count + 1] = end - start - min_interval
            values[number] += 1
            count += 2
            before = first + end - start
        else:
            for n in range(start, end):
                extras[left] = extras[n]
                left += 1
        start = end
    return count, left
