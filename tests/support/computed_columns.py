"""What columns of the steps are for rows that a test makes by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import Column, DataFrame

    from gossamer.engine.engine import Engine


def rows_as_frame(
    engine: Engine, types: Mapping[str, pa.DataType], rows: Sequence[Mapping[str, Any]]
) -> DataFrame:
    """Rows with these columns; what a row does not name is null."""
    assert {name for row in rows for name in row} <= types.keys()
    columns = {
        name: pa.array([row.get(name) for row in rows], kind) for name, kind in types.items()
    }
    return engine.rows(pa.table(columns))


def computed(rows: DataFrame, columns: Mapping[str, Column]) -> list[dict[str, Any]]:
    """The values of columns, row by row."""
    named = [column.alias(name) for name, column in columns.items()]
    return [row.asDict(recursive=True) for row in rows.select(*named).collect()]
