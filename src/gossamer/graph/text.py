"""Strings as arrays, for compiled code; and the search for many strings among sorted ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from gossamer.bvgraph.compiled import compiled

if TYPE_CHECKING:
    import numpy.typing as npt

    from gossamer.bvgraph.codes import Numbers

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


def places(wanted: pa.LargeStringArray, ascending: pa.LargeStringArray) -> Numbers:
    """The place of each wanted string among others; both ascend by their bytes.

    Of a string that is not there, it is the complement (`~`) of the number of smaller ones.
    """
    if not len(ascending):
        return np.full(len(wanted), ~0)
    return search(*text_of(wanted), *text_of(ascending))


@compiled
def search(offsets: Offsets, data: Bytes, other_offsets: Offsets, others: Bytes) -> Numbers:
    """Find `places`, each from the last one on, in steps that double (Bentley and Yao, 1976)."""
    found = np.empty(offsets.size - 1, np.int64)
    count = other_offsets.size - 1
    low = 0
    for n in range(found.size):
        begin, end = offsets[n], offsets[n + 1]
        step, high = 1, low
        while high < count and (
            compared(others, other_offsets[high], other_offsets[high + 1], data, begin, end) < 0
        ):
            low, high = high + 1, high + step
            step *= 2
        high = min(high, count)
        while low < high:
            middle = (low + high) // 2
            if (
                compared(others, other_offsets[middle], other_offsets[middle + 1], data, begin, end)
                < 0
            ):
                low = middle + 1
            else:
                high = middle
        is_there = low < count and (
            compared(others, other_offsets[low], other_offsets[low + 1], data, begin, end) == 0
        )
        found[n] = low if is_there else ~low
    return found


@compiled
def compared(ours: Bytes, begin: int, end: int, theirs: Bytes, first: int, last: int) -> int:
    """Negative if our string is smaller than theirs, 0 if they are equal, else positive."""
    length, other_length = end - begin, last - first
    for at in range(min(length, other_length)):
        if ours[begin + at] != theirs[first + at]:
            return -1 if ours[begin + at] < theirs[first + at] else 1
    return length - other_length
