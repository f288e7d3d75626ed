"""Zip files as containers of documents, with a limit on their unpacked size.

Facts: deflate compresses up to 1,032 times, so 4 MB may become 4 GB. No standard for documents uses
bzip2 or LZMA, and LZMA may request a window of 4 GB before the first byte: neither is read.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gossamer.parse.documents.document_draft import Broken, Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_UNPACKED_BYTES = 64 << 20
"""Unpacked bytes read from one archive, in total."""
MAX_MEMBERS = 20_000
_METHODS = frozenset((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
_ENCRYPTED = 0x1
_DAMAGED = (
    *(zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError),
    RuntimeError,
)
"""What zipfile raises for damaged bytes, found by experiment. It raises RuntimeError for passwords,
and for unknown versions and methods."""


class Archive:
    """The files in a zip file. Damaged or missing ones raise Broken, encrypted ones Unsupported."""

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
        """Read a file. Raises Broken if MAX_UNPACKED_BYTES are exceeded."""
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
        """Read a file; b"" if there is none of this name."""
        return self.read(name) if name in self else b""


@contextmanager
def opened(body: bytes) -> Iterator[Archive]:
    """Open a zip file. Raises Broken if it has no directory at its end."""
    try:
        zipped = zipfile.ZipFile(io.BytesIO(body))
    except _DAMAGED as error:
        raise Broken(f"not a zip file: {error}") from error
    with zipped:
        yield Archive(zipped)
