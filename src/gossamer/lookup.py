"""The rows of one key, for an answer while somebody waits: no engine, and no scan but the first.

Facts
  * A task writes the rows of a page next to each other, in the order in which pages came; the
    engine writes rows by the hash of their key. So the statistics of a Parquet file, least and
    greatest key, exclude next to nothing.
  * A layer never changes. What was learnt about it stays true.

So the key column of a layer is read once, and remembered as hash and place of each run of equal
keys: 16 bytes, and about 1.2 µs to learn. What follows reads one row group, in small batches, as
far as the row: of a layer of a million URLs 16 ms, beside 1.2 s for the first time.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from gossamer.errors import MissingFile, StoreError
from gossamer.tables import DATASETS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from gossamer.store import Layer
    from gossamer.workspace import Workspace

MAX_RUNS = 8_000_000
"""Remembered of all layers together, 128 MB. Layers beyond that are read anew each time."""
BATCH_ROWS = 8_192
_ROW_BITS = 40


class _Runs(NamedTuple):
    """Where keys lie in the files of a layer."""

    hashes: NDArray[np.int64]
    """In rising order."""
    places: NDArray[np.int64]
    """Of each run the number of its file, above `_ROW_BITS`, and its first row."""

    def of(self, key: str) -> list[tuple[int, int]]:
        wanted = hash(key)
        first, last = (np.searchsorted(self.hashes, wanted, side) for side in ("left", "right"))
        found = sorted(self.places[first:last].tolist())
        return [(place >> _ROW_BITS, place & ((1 << _ROW_BITS) - 1)) for place in found]


class Lookup:
    """Looks keys up in the datasets of a crawl, as its manifest was last read.

    Used from several threads. Invariant: `_known` holds MAX_RUNS at most, the layers that were
    asked last.
    """

    def __init__(self, work: Workspace) -> None:
        self._work = work
        self._known: dict[tuple[Layer, str], _Runs] = {}
        self._guard = threading.Lock()

    def rows(
        self, dataset: str, key: str, value: str, columns: Sequence[str], round_: int | None = None
    ) -> Iterator[dict[str, Any]]:
        """The rows where the column `key` has the value, those of the newest layer first.

        Raises MissingFile where a file is gone, or is no Parquet, and StoreError where it lacks
        a column.
        """
        wanted = list(dict.fromkeys((key, *columns)))
        for layer in reversed(self._work.store.manifest.layers(dataset, round_)):
            for number, row in self._runs(layer, dataset, key).of(value):
                with opened(self._path(layer, number), dataset, wanted) as file:
                    for batch in _run(file, key, value, row, wanted):
                        yield from batch.select(columns).to_pylist()

    def _path(self, layer: Layer, number: int) -> str:
        return f"{self._work.root}/{layer.files[number].path}"

    def _runs(self, layer: Layer, dataset: str, key: str) -> _Runs:
        with self._guard:
            runs = self._known.pop((layer, key), None) or self._learn(layer, dataset, key)
            self._known[layer, key] = runs  # the last one asked
            held = sum(known.hashes.size for known in self._known.values())
            while held > MAX_RUNS:
                oldest = next(iter(self._known))
                held -= self._known.pop(oldest).hashes.size
        return runs

    def _learn(self, layer: Layer, dataset: str, key: str) -> _Runs:
        hashes, places = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for number in range(len(layer.files)):
            with opened(self._path(layer, number), dataset, [key]) as file:
                column = file.read([key]).column(key)
            of_rows = np.fromiter(map(hash, column.to_pylist()), np.int64, len(column))
            starts = np.flatnonzero(np.diff(of_rows, prepend=~of_rows[:1]))
            hashes.append(of_rows[starts])
            places.append(starts + (number << _ROW_BITS))
        joined = np.concatenate(hashes)
        order = np.argsort(joined)
        return _Runs(joined[order], np.concatenate(places)[order])


def _run(
    file: pq.ParquetFile, key: str, value: str, row: int, columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """The rows from `row` on that have the value. Another key may have the same hash."""
    group, first = _group(file.metadata, row)
    groups = range(group, file.metadata.num_row_groups)
    for batch in file.iter_batches(BATCH_ROWS, row_groups=list(groups), columns=list(columns)):
        first += batch.num_rows
        if first <= row:
            continue
        rest = batch.slice(max(batch.num_rows - (first - row), 0))
        same = pc.equal(rest.column(key), value)
        other = pc.index(same, pa.scalar(False)).as_py()
        yield rest.slice(0, None if other < 0 else other)
        if other >= 0:
            return


def _group(metadata: pq.FileMetaData, row: int) -> tuple[int, int]:
    """The row group that holds a row, and the row with which it begins."""
    first = 0
    for group in range(metadata.num_row_groups):
        rows = metadata.row_group(group).num_rows
        if row < first + rows:
            return group, first
        first += rows
    raise IndexError(row)


@contextmanager
def opened(path: str, dataset: str, columns: Sequence[str]) -> Iterator[pq.ParquetFile]:
    """A file that has these columns."""
    try:
        with pq.ParquetFile(path) as file:
            lacking = [name for name in columns if name not in file.schema_arrow.names]
            if lacking:
                what = f"has no column {', '.join(lacking)}: another version of Gossamer wrote it"
                raise StoreError(path, what, _remedy(dataset))
            yield file
    except (OSError, pa.ArrowInvalid) as error:
        raise MissingFile(path, f"cannot be read: {error}", "put it back from a copy") from None


def _remedy(dataset: str) -> str:
    """What writes a dataset anew; for what only a fetch tells there is nothing."""
    writer = DATASETS[dataset].writer
    if writer in ("invert", "rank"):
        return f"write it again: gossamer {writer}"
    if writer == "parse":
        return "write it again: gossamer parse --again"
    return "use that version"
