"""The types of columns and datasets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Mapping

_ARROW: Mapping[str, pa.DataType] = {
    "string": pa.string(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "double": pa.float64(),
    "binary": pa.binary(),
    "array<string>": pa.list_(pa.string()),
    "array<int>": pa.list_(pa.int32()),
    "array<long>": pa.list_(pa.int64()),
    "array<struct<origin:string,fetched_ms:bigint,status:int,body:binary>>": pa.list_(
        pa.struct(
            [("origin", "string"), ("fetched_ms", "int64"), ("status", "int32"), ("body", "binary")]
        )
    ),
    "array<struct<url:string,again_ms:bigint,status:int,body:binary>>": pa.list_(
        pa.struct(
            [("url", "string"), ("again_ms", "int64"), ("status", "int32"), ("body", "binary")]
        )
    ),
    "array<struct<language:string,url:string>>": pa.list_(
        pa.struct([("language", pa.string()), ("url", pa.string())])
    ),
    "array<struct<url:string,reason:string,similarity:double>>": pa.list_(
        pa.struct([("url", pa.string()), ("reason", pa.string()), ("similarity", pa.float64())])
    ),
    "array<struct<src:string,anchor:string>>": pa.list_(
        pa.struct([("src", pa.string()), ("anchor", pa.string())])
    ),
}


@dataclass(frozen=True)
class Column:
    name: str
    type: str
    """A Spark SQL type, one of the keys of `_ARROW`."""
    doc: str
    added: bool = False
    """Whether files of earlier versions lack it. Its values are null there."""


@dataclass(frozen=True)
class Dataset:
    """A table of a crawl. Its rows are in immutable layers (see store.py)."""

    name: str
    holds: str
    key: tuple[str, ...]
    writer: str
    readers: tuple[str, ...]
    newest_wins: bool
    """True: a row replaces older rows of its key. False: layers have different keys."""
    columns: tuple[Column, ...] = ()
    """Empty for files of other formats (WARC, the index), which docs/formats.md describes."""
    group_rows: int | None = None
    """Rows of a row group, of which a look-up decodes half on average; only the embedded engine
    observes it. None: the engine's default, for short rows."""
    hashed: str | None = None
    """The column with the xxhash64 of the key (lsm.py), by which few rows of many are found."""
    page_rows: int | None = None
    """Rows of a page of Parquet, for large rows that cannot be compressed: not many if few of them
    are read at once (`Engine.read_some`). None: pages of up to a megabyte, with zstd."""

    @cached_property
    def schema(self) -> pa.Schema:
        return pa.schema([(column.name, _ARROW[column.type]) for column in self.columns])

    @cached_property
    def ddl(self) -> str:
        """The schema in the form that Spark reads."""
        return ", ".join(f"{column.name} {column.type}" for column in self.columns)

    @property
    def column_names(self) -> list[str]:
        return [column.name for column in self.columns]

    @cached_property
    def added(self) -> frozenset[str]:
        """The columns that files of earlier versions lack."""
        return frozenset(column.name for column in self.columns if column.added)


def record_of_inputs(name: str, holds: str, writer: str, kinds: str) -> Dataset:
    """A dataset in which a step notes what it has read (gossamer.state.unread)."""
    return Dataset(
        name,
        holds,
        key=("kind", "name"),
        writer=writer,
        readers=(writer,),
        newest_wins=False,
        columns=(
            Column("kind", "string", f"version, {kinds}, or settings"),
            Column(
                "name",
                "string",
                "the version of the crawl that was read; the version of the oldest rows; or the "
                "settings",
            ),
        ),
    )
