"""Parquet files of a crawl, wherever they are: pyarrow's functions, for paths and URLs of objects.

Small objects are fetched as a whole (storage/local_copies.py). Of a large one, the first request
fetches the last TAIL_BYTES, which hold the footer.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from gossamer.storage.local_copies import near_all, near_copy
from gossamer.storage.objects.bucket import is_object_url
from gossamer.storage.opening import OpenObject
from gossamer.storage.places import local_path

if TYPE_CHECKING:
    from collections.abc import Sequence

TAIL_BYTES = 64 << 10
FOOTERS_AT_ONCE = 16
"""Each is a request."""


def read_table(paths: str | Sequence[str], **options: Any) -> pa.Table:
    """`pyarrow.parquet.read_table` of one file, or of several with the same columns."""
    each = near_all([paths] if isinstance(paths, str) else paths)
    if not any(map(is_object_url, each)):
        return pq.read_table(each, **options)
    return pa.concat_tables(pq.read_table(_source(path), **options) for path in each)


def open_parquet(path: str, **options: Any) -> pq.ParquetFile:
    return pq.ParquetFile(_source(path), **options)


def metadata(path: str) -> pq.FileMetaData:
    return pq.read_metadata(_source(path))


def schema(path: str) -> pa.Schema:
    return pq.read_schema(_source(path))


def read_footers(paths: Sequence[str]) -> list[pq.FileMetaData]:
    """As `metadata`, of files whose rows are not read here: of an object, only its end is."""
    sources = list(map(local_path, paths))
    if not any(map(is_object_url, sources)):
        return list(map(pq.read_metadata, sources))
    with ThreadPoolExecutor(FOOTERS_AT_ONCE) as threads:
        return list(threads.map(lambda source: pq.read_metadata(_open_by_ranges(source)), sources))


def _source(path: str) -> Any:
    return _open_by_ranges(near_copy(path))


def _open_by_ranges(path: str) -> Any:
    if not is_object_url(path):
        return path
    return pa.PythonFile(OpenObject(path, TAIL_BYTES), mode="r")
