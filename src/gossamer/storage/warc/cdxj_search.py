"""Finds the captures of a URL, or of a host, in sorted indexes by binary search."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO


def lines_with_prefix(index: BinaryIO, prefix: bytes) -> Iterator[bytes]:
    """Yield the lines of an index that begin with some bytes, in their order."""
    low, high = 0, index.seek(0, io.SEEK_END)
    while low < high:
        middle = (low + high) // 2
        if (line := _line_from(index, middle)) and line < prefix:
            low = middle + 1
        else:
            high = middle
    line = _line_from(index, low)
    while line and line.startswith(prefix):
        yield line
        line = index.readline()


def _line_from(index: BinaryIO, place: int) -> bytes:
    """The first line that begins at a place or after it; empty if there is none."""
    index.seek(max(place - 1, 0))
    if place:
        index.readline()
    return index.readline()
