"""Layers become one, whose files are sorted by the key and do not overlap.

Files that are not sorted yet are sorted first, as many rows together as `MergeSizes.run` allows.
Then each task merges a range of keys: it holds a row group of each sorted file, and writes all rows
whose keys are below the least key at which such a group ends. Of a key, the newest rows come first.

So a task holds `run_group` bytes for each `run` of new rows, however many small files they are in,
and a row group of each layer that was merged before.
"""

from __future__ import annotations

from collections import deque
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec import structs

from gossamer.storage import parquet
from gossamer.storage.task_output import (
    SMALL_PAGES,
    YIELD,
    YIELD_DDL,
    ParquetWriter,
    balance_files,
    layers_of,
)
from gossamer.tables import DATASETS, DOCUMENTS
from gossamer.upkeep.compaction.kept_rows import RULES, mark_kept

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import File, Layer
    from gossamer.storage.task_output import Row
    from gossamer.tables import Dataset

SMALL_BYTES = 32 << 20
"""Layers of this size are merged by one task: more would take longer to start."""


@dataclass(frozen=True)
class MergeSizes:
    """How much is read and written at a time, in bytes if not said otherwise."""

    file: int = 256 << 20
    """Of a merged file."""
    run: int = 256 << 20
    """Of the rows that are sorted at a time, decoded."""
    run_group: int = 4 << 20
    """Of a row group of sorted rows that are merged next, decoded."""
    group: int = 32 << 20
    """Of a row group of a merged file, decoded. A look-up reads one."""
    group_rows: int = 100_000


@dataclass(frozen=True)
class MergeJob:
    """What all tasks have in common."""

    root: str
    dataset: str
    window: int
    """All rows of later rounds stay."""
    attempt: str
    scratch: str
    outdated: tuple[str, ...]
    """Files of keys and rounds whose rows do not stay."""
    sizes: MergeSizes


@dataclass(frozen=True)
class KeyRange:
    """The keys that a task merges, of some sorted files: from `first` to before `last`."""

    paths: tuple[str, ...]
    first: str
    last: str | None


def merge_layers(
    work: Workspace,
    dataset: Dataset,
    layers: Sequence[Layer],
    window: int,
    outdated: Sequence[File] = (),
    sizes: MergeSizes = MergeSizes(),
) -> list[Layer]:
    """Merge layers into one, or none if no row stays. Raises MissingFile."""
    files = [file for layer in layers for file in layer.files]
    work.store.check(files)
    dropped = tuple(file.path for file in outdated)
    folders = work.store.attempt(dataset.name), work.scratch_attempt()
    job = MergeJob(work.root, dataset.name, window, *folders, dropped, sizes)
    runs: list[File] = []
    others: list[File] = []
    for file in files:
        (runs if is_sorted(job, file.path) else others).append(file)
    tasks = 1 if sum(file.bytes for file in others) <= SMALL_BYTES else work.engine.workers
    shares = [[file.path for file in share] for share in balance_files(others, tasks)]
    made = [str(row["path"]) for row in _map_tasks(work, shares, partial(sort_files, job))]
    paths = sorted([*made, *(file.path for file in runs)])
    rows = _map_tasks(work, list(divide_into_ranges(job, paths)), partial(merge_range, job))
    version, since = max(each.version for each in layers), min(each.since for each in layers)
    return [
        structs.replace(layer, version=version, since=since)
        for layer in layers_of(rows, layers[-1].round).values()
    ]


def _map_tasks(work: Workspace, tasks: Sequence[Any], run: Any) -> list[dict[str, Any]]:
    return work.engine.map_tasks(tasks, run, YIELD, YIELD_DDL, at_home=True)


def is_sorted(job: MergeJob, path: str) -> bool:
    """Whether a file says that its rows are sorted as a merge needs them."""
    metadata = parquet.metadata(f"{job.root}/{path}")
    order = merge_order(job.dataset)
    groups = range(metadata.num_row_groups)
    return all(metadata.row_group(number).sorting_columns == order for number in groups)


def merge_order(dataset: str) -> tuple[pq.SortingColumn, ...]:
    """How Parquet names the order of merged files."""
    order = [(RULES[dataset][0], "ascending"), ("round", "descending")]
    schema = DATASETS[dataset].schema
    found: tuple[pq.SortingColumn, ...] = pq.SortingColumn.from_ordering(schema, order)
    return found


def divide_into_ranges(job: MergeJob, paths: Sequence[str]) -> Iterator[KeyRange]:
    """Yield ranges of keys, each with about `sizes.file` of rows, and the files that have some."""
    groups: list[tuple[str, int]] = []
    ends: dict[str, str | None] = {}
    """By file, its greatest key; None if the file does not say it."""
    begins: dict[str, str] = {}
    for path in paths:
        metadata = parquet.metadata(f"{job.root}/{path}")
        for number, (least, most) in enumerate(bounds(metadata, RULES[job.dataset][0])):
            groups.append((least or "", _compressed_bytes(metadata.row_group(number))))
            begins.setdefault(path, least or "")
            ends[path] = most
    firsts, held = [""], 0
    for key, size in sorted(groups):
        if held >= job.sizes.file and key != firsts[-1]:
            firsts.append(key)
            held = 0
        held += size
    for first, last in zip_longest(firsts, firsts[1:]):
        within = (
            path
            for path, begin in begins.items()
            if (last is None or begin < last) and ((end := ends[path]) is None or end >= first)
        )
        if listed := tuple(within):
            yield KeyRange(listed, first, last)


def _compressed_bytes(group: pq.RowGroupMetaData) -> int:
    return sum(group.column(number).total_compressed_size for number in range(group.num_columns))


def bounds(metadata: pq.FileMetaData, key: str) -> Iterator[tuple[str | None, str | None]]:
    """The least and the greatest key of each row group, if the file says it."""
    column = metadata.schema.names.index(key)
    for number in range(metadata.num_row_groups):
        statistics = metadata.row_group(number).column(column).statistics
        known = statistics is not None and statistics.has_min_max
        yield (statistics.min, statistics.max) if known else (None, None)


def sort_files(job: MergeJob, paths: Sequence[str]) -> Iterator[Row]:
    """Write the rows of files to sorted ones."""
    held: list[pa.Table] = []
    size = 0
    for path in paths:
        with parquet.open_parquet(f"{job.root}/{path}") as file:
            for number in range(file.num_row_groups):
                held.append(_read_group(file, number, job.dataset))
                size += held[-1].nbytes
                if size >= job.sizes.run:
                    yield from _sorted_file(job, held)
                    held, size = [], 0
    if held:
        yield from _sorted_file(job, held)


def _sorted_file(job: MergeJob, held: Sequence[pa.Table]) -> list[Row]:
    groups = GroupWriter(job, "scratch", job.scratch, job.sizes.run_group)
    groups.write(sort_rows(job, held))
    return groups.close()


def merge_range(job: MergeJob, part: KeyRange) -> list[Row]:
    """Write the rows of a range that stay."""
    groups = GroupWriter(job, job.dataset, job.attempt, job.sizes.group)
    with ExitStack() as open_:
        files = [
            open_.enter_context(parquet.open_parquet(f"{job.root}/{path}", pre_buffer=False))
            for path in part.paths
        ]
        for rows in merge_blocks(job, [SortedRun(job, file, part) for file in files]):
            stays = mark_kept(job.dataset, rows, job.window)
            if job.outdated:
                stays &= ~_mark_outdated(job, rows)
            groups.write(rows if stays.all() else rows.filter(pa.array(stays)))
    return groups.close()


class SortedRun:
    """The rows of a sorted file in a range, which are read a row group at a time."""

    def __init__(self, job: MergeJob, file: pq.ParquetFile, part: KeyRange) -> None:
        self._key, self._dataset, self._part = RULES[job.dataset][0], job.dataset, part
        self._file = file
        self._groups = deque(
            number
            for number, (least, most) in enumerate(bounds(file.metadata, self._key))
            if (part.last is None or least is None or least < part.last)
            and (most is None or most >= part.first)
        )
        self.held = DATASETS[job.dataset].schema.empty_table()

    @property
    def goes_on(self) -> bool:
        return bool(self._groups)

    @property
    def last(self) -> str:
        """The key at which the rows that are held end."""
        key: str = self.held[self._key][-1].as_py()
        return key

    def load(self) -> None:
        """Hold the next row group, too."""
        rows = _read_group(self._file, self._groups.popleft(), self._dataset)
        begin, last = _count_below(rows[self._key], self._part.first), self._part.last
        end = rows.num_rows if last is None else _count_below(rows[self._key], last)
        self.held = pa.concat_tables([self.held, rows.slice(begin, max(end - begin, 0))])

    def take_below(self, key: str | None) -> pa.Table:
        """Give up the rows with smaller keys; None: all rows."""
        end = self.held.num_rows if key is None else _count_below(self.held[self._key], key)
        rows, self.held = self.held.slice(0, end), self.held.slice(end)
        return rows


def _count_below(keys: pa.ChunkedArray, key: str) -> int:
    """The number of sorted keys that are smaller."""
    return int(pc.sum(pc.less(keys, key)).as_py() or 0)


def merge_blocks(job: MergeJob, runs: Sequence[SortedRun]) -> Iterator[pa.Table]:
    """The rows of all runs in their order, with all rows of a key in one block."""
    while True:
        for run in runs:
            while run.goes_on and not run.held.num_rows:
                run.load()
        open_ = [run for run in runs if run.goes_on]
        limit = min((run.last for run in open_), default=None)
        rows = [table for table in (run.take_below(limit) for run in runs) if table.num_rows]
        if rows:
            yield rows[0] if len(rows) == 1 else sort_rows(job, rows)
        if not open_:
            return
        if not rows:  # the rows of a key fill more than a group
            for run in open_:
                if run.last == limit:
                    run.load()


def sort_rows(job: MergeJob, tables: Iterable[pa.Table]) -> pa.Table:
    """The rows of tables, sorted; equal ones in the order in which they are given."""
    table = pa.concat_tables(tables).combine_chunks()
    order = [(RULES[job.dataset][0], "ascending"), ("round", "descending")]
    return table.take(pc.sort_indices(table, order))


def _mark_outdated(job: MergeJob, rows: pa.Table) -> Any:
    """Whether each row is of a key and a round that do not stay."""
    key = RULES[job.dataset][0]
    keys = pc.unique(rows[key].combine_chunks())
    paths = [f"{job.root}/{path}" for path in job.outdated]
    between = [(key, ">=", keys[0].as_py()), (key, "<=", keys[-1].as_py())]
    old = parquet.read_table(paths, columns=[key, "round"], filters=between)
    numbers = pc.index_in(old[key], keys)
    known = numbers.is_valid()
    old, numbers = old.filter(known), numbers.filter(known)
    of_rows = pc.index_in(rows[key], keys)
    return np.isin(_pairs(of_rows, rows, len(keys)), _pairs(numbers, old, len(keys)))


def _pairs(numbers: pa.ChunkedArray, rows: pa.Table, count: int) -> Any:
    """Keys, by their numbers, and rounds as one number."""
    return rows["round"].to_numpy().astype(np.int64) * count + numbers.to_numpy()


def _read_group(file: pq.ParquetFile, group: int, dataset: str) -> pa.Table:
    """The rows of a group. Columns that an older version did not write are null."""
    schema = DATASETS[dataset].schema
    table = file.read_row_group(group, use_threads=False)
    columns = [
        table[field.name].cast(field.type)
        if field.name in table.column_names
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)


class GroupWriter:
    """Writes rows to a file, in row groups of bounded sizes."""

    def __init__(self, job: MergeJob, dataset: str, attempt: str, group: int) -> None:
        encoding: dict[str, Any] = {"sorting_columns": merge_order(job.dataset)}
        if job.dataset == DOCUMENTS.name:
            encoding |= SMALL_PAGES
        schema = DATASETS[job.dataset].schema
        self._writer = ParquetWriter(job.root, dataset, attempt, schema=schema, encoding=encoding)
        self._most_bytes, self._most_rows = group, job.sizes.group_rows
        self._held: list[pa.Table] = []
        self._rows = self._bytes = 0

    def write(self, rows: pa.Table) -> None:
        fitting = rows.num_rows * self._most_bytes // max(rows.nbytes, 1)
        most = max(min(self._most_rows, fitting), 1)
        for at in range(0, rows.num_rows, most):
            part = rows.slice(at, most)
            self._held.append(part)
            self._rows += part.num_rows
            self._bytes += part.nbytes
            if self._rows >= self._most_rows or self._bytes >= self._most_bytes:
                self._flush()

    def _flush(self) -> None:
        if self._held:
            self._writer.write(pa.concat_tables(self._held))
        self._held, self._rows, self._bytes = [], 0, 0

    def close(self) -> list[Row]:
        self._flush()
        return self._writer.close()
