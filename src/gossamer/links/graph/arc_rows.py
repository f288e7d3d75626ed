"""Arcs as rows, one per source: from sorted arcs, transposed, and merged."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gossamer.native import are_places, are_starts, native

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from gossamer.links.bvgraph.codes import Numbers

    Indices = npt.NDArray[np.int32]

_NONE = np.empty(0, np.int64)


class ArcRows(NamedTuple):
    """Rows of arcs: those of `sources[n]` lead to `targets[starts[n] : starts[n + 1]]`.

    Sources are ascending, and so are the targets of each.
    """

    sources: Numbers
    starts: Numbers
    targets: Numbers
    links: Numbers
    """How many links each arc is; empty if they are not counted."""

    def part(self, first: int, last: int) -> ArcRows:
        """The rows of the nodes from `first` to before `last`."""
        begin, end = np.searchsorted(self.sources, [first, last])
        starts = self.starts[begin : end + 1]
        arcs = slice(starts[0], starts[-1])
        return ArcRows(
            self.sources[begin:end], starts - starts[0], self.targets[arcs], self.links[arcs]
        )


def rows_of_sorted_arcs(sources: Numbers, targets: Numbers, links: Numbers = _NONE) -> ArcRows:
    """Rows of arcs that are in the order of their sources, and then of their targets."""
    begins = np.flatnonzero(np.diff(sources, prepend=-1))
    return ArcRows(sources[begins], np.append(begins, sources.size), targets, links)


def number_rows(numbers: Numbers, starts: Numbers, targets: Indices) -> ArcRows:
    """Give the nodes of rows these numbers, which ascend."""
    is_source = np.diff(starts) > 0
    begins = np.append(starts[:-1][is_source], starts[-1])
    return ArcRows(numbers[is_source], begins, numbers[targets], _NONE)


def transpose_rows(rows: ArcRows) -> ArcRows:
    sources = np.repeat(rows.sources, np.diff(rows.starts))
    order = np.argsort(rows.targets, kind="stable")
    links = rows.links[order] if rows.links.size else rows.links
    return rows_of_sorted_arcs(rows.targets[order], sources[order], links)


def merge_rows(parts: Sequence[ArcRows], first: int, last: int) -> ArcRows:
    """Merge rows of the nodes from `first` to before `last`, with empty ones of those without arcs.

    An arc that is in several parts is there once, and its links are added up.
    """
    counts = np.zeros(last - first + 1, np.int64)
    for rows in parts:
        counts[rows.sources - first + 1] += np.diff(rows.starts)
    starts = counts.cumsum()
    targets = np.empty(starts[-1], np.int64)
    is_counted = any(rows.links.size for rows in parts)
    links = np.empty(starts[-1] if is_counted else 0, np.int64)
    free = starts[:-1].copy()
    for rows in parts:
        _copy_rows(rows.sources - first, *rows[1:], free, targets, links)
    if len(parts) > 1:
        _sort_rows(starts, targets, links)
    end = starts[-1]
    return ArcRows(np.arange(first, last), starts, targets[:end], links[:end])


@native
def _copy_rows(
    rows: Numbers,
    starts: Numbers,
    targets: Numbers,
    links: Numbers,
    free: Numbers,
    into: Numbers,
    links_into: Numbers,
) -> None:
    """Copy rows to the first free places in those of the same nodes."""
    if not are_starts(starts, len(targets)) or not are_places(rows, len(free)):
        raise ValueError("copy_rows: rows that are not inside their arrays")
    for row, (begin, end) in zip(rows, pairwise(starts), strict=True):
        at, after = free[row], free[row] + end - begin
        into[at:after] = targets[begin:end]
        if len(links_into):
            links_into[at:after] = links[begin:end]
        free[row] = after


@native
def _sort_rows(starts: Numbers, targets: Numbers, links: Numbers) -> None:
    """Sort each row, with each target once, and close the gaps that this leaves.

    The links of equal arcs are added up, unless `links` is empty.
    """
    if not are_starts(starts, len(targets)):
        raise ValueError("sort_rows: rows that are not inside their arrays")
    at = begin = 0
    for row in range(len(starts) - 1):
        end = starts[row + 1]
        counts = Counter[int]()
        for n in range(begin, end):
            counts[targets[n]] += links[n] if len(links) else 1
        for target in sorted(counts):
            targets[at] = target
            if len(links):
                links[at] = counts[target]
            at += 1
        begin = end
        starts[row + 1] = at
