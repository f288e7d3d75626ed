"""Parquet files of a crawl, wherever they are: pyarrow's functions, for paths and URLs of objects.

Of an object, the first request fetches the last TAIL_BYTES, which hold the footer, and all of a
small file.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from gossamer.buckets import is_object_url, located, parsed
from gossamer.files import OpenObject

if TYPE_CHECKING:
    from collections.abc import Sequence

TAIL_BYTES = 64 << 10


def read_table(paths: str | Sequence[str], **options: Any) -> pa.Table:
    """`pyarrow.parquet.read_table` of one file, or of several with the same columns."""
    first = paths if isinstance(paths, str) else next(iter(paths), "")
    if not is_object_url(first):
        return pq.read_table(paths, **options)
    keys = located(paths)[1] if isinstance(paths, str) else [located(path)[1] for path in paths]
    return pq.read_table(keys, filesystem=_file_system(first), **options)


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


def _file_system(url: str) -> fs.PyFileSystem:
    scheme, bucket, _ = parsed(url)
    return _opened(f"{scheme}://{bucket}")


@cache
def _opened(root: str) -> fs.PyFileSystem:
    return fs.PyFileSystem(Objects(root))


class Objects(fs.FileSystemHandler):  # type: ignore[misc]  # pyarrow has no types
    """A bucket as a file system of Arrow, as far as reading of known files needs it."""

    def __init__(self, root: str) -> None:
        self.root = root

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Objects) and other.root == self.root

    def __hash__(self) -> int:
        return hash(self.root)

    def get_type_name(self) -> str:
        return "object_store"

    def normalize_path(self, path: str) -> str:
        return path

    def get_file_info(self, paths: Sequence[str]) -> list[fs.FileInfo]:
        return [fs.FileInfo(path, fs.FileType.File) for path in paths]

    def open_input_file(self, path: str) -> pa.NativeFile:
        return _source(f"{self.root}/{path}")

    def open_input_stream(self, path: str) -> pa.NativeFile:
        return self.open_input_file(path)

    def get_file_info_selector(self, selector: fs.FileSelector) -> list[fs.FileInfo]:
        raise NotImplementedError

    def create_dir(self, path: str, recursive: bool) -> None:
        raise NotImplementedError

    def delete_dir(self, path: str) -> None:
        raise NotImplementedError

    def delete_dir_contents(self, path: str, missing_dir_ok: bool = False) -> None:
        raise NotImplementedError

    def delete_root_dir_contents(self) -> None:
        raise NotImplementedError

    def delete_file(self, path: str) -> None:
        raise NotImplementedError

    def move(self, source: str, target: str) -> None:
        raise NotImplementedError

    def copy_file(self, source: str, target: str) -> None:
        raise NotImplementedError

    def open_output_stream(self, path: str, metadata: object) -> pa.NativeFile:
        raise NotImplementedError

    def open_append_stream(self, path: str, metadata: object) -> pa.NativeFile:
        raise NotImplementedError
