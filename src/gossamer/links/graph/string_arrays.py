"""Strings as arrays, for compiled code; and the search for many strings among sorted ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from gossamer.links.bvgraph.compiled import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    from gossamer.links.bvgraph.codes import Numbers

    Bytes = npt.NDArray[np.uint8]
    Offsets = npt.NDArray[np.int64]


class Text(NamedTuple):
    """The bytes of string n are `data[offsets[n] : offsets[n + 1]]`."""

    offsets: Offsets
    data: Bytes


def text_of(strings: pa.LargeStringArray) -> Text:
    _, offsets, data = strings.buffers()
    begin, end = strings.offset, strings.offset + len(strings) + 1
    found = np.frombuffer(data if data is not None else b"", np.uint8)
    return Text(np.frombuffer(offsets, np.int64)[begin:end], found)


def strings_of(offsets: Offsets, data: Bytes) -> pa.LargeStringArray:
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), offsets.size - 1, buffers)


def find_places(wanted: pa.LargeStringArray, ascending: pa.LargeStringArray) -> Numbers:
    """The place of each wanted string among others; both ascend by their bytes.

    Of a string that is not there, it is the complement (`~`) of the number of smaller ones.
    """
    if not len(ascending):
        return np.full(len(wanted), ~0)
    return search_ascending(*text_of(wanted), *text_of(ascending))


@compiled
def search_ascending(
    offsets: Offsets, data: Bytes, other_offsets: Offsets, others: Bytes
) -> Numbers:
    """Search for each string from the place of the last one, in steps that double.

    This is the galloping search of Bentley and Yao (1976).
    """
    found = np.empty(offsets.size - 1, np.int64)
    count = other_offsets.size - 1
    low = 0
    for n in range(found.size):
        wanted = data[offsets[n] : offsets[n + 1]]
        step, high = 1, low
        below = above = 0  # bytes in common with the strings before `low` and at `high`
        while high < count:
            other = others[other_offsets[high] : other_offsets[high + 1]]
            same = common_prefix(wanted, other, 0)
            if not is_smaller(other, wanted, same):
                above = same
                break
            below = same
            low, high = high + 1, high + step
            step *= 2
        high = min(high, count)
        while low < high:  # between two strings, all have what these have in common
            middle = (low + high) // 2
            other = others[other_offsets[middle] : other_offsets[middle + 1]]
            same = common_prefix(wanted, other, min(below, above))
            if is_smaller(other, wanted, same):
                low, below = middle + 1, same
            else:
                high, above = middle, same
        is_there = low < count and (
            above == wanted.size == other_offsets[low + 1] - other_offsets[low]
        )
        found[n] = low if is_there else ~low
    return found


@compiled
def common_prefix(ours: Bytes, theirs: Bytes, known: int) -> int:
    """The number of first bytes that two strings have in common, at least `known`."""
    length = min(ours.size, theirs.size)
    while known < length and ours[known] == theirs[known]:
        known += 1
    return known


@compiled
def is_smaller(ours: Bytes, theirs: Bytes, same: int) -> bool:
    """Whether our string is before theirs, with which it has `same` bytes in common."""
    return same < theirs.size and (same == ours.size or ours[same] < theirs[same])
