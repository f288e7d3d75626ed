"""A place in the order of changes, as a text that programs keep and give back.

A cursor names its crawl and has a checksum, so that one of another crawl, or one that was cut or
mistyped, is an error and never the beginning of a wrong answer. It has nothing to do with clocks.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import struct
from typing import NamedTuple

from gossamer.errors import InvalidCursor

END = (1 << 63) - 1
"""The place after all changes of a harvest."""
MAX_CHARS = 100
_FORM = struct.Struct(">BQqQ")
_VERSION = 1
_CRAWL_BYTES, _SUM_BYTES = 4, 7
"""Together with _FORM 36 bytes, which base64 does not pad."""
AGAIN = "begin again, without a cursor"


class Cursor(NamedTuple):
    """What has been read: the changes of the harvests before `harvest`, and its own up to `place`.

    `began`: up to which harvest changes were merged when the reader began with nothing. If more are
    merged before it has read beyond these, it lacks some: of the pages that it has, others may have
    left the index.
    """

    harvest: int = 0
    place: int = -END - 1
    began: int = 0

    @property
    def position(self) -> tuple[int, int]:
        return self.harvest, self.place

    def misses(self, forgotten: int) -> bool:
        """Whether it lacks changes that were merged, those up to a harvest.

        A reader who has read nothing lacks none.
        """
        return bool(self.harvest) and self.position < (forgotten, END) and self.began < forgotten


def encode_cursor(cursor: Cursor, crawl: str) -> str:
    """`crawl`: the name of the crawl in its manifest."""
    data = _crawl_mark(crawl) + _FORM.pack(_VERSION, *cursor)
    return base64.urlsafe_b64encode(data + _checksum(data)).decode()


def decode_cursor(text: str, crawl: str) -> Cursor:
    """The cursor of a text. Raises InvalidCursor."""
    shown = repr(text[:MAX_CHARS])
    try:
        data = base64.b64decode(text.encode("ascii"), altchars=b"-_", validate=True)
    except (binascii.Error, UnicodeEncodeError):
        raise InvalidCursor(shown, "is not a cursor", AGAIN) from None
    body, found = data[:-_SUM_BYTES], data[-_SUM_BYTES:]
    if len(body) != _CRAWL_BYTES + _FORM.size:
        raise InvalidCursor(shown, "is not a cursor", AGAIN)
    if found != _checksum(body):
        raise InvalidCursor(shown, "is a damaged cursor", AGAIN)
    if body[:_CRAWL_BYTES] != _crawl_mark(crawl):
        raise InvalidCursor(shown, "is a cursor of another crawl", AGAIN)
    version, *fields = _FORM.unpack(body[_CRAWL_BYTES:])
    if version != _VERSION:
        raise InvalidCursor(shown, "is a cursor of another version of Gossamer", AGAIN)
    return Cursor(*fields)


def _crawl_mark(crawl: str) -> bytes:
    return hashlib.blake2b(crawl.encode(), digest_size=_CRAWL_BYTES).digest()


def _checksum(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_SUM_BYTES, person=b"cursor").digest()
