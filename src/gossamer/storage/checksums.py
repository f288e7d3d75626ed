"""xxh3 checksums of files, 64 bits as 16 hex digits, against accidental damage.

They do not protect against forgery: anybody who can change a file can change the checksum in the
manifest, too. One damaged file in 2^64 goes unnoticed. Cost: 0.2 to
0.4 s per GB in the page cache.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

import xxhash

if TYPE_CHECKING:
    from os import PathLike

CHUNK_BYTES = 1 << 20
"""Bytes per read. At this size xxhash and read(2) release the GIL, so threads run in parallel."""


def checksum_bytes(data: bytes) -> str:
    return xxhash.xxh3_64_hexdigest(data)


def checksum_file(path: str | PathLike[str]) -> str:
    """The checksum of a file, which is read in chunks."""
    hasher, buffer = xxhash.xxh3_64(), bytearray(CHUNK_BYTES)
    view = memoryview(buffer)
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123  # takes any kind of path
        while size := file.readinto(buffer):
            hasher.update(view[:size])
    return hasher.hexdigest()


class Running:
    """The size and checksum of what is written sequentially, with methods that pyarrow needs."""

    def __init__(self) -> None:
        self._hasher = xxhash.xxh3_64()
        self.size = 0

    @property
    def xxh3(self) -> str:
        return self._hasher.hexdigest()

    def tell(self) -> int:
        return self.size

    def flush(self) -> None:
        """Do nothing: nobody reads the file before it is closed."""

    def _count(self, data: bytes) -> int:
        self._hasher.update(data)
        self.size += len(data)
        return len(data)


class ChecksummedFile(Running):
    """A new file that is written sequentially, with a running checksum.

    If a task failed to close it, it is closed without a warning, because the file is garbage then.
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self._descriptor = -1
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
        super().__init__()

    def __del__(self) -> None:
        self.close()

    @property
    def closed(self) -> bool:
        return self._descriptor < 0

    def write(self, data: bytes) -> int:
        """Append all of `data`, or nothing. Raises OSError."""
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._descriptor, self.size)
                os.lseek(self._descriptor, self.size, os.SEEK_SET)
            raise
        return self._count(data)

    def close(self) -> None:
        if not self.closed:
            descriptor, self._descriptor = self._descriptor, -1
            os.close(descriptor)
