"""Rows become bits (see the package).

A row is described by numbers for each row that it may refer to, and written with the one for which
these have the fewest bits; the nearest of several, as in the original. The numbers of a description
are all in γ, up to the residuals, which are in ζ.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from operator import lt, sub
from typing import TYPE_CHECKING

import numpy as np

from gossamer.links.bvgraph import check_shape, natural
from gossamer.links.bvgraph.codes import (
    WORD_BITS,
    gamma_bits,
    write_gamma,
    write_unary,
    write_zeta,
    zeta_bits,
)
from gossamer.native import are_starts, native

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.links.bvgraph.codes import Numbers, Words

MAX_CODE_BITS = 256
"""More bits than an outdegree and a reference take."""

_RUN = re.compile(rb"\x00+|\x01+")


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
    words = np.zeros(targets.size // 4 + ends.size + MAX_CODE_BITS, np.uint64)
    chains = np.zeros(ends.size, np.int64)
    how = first, starts, targets, window, max_references, min_interval, zeta
    row = at = 0
    while True:
        row, at = fill_words(*how, row, at, chains, ends, words)
        if row == ends.size:
            return words, at
        words = np.concatenate((words, np.zeros_like(words)))


@native
def fill_words(
    first: int,
    starts: Numbers,
    targets: Numbers,
    window: int,
    max_references: int,
    min_interval: int,
    zeta: int,
    row_number: int,
    at: int,
    chains: Numbers,
    ends: Numbers,
    words: Words,
) -> tuple[int, int]:
    """Encode the rows from `row_number` on, until there is no room for one.

    Returns the number of rows that are encoded, and the position after them. `chains` receives the
    number of references from each row on.
    """
    check_shape(window, min_interval, zeta)
    if len(starts) != len(ends) + 1 or not _are_rows(starts, targets):
        raise ValueError("fill_words: rows that do not ascend in their array")
    listed = [*targets]
    for n in range(row_number, len(ends)):
        row = listed[starts[n] : starts[n + 1]]
        ours = {*row}
        best, chosen = _Described([], first + n, row, min_interval), 0
        bits = 1 + best.count_bits(zeta)
        for distance in range(1, min(window, n) + 1 if len(row) else 0):
            other = n - distance
            reference = listed[starts[other] : starts[other + 1]]
            if chains[other] >= max_references or ours.isdisjoint(reference):
                continue  # nothing could be copied, and the same bits would follow
            blocks, extras = _list_blocks(ours, reference)
            tried = _Described(blocks, first + n, extras, min_interval)
            needed = distance + 1 + tried.count_bits(zeta)
            if needed < bits:
                best, chosen, bits = tried, distance, needed
        if at + bits + MAX_CODE_BITS > WORD_BITS * len(words):
            return n, at
        chains[n] = chains[n - chosen] + 1 if chosen else 0
        at = write_gamma(words, at, len(row))
        if len(row) and window:
            at = write_unary(words, at, chosen)
        at = ends[n] = best.write(words, at, zeta)
    return len(ends), at


def _are_rows(starts: Numbers, targets: Numbers) -> bool:
    return are_starts(starts, len(targets)) and all(
        all(map(lt, [-1, *targets[begin:end]], targets[begin:end]))
        for begin, end in pairwise(starts)
    )


class _Described:
    """The numbers that describe a row, after its blocks."""

    def __init__(
        self, blocks: Iterable[int], node: int, extras: list[int], min_interval: int
    ) -> None:
        """`extras`: what is not copied."""
        self._in_gamma = [*blocks]
        if extras and min_interval:
            intervals, extras = _list_intervals(node, extras, min_interval)
            self._in_gamma += intervals
        gaps = (after - before - 1 for before, after in pairwise(extras))
        self._in_zeta = [natural(extras[0] - node), *gaps] if extras else []

    def count_bits(self, zeta: int) -> int:
        lengths = _zeta_lengths(zeta)
        in_zeta = sum([lengths[(value + 1).bit_length()] for value in self._in_zeta])
        return sum(map(gamma_bits, self._in_gamma)) + in_zeta

    def write(self, words: Words, at: int, zeta: int) -> int:
        for value in self._in_gamma:
            at = write_gamma(words, at, value)
        for value in self._in_zeta:
            at = write_zeta(words, at, value, zeta)
        return at


@cache
def _zeta_lengths(zeta: int) -> list[int]:
    """The bits of ζ codes, by the number of bits of what is coded plus 1."""
    return [0, *(zeta_bits((1 << bits) - 1, zeta) for bits in range(WORD_BITS))]


def _list_blocks(ours: set[int], reference: list[int]) -> tuple[list[int], list[int]]:
    """The number of blocks and their lengths, and what is not copied of a row."""
    runs = [len(run) for run in _RUN.findall(bytes(map(ours.__contains__, reference)))]
    written = runs[:-1] if reference[0] in ours else [0, *runs[:-1]]
    blocks = [len(written), *written[:1], *(run - 1 for run in written[1:])]
    return blocks, sorted(ours.difference(reference))


def _list_intervals(node: int, extras: list[int], min_interval: int) -> tuple[list[int], list[int]]:
    """The number of intervals with the numbers that describe them, and the residuals."""
    intervals: list[int] = []
    residuals: list[int] = []
    before = done = 0
    follows = bytes(map((1).__eq__, map(sub, extras[1:], extras))) + b"\0"
    for run in re.finditer(rb"\x01{%d,}\x00" % (min_interval - 1), follows):
        begin, end = run.span()
        first = extras[begin]
        intervals += (
            first - before - 1 if intervals else natural(first - node),
            end - begin - min_interval,
        )
        residuals += extras[done:begin]
        before, done = extras[end - 1] + 1, end
    return [len(intervals) // 2, *intervals], residuals + extras[done:]
