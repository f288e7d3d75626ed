"""Strings as arrays, for loops in C; and the search for many strings among sorted ones."""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from gossamer.native import are_starts, native

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    found = np.empty(len(wanted), np.int64)
    search_ascending(*text_of(wanted), *text_of(ascending), found)
    return found


@native
def search_ascending(
    offsets: Offsets, data: Bytes, other_offsets: Offsets, others: Bytes, found: Numbers
) -> None:
    """Write the places of strings: see `find_places`.

    In C, each is searched for from the place of the last one, in steps that double: the galloping
    search of Bentley and Yao (1976). It does not compare bytes that the strings on both sides of
    the place have in common.
    """
    ascending = [bytes(others[begin:end]) for begin, end in string_bounds(other_offsets, others)]
    low = 0
    for number, (begin, end) in enumerate(string_bounds(offsets, data)):
        wanted = bytes(data[begin:end])
        low = bisect_left(ascending, wanted, low)
        is_there = low < len(ascending) and ascending[low] == wanted
        found[number] = low if is_there else ~low


def string_bounds(offsets: Offsets, data: Bytes) -> Iterator[tuple[int, int]]:
    """Where each string begins and ends, for definitions of loops."""
    if not are_starts(offsets, len(data)):
        raise ValueError("strings that are not inside their bytes")
    return pairwise(offsets)
