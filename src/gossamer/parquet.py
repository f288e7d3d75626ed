"""Parquet files of a crawl, wherever they are: pyarrow's functions, for paths and URLs of objects.

Of an object, the first request fetches the last TAIL_BYTES, which hold the footer, and all of a
small file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from gossamer.buckets import is_object_url
from gossamer.files import OpenObject

if TYPE_CHECKING:
    from collections.abc import Sequence

TAIL_BYTES = 64 << 10


def read_table(paths: str | Sequence[str], **options: Any) -> pa.Table:
    """`pyarrow.parquet.read_table` of one file, or of several with the same columns."""
    first = paths if isinstance(paths, str) else next(iter(paths), "")
    if not is_object_url(first):
        return pq.read_table(paths, **options)
    each = [paths] if isinstance(paths, str) else paths
    return pa.concat_tables(pq.read_table(_source(url), **options) for url in each)


def opened(path: str, **options: Any) -> pq.ParquetFile:
    return pq.ParquetFile(_source(path), **options)


def metadata(path: str) -> pq.FileMetaData:
    return pq.read_metadata(_source(path))


def schema(path: str) -> pa.Schema:
    return pq.read_schema(_source(path))


def _source(path: str) -> Any:
    if not is_object_url(path):
        return path
    return pa.PythonFile(OpenObject(path, TAIL_BYTES), mode="r")
