"""Small Parquet files, read and written by this process."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from gossamer.engine.small import keys
from gossamer.engine.small.limits import MOST_BYTES, Unsupported, check_rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gossamer.engine.small.frames import Frame

_GROUP_ROWS = 1 << 20


def read_files(paths: Sequence[str], schema: pa.Schema) -> pa.Table:
    """These columns of Parquet files; those that a file lacks are NULL.

    Raises Unsupported also for a file that cannot be read: the server says what is wrong with it.
    """
    if any("://" in path for path in paths):
        raise Unsupported("a file on object storage")
    try:
        size = sum(Path(path).stat().st_size for path in paths)
        if size > MOST_BYTES:
            raise Unsupported(f"{size} bytes")
        tables, rows = [], 0
        for path in paths:
            with pq.ParquetFile(path) as file:
                rows = check_rows(rows + file.metadata.num_rows)
                present = file.schema_arrow
                names = [name for name in schema.names if name in present.names]
                tables.append(_with_schema(file.read(names, use_threads=False), schema))
    except OSError as error:
        raise Unsupported(str(error)) from error
    return pa.concat_tables(tables)


def _with_schema(table: pa.Table, schema: pa.Schema) -> pa.Table:
    if table.schema.equals(schema):
        return table
    columns = [
        table[field.name].cast(field.type)
        if field.name in table.column_names
        else pa.chunked_array([pa.nulls(table.num_rows, field.type)])
        for field in schema
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def write_files(frame: Frame, path: str, by: Sequence[str], options: Mapping[str, str]) -> None:
    """Write the rows to a file, or to one for each value of the columns in `by`.

    The folders of these are named as Spark does: `column=value`. Without rows, there is no file.
    """
    folder = Path(path)
    folder.mkdir(parents=True)
    (folder / "_SUCCESS").touch()
    if not frame.rows:
        return
    if not by:
        _write(frame, folder, options)
        return
    columns = frame.values(by)
    groups = keys.group_rows(columns, frame.rows)
    kept = frame.with_columns([each for each in frame.columns if each.name not in by])
    for number, first in enumerate(groups.firsts):
        names = (
            f"{name}={each[int(first)].as_py()}" for name, each in zip(by, columns, strict=True)
        )
        place = folder.joinpath(*names)
        place.mkdir(parents=True)
        rows = kept.filter(pa.array(groups.of_rows == number))
        _write(rows, place, options)


def _write(frame: Frame, folder: Path, options: Mapping[str, str]) -> None:
    settings: dict[str, Any] = {"compression": options.get("compression", "zstd")}
    if settings["compression"] == "uncompressed":
        settings["compression"] = "none"
    if "data_page_row_count_limit" in options:
        settings["max_rows_per_page"] = int(options["data_page_row_count_limit"])
        settings["write_page_index"] = True
    if options.get("dictionary_enabled") == "false":
        settings["use_dictionary"] = False
    group_rows = int(options.get("max_row_group_size", _GROUP_ROWS))
    table = frame.table()
    if any(pa.types.is_null(kind) for kind in table.schema.types):
        raise Unsupported("a column of NULLs without a type")
    pq.write_table(
        table, folder / f"{uuid.uuid4().hex}.parquet", row_group_size=group_rows, **settings
    )
