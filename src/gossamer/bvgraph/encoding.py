"""Rows become bits (see the package).

A row is described by numbers for each row that it may refer to, and written with the one for which
these have the fewest bits; the nearest of several, as in the original. The numbers of a description
are all in γ, up to the residuals, which are in ζ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gossamer.bvgraph import natural
from gossamer.bvgraph.codes import gamma_bits, write_gamma, write_unary, write_zeta, zeta_bits
from gossamer.bvgraph.compiled import compiled

if TYPE_CHECKING:
    from gossamer.bvgraph.codes import Numbers, Words

MAX_CODE_BITS = 256
"""More bits than an outdegree and a reference take."""


@compiled
def encode(
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
    values = np.empty(2 * most + 8, np.int64)
    extras = np.empty(most, np.int64)
    chains = np.zeros(ends.size, np.int64)
    at = 0
    for n in range(ends.size):
        row = targets[starts[n] : starts[n + 1]]
        best = bits = gammas = total = 0
        if row.size:
            best, bits = _best(
                *(first, n, starts, targets, window, max_references, min_interval, zeta),
                *(chains, values, extras),
            )
            copies = targets[starts[n - best] : starts[n - best + 1]] if best else row[:0]
            gammas, total = _described(first + n, row, copies, min_interval, values, extras)
            chains[n] = chains[n - best] + 1 if best else 0
        if at + bits + MAX_CODE_BITS > 64 * words.size:
            words = np.concatenate((words, np.zeros(words.size + bits // 64, np.uint64)))
        at = write_gamma(words, at, row.size)
        if row.size and window:
            at = write_unary(words, at, best)
        for i in range(gammas):
            at = write_gamma(words, at, values[i])
        for i in range(gammas, total):
            at = write_zeta(words, at, values[i], zeta)
        ends[n] = at
    return words, at


@compiled
def _best(
    first: int,
    n: int,
    starts: Numbers,
    targets: Numbers,
    window: int,
    max_references: int,
    min_interval: int,
    zeta: int,
    chains: Numbers,
    values: Numbers,
    extras: Numbers,
) -> tuple[int, int]:
    """The distance of the best reference of row n, 0 for none, and the bits that it takes.

    `chains`: the number of references from each row on.
    """
    row = targets[starts[n] : starts[n + 1]]
    best = fewest = 0
    for distance in range(min(window, n) + 1):
        other = n - distance
        reference = targets[starts[other] : starts[other + 1]]
        if distance and (chains[other] >= max_references or not reference.size):
            continue
        copies = reference if distance else row[:0]
        gammas, total = _described(first + n, row, copies, min_interval, values, extras)
        bits = distance + 1 + _bits(values, gammas, total, zeta)
        if not distance or bits < fewest:
            best, fewest = distance, bits
    return best, fewest


@compiled
def _bits(values: Numbers, gammas: int, total: int, zeta: int) -> int:
    bits = 0
    for n in range(gammas):
        bits += gamma_bits(values[n])
    for n in range(gammas, total):
        bits += zeta_bits(values[n], zeta)
    return bits


@compiled
def _described(
    node: int, row: Numbers, reference: Numbers, min_interval: int, values: Numbers, extras: Numbers
) -> tuple[int, int]:
    """Put the numbers of a row into `values`; return how many are in γ, and how many there are.

    `reference`: the row that it refers to, empty if none. `extras`: a place for its successors.
    """
    count = left = 0
    if reference.size:
        count, left = _blocks(row, reference, values, extras)
    else:
        extras[: row.size] = row
        left = row.size
    if left and min_interval:
        count, left = _intervals(node, extras[:left], min_interval, values, count)
    for n in range(left):
        gap = extras[n] - extras[n - 1] - 1 if n else natural(extras[0] - node)
        values[count + n] = gap
    return count, count + left


@compiled
def _blocks(row: Numbers, reference: Numbers, values: Numbers, extras: Numbers) -> tuple[int, int]:
    """Put the blocks into `values`, and what is not copied into `extras`; return both numbers."""
    count, left, i, j, run = 1, 0, 0, 0, 0
    copying = True
    while i < row.size and j < reference.size:
        if row[i] < reference[j]:
            extras[left] = row[i]
            left += 1
            i += 1
        elif copying == (row[i] == reference[j]):
            i += copying
            j += 1
            run += 1
        else:
            values[count] = run - (count > 1)
            count += 1
            copying, run = not copying, 0
    if copying and j < reference.size:
        values[count] = run - (count > 1)
        count += 1
    values[0] = count - 1
    rest = row.size - i
    extras[left : left + rest] = row[i:]
    return count, left + rest


@compiled
def _intervals(
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
