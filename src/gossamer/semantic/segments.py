"""A segment: vectors of texts, and which pages have these texts.

    magic   8 bytes
    sizes   u32: of the vectors (dimension); u64: texts, owners, covered pages
    hashes  u64 per text, ascending: xxh3 of the text, by which its vector is used again
    scales  f32 per text       signs  u64, `sign_words(dimension)` per text
    numbers i8, `dimension` per text
    starts  u64 per text, and one: where its owners begin
    owners  i64: keys of the pages that have the text (index/format/page_keys.py)
    by_page i64 per owner: their places, in the order of these keys
    covered i64, ascending: keys of the pages of which this segment knows all passages

Everything is little-endian, and each array begins at a multiple of 64 bytes. Files are mapped into
memory, so a search reads what it needs, and processes share it. A newer segment replaces what older
ones say of the pages that it covers: what is covered and owns nothing is gone.

A text that many pages have (MAX_OWNERS) says nothing about the others.
"""

from __future__ import annotations

import mmap
import struct
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import xxhash

from gossamer.errors import StoreError
from gossamer.semantic.quantizing import Vectors, sign_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy import typing as npt

    from gossamer.storage.opening import NewFile

MAGIC = b"gossvec1"
_SIZES = struct.Struct("<8sIQQQ")
ALIGNED = 64
MAX_OWNERS = 100
"""Pages of a segment that are named as owners of one text, those with the lowest keys."""
REMEDY = "make it again: gossamer embed"
CHUNK = 1 << 14


class Segment(NamedTuple):
    """Arrays, in memory or mapped from a file."""

    hashes: npt.NDArray[np.uint64]
    vectors: Vectors
    starts: npt.NDArray[np.uint64]
    owners: npt.NDArray[np.int64]
    by_page: npt.NDArray[np.int64]
    covered: npt.NDArray[np.int64]

    @property
    def texts(self) -> int:
        return len(self.hashes)

    @property
    def size(self) -> int:
        """What decides whether segments are merged: texts, and pages that it knows to be gone."""
        return len(self.hashes) + len(self.covered)

    def find(self, hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        """The places of texts with these hashes; -1 for those that are not here."""
        if not self.texts:
            return np.full(len(hashes), -1, np.int64)
        places = np.minimum(np.searchsorted(self.hashes, hashes), self.texts - 1)
        return np.where(self.hashes[places] == hashes, places, -1).astype(np.int64)

    def owners_of(self, place: int) -> npt.NDArray[np.int64]:
        begin, end = (int(each) for each in self.starts[place : place + 2])
        return self.owners[begin:end]

    def places_of(self, page: int) -> npt.NDArray[np.int64]:
        """The texts of a page, by its key."""
        begin, end = (
            np.searchsorted(self.owners, page, side, sorter=self.by_page)
            for side in ("left", "right")
        )
        found = self.by_page[begin:end]
        return np.searchsorted(self.starts, found, side="right").astype(np.int64) - 1


def order_by_page(owners: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The places of owners in the order of their keys."""
    return np.argsort(owners, kind="stable").astype(np.int64, copy=False)


def text_hash(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode())


def is_member(
    items: npt.NDArray[np.int64], ascending: npt.NDArray[np.int64]
) -> npt.NDArray[np.bool_]:
    """Which of the items are among ascending ones."""
    if not len(ascending):
        return np.zeros(len(items), np.bool_)
    places = np.minimum(np.searchsorted(ascending, items), len(ascending) - 1)
    found: npt.NDArray[np.bool_] = ascending[places] == items
    return found


def write_segment(file: NewFile, segment: Segment) -> None:
    """Write a segment to a new file, which stays open.

    Its vectors are read in chunks: they may be those of other files.
    """
    dimension = segment.vectors.numbers.shape[1]
    sizes = (segment.texts, len(segment.owners), len(segment.covered))
    _put(file, _SIZES.pack(MAGIC, dimension, *sizes))
    for array in _arrays(segment):
        for begin in range(0, len(array), CHUNK):
            piece = np.ascontiguousarray(array[begin : begin + CHUNK])
            file.write(piece.astype(piece.dtype.newbyteorder("<"), copy=False).tobytes())
        _put(file, b"")


def _arrays(segment: Segment) -> Iterator[npt.NDArray[np.generic]]:
    vectors = segment.vectors
    yield from (segment.hashes, vectors.scales, vectors.signs, vectors.numbers)
    yield from (segment.starts, segment.owners, segment.by_page, segment.covered)


def _put(file: NewFile, data: bytes) -> None:
    """Write bytes, and zeros up to where the next array begins."""
    end = file.tell() + len(data)
    file.write(data + bytes(-end % ALIGNED))


def open_segment(path: Path, named: str) -> Segment:
    """Map a segment. Raises StoreError about the file `named` if it is not one."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        if size < _SIZES.size:
            raise StoreError(named, "is damaged: it is too short", REMEDY)
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    magic, dimension, texts, owners, covered = _SIZES.unpack_from(data)
    words = sign_words(dimension)
    shapes: Sequence[tuple[str, int, int]] = (
        *(("<u8", texts, 1), ("<f4", texts, 1), ("<u8", texts, words)),
        *(("i1", texts, dimension), ("<u8", texts + 1, 1), ("<i8", owners, 1)),
        *(("<i8", owners, 1), ("<i8", covered, 1)),
    )
    if magic != MAGIC or _end(shapes) != size:
        raise StoreError(named, "is damaged, or has another format", REMEDY)
    at, arrays = _next(_SIZES.size), []
    for kind, rows, columns in shapes:
        arrays.append(array := np.frombuffer(data, kind, rows * columns, at))
        at = _next(at + array.nbytes)
    hashes, scales, signs, numbers, starts, owned, by_page, covers = arrays
    vectors = Vectors(numbers.reshape(texts, dimension), scales, signs.reshape(texts, words))
    return Segment(hashes, vectors, starts, owned, by_page, covers)


def _end(shapes: Sequence[tuple[str, int, int]]) -> int:
    at = _next(_SIZES.size)
    for kind, rows, columns in shapes:
        at = _next(at + np.dtype(kind).itemsize * rows * columns)
    return at


def _next(at: int) -> int:
    return at + -at % ALIGNED
