"""Rows that the engine has dealt to tasks and sorted, as a task takes them up.

A step deals rows by a column of numbers, and writes them sorted:

    rows.repartition(n, "part").sortWithinPartitions("part", *order)
    work.scratch_files(rows, by=["part"])

A part's rows may lie in several files, each of them sorted: a task reads one stream of all.
"""

from __future__ import annotations

import heapq
from operator import itemgetter
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gossamer.store import File

BATCH_ROWS = 256
READ_BUFFER_BYTES = 1 << 20


def parts(files: Iterable[File]) -> dict[int, list[File]]:
    """The files of each part, in the order of the parts; one without rows is not there."""
    found: dict[int, list[File]] = {}
    for file in files:
        number = PurePath(file.path).parent.name.partition("=")[2]
        found.setdefault(int(number), []).append(file)
    return dict(sorted(found.items()))


def merged(
    paths: Iterable[str], order: Sequence[str], columns: Sequence[str] | None = None
) -> Iterator[dict[str, Any]]:
    """The rows of files that are sorted by `order`, in that order; of `columns` alone, or all.

    Holds a batch of rows of each file. Reads without threads: each core has a task.
    """
    return heapq.merge(*(_rows(path, columns) for path in paths), key=itemgetter(*order))


def _rows(path: str, columns: Sequence[str] | None) -> Iterator[dict[str, Any]]:
    with pq.ParquetFile(path, buffer_size=READ_BUFFER_BYTES) as file:
        for batch in file.iter_batches(BATCH_ROWS, columns=columns, use_threads=False):
            yield from batch.to_pylist()
