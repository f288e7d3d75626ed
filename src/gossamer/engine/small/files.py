"""Small Parquet files, read and written by this process."""

from __future__ import annotations

import uuid
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from gossamer.engine.small import keys
from gossamer.engine.small.frames import Column, Deferred, Frame, one_array
from gossamer.engine.small.limits import MOST_BYTES, Unsupported, check_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_GROUP_ROWS = 1 << 20
KEPT_OPEN = 16
"""Files of a read that stay open until the query ends. To open a file takes as long as to read a
small column, but a process may open a thousand."""


def read_files(paths: Sequence[str], schema: pa.Schema) -> Frame:
    """These columns of Parquet files; those that a file lacks are NULL.

    A column is read when its values are asked for. Raises Unsupported also for a file that cannot
    be read: the server says what is wrong with it.
    """
    if any("://" in path for path in paths):
        raise Unsupported("a file on object storage")
    with _reading():
        size = sum(Path(path).stat().st_size for path in paths)
        if size > MOST_BYTES:
            raise Unsupported(f"{size} bytes")
        files, rows = [], 0
        for path in paths:
            file = pq.ParquetFile(path)
            rows = check_rows(rows + file.metadata.num_rows)
            files.append(_File(path, file, frozenset(file.schema_arrow.names)))
            if len(files) > KEPT_OPEN:
                file.close()
    columns = (
        Column(field.name, Deferred(field.type, partial(_read_column, files, field)))
        for field in schema
    )
    return Frame(tuple(columns), rows)


class _File(NamedTuple):
    path: str
    opened: pq.ParquetFile
    """It may be closed, but keeps its footer."""
    columns: frozenset[str]

    def read(self, field: pa.Field) -> pa.ChunkedArray:
        """A column of the file; NULLs if it lacks the column."""
        if field.name not in self.columns:
            return pa.chunked_array([pa.nulls(self.opened.metadata.num_rows, field.type)])
        if not self.opened.closed:
            return self._read_from(self.opened, field)
        with pq.ParquetFile(self.path, metadata=self.opened.metadata) as again:
            return self._read_from(again, field)

    @staticmethod
    def _read_from(file: pq.ParquetFile, field: pa.Field) -> pa.ChunkedArray:
        return file.read([field.name], use_threads=False)[0].cast(field.type)


def _read_column(files: Iterable[_File], field: pa.Field) -> pa.Array:
    with _reading():
        chunks = [chunk for file in files for chunk in file.read(field).chunks]
    return one_array(pa.chunked_array(chunks, field.type))


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
