"""The chunked transfer coding (RFC 9112 §7.1), decoded as leniently as browsers decode it.

As in Chromium's `http_chunked_decoder.cc`, lines may end in LF, a size may be followed by blanks,
and extensions and trailers are skipped. Both are endless if a server likes: the connection bounds
the bytes on the wire (`response_parser.py`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aiohttp.http_exceptions import TransferEncodingError

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_LINE_BYTES = 16 << 10
_SIZE = re.compile(rb"([0-9A-Fa-f]{1,16}) *(?:;.*)?\r?", re.DOTALL)


class ChunkedBody:
    """Takes the bytes of a body as they arrive, and passes on those of its chunks."""

    def __init__(self, receive: Callable[[bytes], object]) -> None:
        self._receive = receive
        self._left = 0
        """Bytes of the current chunk that have not arrived."""
        self._line = b""
        """The start of a line whose end has not arrived."""
        self._after_chunk = False
        """Whether the next line is the empty one that ends a chunk."""
        self.in_trailers = False
        """Whether the last chunk has come: only trailers may follow."""

    def feed(self, data: bytes) -> int:
        """Return the offset after the body, or -1 if it goes on. Raises TransferEncodingError."""
        place = 0
        while place < len(data):
            if self._left:
                chunk = data[place : place + self._left]
                self._left -= len(chunk)
                place += len(chunk)
                self._receive(chunk)
                self._after_chunk = not self._left
                continue
            end = data.find(b"\n", place)
            if end < 0:
                self._line += data[place:]
                if len(self._line) > MAX_LINE_BYTES:
                    raise TransferEncodingError(f"a line of more than {MAX_LINE_BYTES} bytes")
                return -1
            line, self._line = self._line + data[place:end], b""
            place = end + 1
            if self._take_line(line):
                return place
        return -1

    def _take_line(self, line: bytes) -> bool:
        """Whether the line ends the body."""
        if self.in_trailers:
            return line in (b"", b"\r")
        if self._after_chunk:
            if line not in (b"", b"\r"):
                raise TransferEncodingError("a chunk that is longer than its size")
            self._after_chunk = False
        elif size := _SIZE.fullmatch(line):
            self._left = int(size[1], 16)
            self.in_trailers = not self._left
        else:
            raise TransferEncodingError("a chunk without a size")
        return False
