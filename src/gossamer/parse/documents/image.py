"""The metadata of images: XMP, Exif, and the text chunks of PNG. Pixels are not decoded.

The outcome is `parsed` if there is a title or a description. The description becomes the text.

Pillow is not used: 4 MB of empty JPEG segments take it 4 s (here 0.02 s), it rejects images whose
header is damaged and so loses their metadata, and its decoders are code that strangers could
attack.
"""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

from gossamer.parse.documents.document_draft import Broken
from gossamer.parse.documents.xmp import read_xmp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.parse.documents.document_draft import Draft

MAX_VALUE_BYTES = 65_536
MAX_ENTRIES = 1_000
MAX_BLOCKS = 10_000

_PNG = b"\x89PNG\r\n\x1a\n"
_EXIF_START = b"Exif\0\0"
_EXIF_POINTER = 0x8769
_TAGS = {
    0x010E: "description",
    0x013B: "author",
    0x0132: "modified",
    0x9003: "published",
    0x9C9B: "title",
    0x9C9D: "author",
}
"""ImageDescription, Artist, DateTime, DateTimeOriginal (Exif 2.32 §4.6); XPTitle and XPAuthor by
Windows, in UTF-16."""
_WINDOWS_TAGS = range(0x9C9B, 0x9CA0)
_SIZES = {1: 1, 2: 1, 3: 2, 4: 4, 7: 1}
"""Bytes per value of the types BYTE, ASCII, SHORT, LONG, UNDEFINED."""
_KEYWORDS = {
    b"Title": "title",
    b"Author": "author",
    b"Description": "description",
    b"Creation Time": "published",
}
"""Keywords of PNG's text chunks (PNG 3 §11.3.3.1)."""


def read_image(body: bytes, draft: Draft) -> None:
    """Read the metadata of an image. Raises Broken if it is not JPEG, PNG, WebP, TIFF or GIF."""
    if body.startswith(b"\xff\xd8\xff"):
        found = _of_jpeg(body)
    elif body.startswith(_PNG):
        found = _of_png(body)
    elif body[:4] == b"RIFF" and body[8:12] == b"WEBP":
        found = _of_webp(body)
    elif body.startswith((b"II*\0", b"MM\0*")):
        found = read_exif(body)
    elif body.startswith(b"GIF8"):
        found = {}
    else:
        raise Broken("not an image of a known format")
    metadata = found | read_xmp(body)
    if description := metadata.pop("description", ""):
        draft.say(description)
    draft.metadata.update(metadata)


def read_exif(tiff: bytes) -> dict[str, str]:
    """Return the texts in the first directory and in the Exif directory below it (TIFF 6.0 §2)."""
    order = {b"II": "<", b"MM": ">"}.get(tiff[:2])
    if order is None or len(tiff) < 8:  # noqa: PLR2004  # TIFF's header
        return {}
    found: dict[str, str] = {}
    (start,) = struct.unpack_from(f"{order}I", tiff, 4)
    for tag, value in _entries(tiff, order, start):
        if tag == _EXIF_POINTER and len(value) == _SIZES[4]:
            (inner,) = struct.unpack(f"{order}I", value)
            for tag_inside, value_inside in _entries(tiff, order, inner):
                _note(found, tag_inside, value_inside)
        else:
            _note(found, tag, value)
    return found


def _entries(tiff: bytes, order: str, start: int) -> Iterator[tuple[int, bytes]]:
    """Yield the entries of a directory, as far as they lie within the bytes."""
    if start + 2 > len(tiff):
        return
    (count,) = struct.unpack_from(f"{order}H", tiff, start)
    for at in range(start + 2, start + 2 + 12 * min(count, MAX_ENTRIES), 12):
        if at + 12 > len(tiff):
            return
        tag, kind, number, offset = struct.unpack_from(f"{order}HHII", tiff, at)
        size = _SIZES.get(kind, 0) * number
        if 0 < size <= MAX_VALUE_BYTES:
            where = at + 8 if size <= 4 else offset  # noqa: PLR2004  # it is in the entry
            yield tag, tiff[where : where + size]


def _note(found: dict[str, str], tag: int, value: bytes) -> None:
    if tag in _TAGS:
        coding = "utf-16-le" if tag in _WINDOWS_TAGS else "utf-8"
        text = value.decode(coding, "replace").partition("\0")[0].strip()
        if text:
            found.setdefault(_TAGS[tag], text)


def _of_jpeg(body: bytes) -> dict[str, str]:
    """Return the Exif texts in the segments before the image data (T.81 §B.1.1.4)."""
    at = 2
    for _ in range(MAX_BLOCKS):
        head = body[at : at + 4]
        if len(head) < 4 or head[0] != 0xFF or head[1] == 0xDA:  # noqa: PLR2004  # start of scan
            break
        (size,) = struct.unpack(">H", head[2:])
        if head[1] == 0xE1 and body.startswith(_EXIF_START, at + 4):  # noqa: PLR2004  # APP1
            return read_exif(body[at + 4 + len(_EXIF_START) : at + 2 + size])
        at += 2 + size
    return {}


def _of_png(body: bytes) -> dict[str, str]:
    found: dict[str, str] = {}
    at = len(_PNG)
    for _ in range(MAX_BLOCKS):
        head = body[at : at + 8]
        if len(head) < 8:  # noqa: PLR2004  # a chunk's length and type
            break
        (size,) = struct.unpack(">I", head[:4])
        kind, data = head[4:], body[at + 8 : at + 8 + min(size, MAX_VALUE_BYTES)]
        if kind == b"eXIf":
            found |= read_exif(data)
        elif kind in (b"tEXt", b"zTXt", b"iTXt"):
            keyword, _, value = data.partition(b"\0")
            if keyword in _KEYWORDS and (text := _png_text(kind, value)):
                found.setdefault(_KEYWORDS[keyword], text)
        at += 12 + size
    return found


def _png_text(kind: bytes, value: bytes) -> str:
    """Decode Latin-1 (tEXt), compressed Latin-1 (zTXt) or UTF-8 after its language (iTXt).

    PNG 3 §11.3.3.
    """
    coding, deflated = "latin-1", kind == b"zTXt"
    if kind == b"iTXt":
        coding, deflated = "utf-8", value[:1] == b"\1"
        value = value[2:].partition(b"\0")[2].partition(b"\0")[2]
    elif deflated:
        value = value[1:]
    if deflated:
        try:
            value = zlib.decompressobj().decompress(value, MAX_VALUE_BYTES)
        except zlib.error:
            return ""
    return value.decode(coding, "replace").strip()


def _of_webp(body: bytes) -> dict[str, str]:
    """Return the texts in the EXIF chunk of RIFF (RFC 9649 §2.7.1.5)."""
    at = 12
    for _ in range(MAX_BLOCKS):
        head = body[at : at + 8]
        if len(head) < 8:  # noqa: PLR2004  # a chunk's type and length
            break
        (size,) = struct.unpack("<I", head[4:])
        if head[:4] == b"EXIF":
            return read_exif(body[at + 8 : at + 8 + size].removeprefix(_EXIF_START))
        at += 8 + size + size % 2
    return {}
