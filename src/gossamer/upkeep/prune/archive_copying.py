"""Copies what stays of some archive files into one, with its index.

A record is a gzip member, so it is copied as it is: neither decompressed nor compressed again.
Damage is copied, too, and found where the record is read. Each record names the warcinfo record
that describes it (WARC-Warcinfo-ID, ISO 28500 §5.14). Those of files of which a part stays stand at
the beginning; a file that stays as a whole brings its own.
"""

from __future__ import annotations

import uuid
from bisect import bisect_left
from dataclasses import dataclass
from itertools import takewhile
from pathlib import PurePath
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa

from gossamer.storage import opening, parquet
from gossamer.storage.errors import disk_errors
from gossamer.storage.names import SCRATCH
from gossamer.storage.task_output import ParquetWriter, Row, file_row
from gossamer.storage.warc import ARCHIVE, WarcReader, cdxj, index_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gossamer.storage.opening import NewFile
    from gossamer.storage.warc.archives import Archive

MOVED = pa.schema(
    [
        ("file", pa.string()),
        ("offset", pa.int64()),
        ("length", pa.int64()),
        ("new_file", pa.string()),
        ("new_offset", pa.int64()),
    ]
)
"""Where runs of exchanges were, and where they are now."""
CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class CopyJob:
    """What all tasks have in common."""

    root: str
    attempt: str
    scratch: str
    kept: tuple[str, ...] | None
    """Files of the exchanges that stay: file, offset, length; None: all do."""


class CopySource(NamedTuple):
    """What is copied of a file."""

    path: str
    lines: dict[int, bytes]
    """The lines of its index, by offset."""
    warcinfo: bytes
    """Records that must precede the runs."""
    runs: list[tuple[int, int]]
    """Offset and length of each run of exchanges that stay, in order."""


def copy(job: CopyJob, archives: Sequence[Archive]) -> list[Row]:
    """Copy what stays of some files into one. Return rows of YIELD, one of them for MOVED."""
    path = f"{job.attempt}/{uuid.uuid4().hex}{ARCHIVE}"
    target = f"{job.root}/{path}"
    sources = list(_whole_sources(job, archives) if job.kept is None else _sources(job, archives))
    index: list[bytes] = []
    moves: list[tuple[str, int, int, str, int]] = []
    file = opening.create(target)
    with disk_errors(target):
        for source in sources:
            file.write(source.warcinfo)
        for source in sources:
            offsets = sorted(source.lines)
            with opening.open_file(f"{job.root}/{source.path}") as original:
                for begin, length in source.runs:
                    place = file.size
                    _copy(original, begin, length, file)
                    moves.append((source.path, begin, length, path, place))
                    within = slice(*(bisect_left(offsets, end) for end in (begin, begin + length)))
                    index += (
                        cdxj.move_capture(
                            source.lines[old], old - begin + place, PurePath(path).name
                        )
                        for old in offsets[within]
                    )
        file.close()
    lines = opening.write(f"{job.root}/{index_path(path)}", b"".join(sorted(index)))
    moved = ParquetWriter(job.root, SCRATCH, job.scratch, schema=MOVED)
    columns = [
        pa.array(column, field.type)
        for column, field in zip(zip(*moves, strict=True), MOVED, strict=True)
    ]
    moved.write(pa.Table.from_arrays(columns, schema=MOVED))
    return [
        file_row("warc", path, len(index), file.size, file.xxh3),
        file_row("warc", index_path(path), 0, lines.size, lines.xxh3),
        *moved.close(),
    ]


def _whole_sources(job: CopyJob, archives: Sequence[Archive]) -> Iterator[CopySource]:
    for archive in archives:
        yield CopySource(archive.path, _index_lines(job, archive), b"", [(0, archive.bytes)])


def _sources(job: CopyJob, archives: Sequence[Archive]) -> Iterator[CopySource]:
    paths = [archive.path for archive in archives]
    table = parquet.read_table(list(job.kept or ()), filters=[("file", "in", paths)])
    table = table.sort_by([("file", "ascending"), ("offset", "ascending")])
    names = table["file"].to_numpy(zero_copy_only=False)
    offsets, lengths = (table[name].to_numpy() for name in ("offset", "length"))
    for archive in archives:
        within = slice(*(np.searchsorted(names, archive.path, side) for side in ("left", "right")))
        lines = _index_lines(job, archive)
        info = warcinfo(f"{job.root}/{archive.path}", min(lines), offsets[within])
        yield CopySource(archive.path, lines, info, list(runs(offsets[within], lengths[within])))


def _index_lines(job: CopyJob, archive: Archive) -> dict[int, bytes]:
    lines = opening.read(f"{job.root}/{archive.index_file}").splitlines()
    return {int(cdxj.parse_line(line)[2].offset): line for line in lines}


def warcinfo(path: str, first: int, offsets: NDArray[np.int64]) -> bytes:
    """The warcinfo records of a file that describe some of its exchanges.

    `first`: the offset of its first exchange; `offsets`: those of the exchanges.
    """
    with WarcReader(path) as reader:
        places = [
            (begin, end)
            for _, begin, end in takewhile(lambda each: each[1] < first, reader.records())
        ]
        if len(places) > 1:
            named = {reader.fields(offset).get("warc-warcinfo-id") for offset in offsets.tolist()}
            places = [
                place for place in places if reader.fields(place[0])["warc-record-id"] in named
            ]
    with opening.open_file(path) as file:
        return b"".join(_piece(file, begin, end - begin) for begin, end in places)


def runs(offsets: NDArray[np.int64], lengths: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Offset and length of each run of neighbouring exchanges."""
    ends = offsets + lengths
    breaks = np.flatnonzero(offsets[1:] != ends[:-1]) + 1
    firsts, lasts = np.r_[0, breaks], np.r_[breaks, ends.size] - 1
    for begin, end in zip(offsets[firsts].tolist(), ends[lasts].tolist(), strict=True):
        yield begin, end - begin


def _piece(file: BinaryIO, begin: int, length: int) -> bytes:
    file.seek(begin)
    return file.read(length)


def _copy(file: BinaryIO, begin: int, length: int, target: NewFile) -> None:
    for at in range(begin, begin + length, CHUNK_BYTES):
        target.write(_piece(file, at, min(CHUNK_BYTES, begin + length - at)))
