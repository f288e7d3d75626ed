"""The rows of one key, while a user waits: without the engine, and with only one scan per layer.

Facts
  * A task writes the rows of a page next to each other, in the order in which pages arrive; the
    engine writes rows by the hash of their key. So the statistics of a Parquet file, the smallest
    and largest key, exclude almost nothing.
  * A layer never changes, so what was read about it remains true.

So the key column of a layer is read once, and remembered as hash and place of each run of equal
keys: 16 bytes, and about 1.2 µs to learn. What follows reads one row group, in small batches, as
far as the row: of a layer of a million URLs 16 ms, beside 1.2 s for the first time. The metadata of
the file, which say where its row groups begin, are kept: with the small row groups of `inlinks`, to
read them takes as long as to read the row.

Before that, the files of the layer are compared with their checksums, once per process: 0.2 to
0.4 s per GB in the page cache.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from cachetools import LRUCache

from gossamer.errors import MissingFile, StoreError
from gossamer.storage import parquet
from gossamer.tables import DATASETS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer

MAX_RUNS = 8_000_000
"""Runs remembered for all layers together: 128 MB. Layers beyond that are read again each time."""
MAX_METADATA_BYTES = 10 << 20
"""Metadata of files that are kept. In memory, they take up to six times their size in the files."""
BATCH_ROWS = 8_192
"""Rows decoded per batch of a row group."""
RUN_ROWS = 64
"""Rows decoded beyond the first row of a run: most runs end within them."""
_ROW_BITS = 40


class _Runs(NamedTuple):
    """Where runs of rows with equal keys begin in the files of a layer."""

    hashes: NDArray[np.int64]
    """The hash of each run's key, in rising order."""
    places: NDArray[np.int64]
    """For each run, its first row in the low `_ROW_BITS` bits, and the number of its file above."""

    def of(self, key: str) -> list[tuple[int, int]]:
        wanted = hash(key)
        first, last = (np.searchsorted(self.hashes, wanted, side) for side in ("left", "right"))
        found = sorted(self.places[first:last].tolist())
        return [(place >> _ROW_BITS, place & ((1 << _ROW_BITS) - 1)) for place in found]


class _Groups(NamedTuple):
    """The row groups of a file."""

    metadata: pq.FileMetaData
    starts: NDArray[np.int64]
    """The first row of each group."""


class Lookup:
    """Looks keys up in the datasets of a crawl, in the manifest that the store last read.

    Safe to use from several threads. Invariant: `_known` holds at most MAX_RUNS runs, those of the
    layers used last, and `_groups` metadata of at most MAX_METADATA_BYTES, those of the files used
    last.
    """

    def __init__(self, work: Workspace, *, once: bool = False) -> None:
        """`once`: only few keys are looked up, so that learning all of them would take longer."""
        self._work, self._once = work, once
        self._known: dict[tuple[Layer, str], _Runs] = {}
        self._groups: LRUCache[str, _Groups] = LRUCache(
            MAX_METADATA_BYTES, lambda groups: groups.metadata.serialized_size
        )
        self._guard = threading.Lock()

    def rows(
        self, dataset: str, key: str, value: str, columns: Sequence[str]
    ) -> Iterator[dict[str, Any]]:
        """The rows whose column `key` has this value, those of the newest layer first.

        Raises MissingFile if a file is missing or is not Parquet, and StoreError if it lacks a
        column that earlier versions wrote, too.
        """
        wanted = list(dict.fromkeys((key, *columns)))
        for layer in reversed(self._work.store.manifest.layers(dataset)):
            if self._once:
                places = self._scanned(layer, dataset, key, value)
            else:
                places = self._runs(layer, dataset, key).of(value)
            for number, row in places:
                path = self._path(layer, number)
                groups = self._groups_of(path)
                with open_checked(path, dataset, wanted, groups.metadata) as file:
                    held = [name for name in wanted if name in file.schema_arrow.names]
                    for batch in _run(file, groups.starts, key, value, row, held):
                        for found in batch.to_pylist():
                            yield {name: found.get(name) for name in columns}

    def _path(self, layer: Layer, number: int) -> str:
        return f"{self._work.root}/{layer.files[number].path}"

    def _runs(self, layer: Layer, dataset: str, key: str) -> _Runs:
        with self._guard:
            runs = self._known.pop((layer, key), None) or self._learn(layer, dataset, key)
            self._known[layer, key] = runs  # now the last one used
            held = sum(known.hashes.size for known in self._known.values())
            while held > MAX_RUNS:
                oldest = next(iter(self._known))
                held -= self._known.pop(oldest).hashes.size
        return runs

    def _scanned(self, layer: Layer, dataset: str, key: str, value: str) -> list[tuple[int, int]]:
        """Where runs of a key begin, as `_Runs.of`, by a pass over the keys."""
        self._work.store.check(layer.files)
        found = []
        for number in range(len(layer.files)):
            path = self._path(layer, number)
            groups = self._groups_of(path)
            rows = [np.empty(0, np.int64)]
            with open_checked(path, dataset, [key], groups.metadata) as file:
                for group, start in enumerate(groups.starts.tolist()):
                    keys = file.read_row_group(group, [key], use_threads=False).column(key)
                    same = pc.indices_nonzero(pc.equal(keys, value)).to_numpy()
                    rows.append(start + same.astype(np.int64))
            held = np.concatenate(rows)
            begins = held[np.diff(held, prepend=-2) > 1]
            found += [(number, row) for row in begins.tolist()]
        return found

    def _groups_of(self, path: str) -> _Groups:
        with self._guard:
            if (groups := self._groups.get(path)) is None:
                with _lookup_errors(path):
                    metadata = parquet.metadata(path)
                rows = [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)]
                groups = _Groups(metadata, np.cumsum([0, *rows[:-1]]))
                if metadata.serialized_size <= MAX_METADATA_BYTES:
                    self._groups[path] = groups
        return groups

    def _learn(self, layer: Layer, dataset: str, key: str) -> _Runs:
        self._work.store.check(layer.files)
        hashes, places = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for number in range(len(layer.files)):
            with open_checked(self._path(layer, number), dataset, [key]) as file:
                column = file.read([key]).column(key)
            of_rows = np.fromiter(map(hash, column.to_pylist()), np.int64, len(column))
            starts = np.flatnonzero(np.diff(of_rows, prepend=~of_rows[:1]))
            hashes.append(of_rows[starts])
            places.append(starts + (number << _ROW_BITS))
        joined = np.concatenate(hashes)
        order = np.argsort(joined)
        return _Runs(joined[order], np.concatenate(places)[order])


def _run(
    file: pq.ParquetFile,
    starts: NDArray[np.int64],
    key: str,
    value: str,
    row: int,
    columns: Sequence[str],
) -> Iterator[pa.RecordBatch]:
    """The rows from `row` that have the value; none if another key has the same hash.

    `starts`: the first row of each row group.
    """
    group = int(np.searchsorted(starts, row, "right")) - 1
    first = int(starts[group])
    size = min(row - first + RUN_ROWS, BATCH_ROWS)
    for batch in _lookup_batches(file, range(group, len(starts)), size, columns):
        first += batch.num_rows
        if first <= row:
            continue
        rest = batch.slice(max(batch.num_rows - (first - row), 0))
        same = pc.fill_null(pc.equal(rest.column(key), value), False)
        other = pc.index(same, pa.scalar(False)).as_py()
        yield rest.slice(0, None if other < 0 else other)
        if other >= 0:
            return


def _lookup_batches(
    file: pq.ParquetFile, groups: Iterable[int], size: int, columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """The rows of row groups. A group is not read before it is asked for."""
    for group in groups:
        # pyarrow's threads take longer to wake up than the group takes to decode.
        yield from file.iter_batches(
            size, row_groups=[group], columns=list(columns), use_threads=False
        )


@contextmanager
def open_checked(
    path: str, dataset: str, columns: Sequence[str], metadata: pq.FileMetaData | None = None
) -> Iterator[pq.ParquetFile]:
    """Open a file of a dataset, and check that it has these columns."""
    # Without pre_buffer, only the chunks of these columns are read, when they are decoded.
    with (
        _lookup_errors(path),
        parquet.open_parquet(path, metadata=metadata, pre_buffer=False) as file,
    ):
        held = {*file.schema_arrow.names, *DATASETS[dataset].added}
        lacking = [name for name in columns if name not in held]
        if lacking:
            what = f"has no column {', '.join(lacking)}: another version of Gossamer wrote it"
            raise StoreError(path, what, _lookup_remedy(dataset))
        yield file


@contextmanager
def _lookup_errors(path: str) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowInvalid) as error:
        raise MissingFile(path, f"cannot be read: {error}") from None


def _lookup_remedy(dataset: str) -> str:
    """The command that writes the dataset again, if there is one."""
    writer = DATASETS[dataset].writer
    if writer in ("invert", "farms", "rank", "boilerplate", "dedup"):
        return f"write it again: gossamer {writer}"
    if writer == "parse":
        return "write it again: gossamer reparse"
    return "use that version"
