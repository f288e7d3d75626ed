"""Small Parquet files, read and written by this process."""

from __future__ import annotations

import os
import sys
import threading
import uuid
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from cachetools import LRUCache

from gossamer.engine.small import keys
from gossamer.engine.small.frames import Column, Deferred, Frame, one_array
from gossamer.engine.small.limits import Unsupported, check_bytes, check_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_GROUP_ROWS = 1 << 20
KEPT_FOOTERS = 256
KEPT_BYTES, KEPT_COLUMN_BYTES = 8 << 20, 1 << 20
"""Of the columns that are kept for other queries, and of one of them."""
_OBJECTS = 1_000
"""Bytes of the objects that a column in memory takes besides."""
_MANY_ROWS, _NUMBER_BYTES = 1_000, 8
"""From so many rows on, texts with fewer bytes per row are read as numbers and a dictionary, which
takes half the time. Those of links have 0.6 to 5, and so they fit into what is kept."""
KEPT_OPEN = 16
"""Files of a read that stay open until the query ends. To open a file takes as long as to read a
small column, but a process may open a thousand."""

_footers: LRUCache[Any, _Footer] = LRUCache(KEPT_FOOTERS)
_columns: LRUCache[Any, pa.Array] = LRUCache(KEPT_BYTES, lambda column: column.nbytes + _OBJECTS)
_lock = threading.Lock()


def read_files(paths: Sequence[str], schema: pa.Schema) -> Frame:
    """These columns of Parquet files; those that a file lacks are NULL.

    A column is read when its values are asked for. Raises Unsupported also for a file that cannot
    be read: the server says what is wrong with it.
    """
    if any("://" in path for path in paths):
        raise Unsupported("a file on object storage")
    with _reading():
        files = [_File(path, is_kept_open=n < KEPT_OPEN) for n, path in enumerate(paths)]
        check_bytes(sum(file.size for file in files))
        rows = 0
        for file in files:
            rows = check_rows(rows + file.footer.rows)
    columns = (
        Column(field.name, Deferred(field.type, partial(_read_column, files, field)))
        for field in schema
    )
    return Frame(tuple(columns), rows)


class _Footer(NamedTuple):
    """What is kept of a file's footer, which may take a megabyte."""

    rows: int
    columns: frozenset[str]
    repeating: frozenset[str]
    """The columns of texts that are repeated in many rows, such as those of links."""


class _File:
    """A file that a query reads. Its small columns are kept for other queries."""

    def __init__(self, path: str, *, is_kept_open: bool) -> None:
        state = os.stat(path)  # noqa: PTH116  # of some files per millisecond
        self.size = state.st_size
        self._path, self._is_kept_open = path, is_kept_open
        self._version = path, state.st_ino, state.st_mtime_ns, state.st_size
        self._opened: pq.ParquetFile | None = None
        self._metadata: pq.FileMetaData | None = None

    @cached_property
    def footer(self) -> _Footer:
        with _lock:
            found = _footers.get(self._version)
        if found is None:
            with pq.ParquetFile(self._path) as file:
                self._metadata = file.metadata
                names = frozenset(map(sys.intern, file.schema_arrow.names))
            found = _Footer(self._metadata.num_rows, names, _repeating_columns(self._metadata))
            with _lock:
                _footers[self._version] = found
        return found

    def read(self, field: pa.Field) -> pa.Array:
        """A column of the file; NULLs if it lacks the column."""
        rows, names, repeating = self.footer
        if field.name not in names:
            return pa.nulls(rows, field.type)
        key = self._version, field.name, field.type
        with _lock:
            found = _columns.get(key)
        if found is None:
            with self._open() as file:
                found = one_array(file.read([field.name], use_threads=False)[0])
            if field.name not in repeating:
                found = found.cast(field.type)
            if found.nbytes <= KEPT_COLUMN_BYTES:
                with _lock:
                    _columns[key] = found
        return found.cast(field.type)

    @contextmanager
    def _open(self) -> Iterator[pq.ParquetFile]:
        file = self._opened or pq.ParquetFile(
            self._path, metadata=self._metadata, read_dictionary=self.footer.repeating
        )
        self._metadata = file.metadata
        self._opened = file if self._is_kept_open else None
        yield file
        if not self._is_kept_open:
            file.close()


def _repeating_columns(metadata: pq.FileMetaData) -> frozenset[str]:
    """Columns whose values are numbers in a dictionary, of files that are large enough."""
    if metadata.num_rows < _MANY_ROWS:
        return frozenset()
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    found = set()
    for number in range(metadata.num_columns):
        column = metadata.schema.column(number)
        if column.logical_type.type == "STRING" and column.path == column.name:
            size = sum(group.column(number).total_uncompressed_size for group in groups)
            if size < _NUMBER_BYTES * metadata.num_rows:
                found.add(sys.intern(column.name))
    return frozenset(found)


def _read_column(files: Sequence[_File], field: pa.Field) -> pa.Array:
    with _reading():
        columns = [file.read(field) for file in files]
    return columns[0] if len(columns) == 1 else pa.concat_arrays(columns)


@contextmanager
def _reading() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unsupported(str(error)) from error


def write_files(frame: Frame, path: str, by: Sequence[str], options: Mapping[str, str]) -> None:
    """Write the rows to a file, or to one for each value of the columns in `by`.

    The folders of these are named as Spark does: `column=value`. Without rows, there is no file.
    """
    table, folder = frame.table(), Path(path)
    if any(pa.types.is_null(kind) for kind in table.schema.types):
        raise Unsupported("a column of NULLs without a type")
    folder.mkdir(parents=True)
    (folder / "_SUCCESS").touch()
    if not frame.rows:
        return
    if not by:
        _write(table, folder, options)
        return
    columns = frame.values(by)
    groups = keys.group_rows(columns, frame.rows)
    kept = table.drop_columns(by)
    for number, first in enumerate(groups.firsts):
        names = (
            f"{name}={each[int(first)].as_py()}" for name, each in zip(by, columns, strict=True)
        )
        place = folder.joinpath(*names)
        place.mkdir(parents=True)
        _write(kept.filter(pa.array(groups.of_rows == number)), place, options)


def write_file(table: pa.Table, path: str) -> None:
    """Write a table to a file, and make its folder."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, compression="zstd")


def read_file(path: str) -> pa.Table:
    return pq.read_table(path)


def _write(table: pa.Table, folder: Path, options: Mapping[str, str]) -> None:
    settings: dict[str, Any] = {"compression": options.get("compression", "zstd")}
    if settings["compression"] == "uncompressed":
        settings["compression"] = "none"
    if "data_page_row_count_limit" in options:
        settings["max_rows_per_page"] = int(options["data_page_row_count_limit"])
        settings["write_page_index"] = True
    if options.get("dictionary_enabled") == "false":
        settings["use_dictionary"] = False
    group_rows = int(options.get("max_row_group_size", _GROUP_ROWS))
    pq.write_table(
        table, folder / f"{uuid.uuid4().hex}.parquet", row_group_size=group_rows, **settings
    )
