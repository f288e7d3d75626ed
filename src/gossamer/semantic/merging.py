"""Segments that become one: a log-structured merge, as of the layers of datasets (state/lsm.py).

A new segment takes up older ones that are not much larger, so that there are O(log n) of them, and
a vector is written O(log n) times. None grows beyond MAX_TEXTS: a merge reads and writes all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gossamer.semantic.quantizing import Vectors, copy_rows, empty_vectors
from gossamer.semantic.segments import MAX_OWNERS, Segment, is_member, order_by_page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy import typing as npt

GROWTH = 2
"""An older segment is taken up unless it is more than this many times larger."""
MAX_TEXTS = 500_000
"""A merge holds so many vectors in memory: 290 MB of them."""
MAX_DEAD = 0.3
"""If a larger share of what a segment says has been replaced, it is written again without that."""


def taken_up(stack: Sequence[Segment]) -> int:
    """How many of the newest segments (which come last) become one; 1: none is taken up."""
    count, size = 1, stack[-1].size
    for older in reversed(stack[:-1]):
        if older.size > GROWTH * size or older.texts + size > MAX_TEXTS:
            break
        count, size = count + 1, size + older.size
    return count


def dead_share(segment: Segment, newer: Sequence[Segment]) -> float:
    """The share of a segment's owners that newer ones have replaced."""
    if not len(segment.owners):
        return 0.0
    return float(np.count_nonzero(_is_replaced(segment, newer))) / len(segment.owners)


def merge_segments(
    stack: Sequence[Segment], newer: Sequence[Segment], *, is_oldest: bool
) -> Segment:
    """One segment for some that follow each other, oldest first, and that `newer` ones follow.

    `is_oldest`: none is older, so nobody has to know which pages are gone. Vectors are gathered in
    memory.
    """
    hashes, pages = [], []
    for number, segment in enumerate(stack):
        alive = ~_is_replaced(segment, [*stack[number + 1 :], *newer])
        begins = segment.starts.astype(np.int64)
        counts = begins[1:] - begins[:-1]
        hashes.append(np.repeat(segment.hashes, counts)[alive])
        pages.append(segment.owners[alive])
    texts, starts, owners = group_owners(np.concatenate(hashes), np.concatenate(pages))
    covered = np.unique(np.concatenate([segment.covered for segment in stack]))
    if is_oldest:
        covered = np.empty(0, np.int64)
    by_page = order_by_page(owners)
    return Segment(texts, _gather(stack, texts), starts, owners, by_page, covered)


def group_owners(
    hashes: npt.NDArray[np.uint64], pages: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """Pairs of a text and a page as sorted texts, where the owners of each begin, and these."""
    order = np.lexsort((pages, hashes))
    hashes, pages = hashes[order], pages[order]
    texts, begins = np.unique(hashes, return_index=True)
    rank = np.arange(len(hashes)) - np.repeat(begins, np.diff([*begins, len(hashes)]))
    kept = rank < MAX_OWNERS
    starts = np.searchsorted(hashes[kept], texts)
    return texts, np.append(starts, np.count_nonzero(kept)).astype(np.uint64), pages[kept]


def _is_replaced(segment: Segment, newer: Sequence[Segment]) -> npt.NDArray[np.bool_]:
    """Which owners of a segment are covered by newer ones."""
    replaced = np.zeros(len(segment.owners), np.bool_)
    for each in newer:
        replaced |= is_member(segment.owners, each.covered)
    return replaced


def _gather(stack: Sequence[Segment], texts: npt.NDArray[np.uint64]) -> Vectors:
    """The vectors of texts, each from the newest segment that has it."""
    found = empty_vectors(len(texts), stack[-1].vectors.numbers.shape[1])
    for segment in stack:
        places = segment.find(texts)
        here = np.flatnonzero(places >= 0)
        copy_rows(segment.vectors, places[here], found, here)
    return found
