"""Zip files as containers of documents, with an end to what they unpack to.

Facts: deflate shrinks up to 1,032 times, so 4 MB may be 4 GB. bzip2 and LZMA are in no standard
for documents, and LZMA may ask for a window of 4 GB before the first byte: neither is read.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gossamer.parse.binary.document import Broken, Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_UNPACKED_BYTES = 64 << 20
"""Of all that is read from one archive."""
MAX_MEMBERS = 20_000
_METHODS = frozenset((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
_ENCRYPTED = 0x1
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError),
    RuntimeError,
)
"""What zipfile raises for bytes that are none, as tried. RuntimeError is its word for a password,
and for versions and methods that it does not know."""


class Archive:
    """The files within. Whatever is damaged or missing raises Broken, encryption Unsupported."""

    def __init__(self, zipped: zipfile.ZipFile) -> None:
        members = zipped.infolist()
        if len(members) > MAX_MEMBERS:
            raise Broken(f"more than {MAX_MEMBERS:,} files in the archive")
        self._zip = zipped
        self._left = MAX_UNPACKED_BYTES
        self._members = {member.filename: member for member in members}
        self.names = tuple(self._members)

    def __contains__(self, name: object) -> bool:
        return name in self._members

    def read(self, name: str) -> bytes:
        """A file, of which no more is read than is left of MAX_UNPACKED_BYTES."""
        member = self._members.get(name)
        if member is None:
            raise Broken(f"no {name} in the archive")
        if member.flag_bits & _ENCRYPTED:
            raise Unsupported("encrypted")
        if member.compress_type not in _METHODS:
            raise Unsupported(f"zip method {member.compress_type}")
        try:
            with self._zip.open(member) as file:
                data = file.read(self._left + 1)
        except _DAMAGED as error:
            raise Broken(f"{name}: {error}") from error
        if len(data) > self._left:
            raise Broken(f"more than {MAX_UNPACKED_BYTES >> 20} MB unpacked")
        self._left -= len(data)
        return data

    def find(self, name: str) -> bytes:
        """A file that need not be there."""
        return self.read(name) if name in self else b""


@contextmanager
def opened(body: bytes) -> Iterator[Archive]:
    """Raises Broken where there is no directory at the end of the bytes."""
    try:
        zipped = zipfile.ZipFile(io.BytesIO(body))
    except _DAMAGED as error:
        raise Broken(f"no zip file: {error}") from error
    with zipped:
        yield Archive(zipped)
