"""How do steps and tasks open the files of a crawl, wherever it is?

A path is that of a file, or the URL of an object: `f"{work.root}/{file.path}"` is either. Files of
datasets are written once, from the beginning to the end (`create`), and read at any place
(`open_file`); those of Parquet are read by parquet.py. Small files that are written again, such as
progress and requests to stop, are replaced as a whole (`replace`).
"""

from __future__ import annotations

import io
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from gossamer.storage.checksums import ChecksummedFile, Running
from gossamer.storage.errors import disk_errors
from gossamer.storage.objects.bucket import Bucket, is_object_url, locate_object
from gossamer.storage.objects.errors import bucket_errors
from gossamer.storage.places import local_path

if TYPE_CHECKING:
    from typing import BinaryIO

    from obstore import WritableFile

BUFFER_BYTES = 128 << 10
"""Of an open file."""
RANGE_BYTES = 1 << 20
"""Of an open object, so much is read by one request."""
PART_BYTES = 8 << 20
PARTS_AT_ONCE = 2
"""A large object is uploaded in parts. A task holds so many of them in memory, and one more."""
POLL_S = 2.0
"""An object that is polled is asked for at most so often."""


class NewFile(Protocol):
    """A file that is being written. It has the methods that pyarrow needs."""

    size: int

    @property
    def xxh3(self) -> str:
        """The checksum of what was written so far."""

    @property
    def closed(self) -> bool: ...
    def write(self, data: bytes) -> int: ...
    def tell(self) -> int: ...
    def flush(self) -> None: ...
    def close(self) -> None:
        """Complete the file: an object exists from then on."""


def create(path: str) -> NewFile:
    """Create a file, and its folder. Raises FileExistsError, StoreFull and StoreError."""
    path = local_path(path)
    if is_object_url(path):
        return NewObject(path)
    with disk_errors(path):
        os.makedirs(os.path.dirname(path), exist_ok=True)  # noqa: PTH103, PTH120  # tasks write many
        return ChecksummedFile(path)


def write(path: str, data: bytes) -> NewFile:
    """Create a file with these bytes. Raises what `create` does."""
    file = create(path)
    with disk_errors(path):
        file.write(data)
        file.close()
    return file


def open_file(path: str) -> BinaryIO:
    """Open a file for reading at any place. Raises FileNotFoundError."""
    path = local_path(path)
    if is_object_url(path):
        return io.BufferedReader(OpenObject(path), RANGE_BYTES)
    return open(path, "rb", buffering=BUFFER_BYTES)  # noqa: PTH123  # as above


def read(path: str) -> bytes:
    """Raises FileNotFoundError."""
    bucket, place = _locate(path)
    return Path(place).read_bytes() if bucket is None else bucket.get(place)


def replace(path: str, data: bytes) -> None:
    """Write a small file, in place of the one that may be there. Nobody reads a part of it.

    Its folder must exist.
    """
    bucket, place = _locate(path)
    if bucket is not None:
        bucket.put(place, data)
        return
    target = Path(place)
    draft = target.with_suffix(f".{os.getpid()}.draft")
    draft.write_bytes(data)
    draft.replace(target)


def make_folder(path: str) -> None:
    """Make sure that a folder exists; buckets have none."""
    bucket, place = _locate(path)
    if bucket is None:
        Path(place).mkdir(parents=True, exist_ok=True)


def touch(path: str) -> None:
    """Make sure that a file exists. Its folder must exist."""
    bucket, place = _locate(path)
    if bucket is None:
        Path(place).touch()
    else:
        bucket.put(place, b"")


def exists(path: str) -> bool:
    bucket, place = _locate(path)
    if bucket is None:
        return os.path.exists(place)  # noqa: PTH110  # tasks ask this twice a second
    try:
        bucket.size(place)
    except FileNotFoundError:
        return False
    return True


def exists_lately(path: str) -> bool:
    """Whether a file exists, for those who ask often. Of an object, it may be two seconds old."""
    if not is_object_url(local_path(path)):
        return exists(path)
    asked_s, found = _polled.get(path, (-POLL_S, False))
    if time.monotonic() - asked_s >= POLL_S:
        found = exists(path)
        _polled[path] = time.monotonic(), found
    return found


_polled: dict[str, tuple[float, bool]] = {}


def remove(*paths: str) -> None:
    """Delete files, if they are there: all in folders, or all in one bucket."""
    objects: list[str] = []
    for path in paths:
        bucket, place = _locate(path)
        if bucket is None:
            Path(place).unlink(missing_ok=True)
        else:
            objects.append(place)
    if objects and bucket is not None:
        bucket.delete(objects)
        gone = (time.monotonic(), False)
        _polled.update((path, gone) for path in paths if path in _polled)


def list_files(folder: str) -> list[str]:
    """The paths of the files in a folder, sorted; [] if there is none."""
    bucket, place = _locate(folder)
    if bucket is None:
        return sorted(map(str, Path(place).glob("*")))
    root = folder.removesuffix(place)
    return sorted(f"{root}{found.path}" for found in bucket.list(place))


def modified_ms(path: str) -> int:
    """When a file was last written. Raises FileNotFoundError."""
    bucket, place = _locate(path)
    if bucket is None:
        return int(Path(place).stat().st_mtime * 1000)
    return int(bucket.modified(place).timestamp() * 1000)


def _locate(path: str) -> tuple[Bucket | None, str]:
    """The bucket of an object and its key, or None and the path of a file."""
    path = local_path(path)
    return locate_object(path) if is_object_url(path) else (None, path)


class NewObject(Running):
    """An object that is being written, as a multipart upload if it is large. See NewFile."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._bucket, self._key = locate_object(url)
        self._writer: WritableFile | None = self._bucket.writer(
            self._key, PART_BYTES, PARTS_AT_ONCE
        )
        super().__init__()

    @property
    def closed(self) -> bool:
        return self._writer is None

    def write(self, data: bytes) -> int:
        if self._writer is None:
            raise ValueError(f"{self._url}: is closed")
        with bucket_errors(self._url):
            self._writer.write(memoryview(data).cast("B"))  # Arrow's buffers have signed bytes
        return self._count(data)

    def close(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            self._bucket.complete(self._key, writer, self.size)


class OpenObject(io.RawIOBase):
    """An object that is read by ranges. The first request also fetches its end, and its size."""

    def __init__(self, url: str, tail_bytes: int = 0) -> None:
        super().__init__()
        self._bucket, self._key = locate_object(url)
        self._at = 0
        self._tail = b""
        if tail_bytes:
            self._tail, self._size = self._bucket.get_tail(self._key, tail_bytes)
        else:
            self._size = self._bucket.size(self._key)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._size}[whence]
        return self._at

    def read(self, size: int = -1) -> bytes:
        end = self._size if size < 0 else min(self._at + size, self._size)
        if self._at >= end:
            return b""
        start = self._at - (self._size - len(self._tail))
        if start >= 0:
            data = self._tail[start : start + end - self._at]
        else:
            data = self._bucket.get_range(self._key, self._at, end)
        self._at += len(data)
        return data

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer)  # type: ignore[arg-type]  # a writable buffer
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)
