"""How tasks read rows that the engine has partitioned and sorted for them.

A step partitions rows by a column of numbers, and writes them sorted:

    rows.repartition(n, "part").sortWithinPartitions("part", *order)
    work.scratch_files(rows, by=["part"])

The rows of a part may be in several sorted files, which a task reads as one merged stream.
"""

from __future__ import annotations

import heapq
from operator import itemgetter
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from gossamer.storage import parquet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gossamer.storage.store import File

BATCH_ROWS = 64
"""A page may have 10 MB of text."""
READ_BUFFER_BYTES = 1 << 20


def files_of_parts(files: Iterable[File]) -> dict[int, list[File]]:
    """The files of each part, in the order of their numbers. Parts without rows are left out."""
    found: dict[int, list[File]] = {}
    for file in files:
        number = PurePath(file.path).parent.name.partition("=")[2]
        found.setdefault(int(number), []).append(file)
    return dict(sorted(found.items()))


def merge_sorted(
    paths: Iterable[str], order: Sequence[str], columns: Sequence[str] | None = None
) -> Iterator[dict[str, Any]]:
    """The rows of files sorted by `order`, merged in that order; only `columns`, or all.

    Holds a batch of rows of each file. Reads without threads, because each core has a task.
    """
    return heapq.merge(*(_part_rows(path, columns) for path in paths), key=itemgetter(*order))


def _part_rows(path: str, columns: Sequence[str] | None) -> Iterator[dict[str, Any]]:
    with parquet.open_parquet(path, buffer_size=READ_BUFFER_BYTES) as file:
        for batch in file.iter_batches(BATCH_ROWS, columns=columns, use_threads=False):
            yield from batch.to_pylist()
