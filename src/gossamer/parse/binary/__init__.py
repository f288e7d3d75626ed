"""Files that are not HTML: what they say, by one function for all types.

How a file is read:

  1. Its type is the one declared, if it can be true: a zip file is what is in it, and a file that
     starts as PDF, RTF or an image is one whatever it is called (`kind_of`).
  2. The type's reader fills a `Draft` (`document.py`) with text, links and metadata, until there
     is enough text. Readers of zipped formats get an `Archive` (`archive.py`), which ends at
     64 MB unpacked; XML is read as a stream by `markup.py`, which knows no entities.
  3. What a damaged file gave until its error is kept, and `detail` tells the error.

Readers are imported when the first file of their kind comes: HTML does not pay for PDFium.
Everything is bounded in memory, and in time up to what PDFium may do within one page; so this
belongs into the process that the kernel ends (`gossamer.parse.guard`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from gossamer.parse.binary.document import BinaryDocument, Broken, Draft, FileLink, Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["BINARY_TYPES", "BinaryDocument", "FileLink", "kind_of", "read_binary"]

MAX_OFFSET = 1_024
"""How far from the start PDF's signature may be (PDF 1.7, appendix H.3, note 13)."""

_OFFICE = "application/vnd.openxmlformats-officedocument"
_OASIS = "application/vnd.oasis.opendocument"

BINARY_TYPES: Mapping[str, str] = {
    **dict.fromkeys(("application/pdf", "application/x-pdf"), "pdf"),
    **dict.fromkeys(("application/rtf", "text/rtf", "application/x-rtf"), "rtf"),
    f"{_OFFICE}.wordprocessingml.document": "zip",
    f"{_OFFICE}.wordprocessingml.template": "zip",
    f"{_OFFICE}.presentationml.presentation": "zip",
    f"{_OFFICE}.presentationml.slideshow": "zip",
    f"{_OFFICE}.spreadsheetml.sheet": "zip",
    "application/vnd.ms-word.document.macroenabled.12": "zip",
    "application/vnd.ms-powerpoint.presentation.macroenabled.12": "zip",
    "application/vnd.ms-excel.sheet.macroenabled.12": "zip",
    f"{_OASIS}.text": "zip",
    f"{_OASIS}.spreadsheet": "zip",
    f"{_OASIS}.presentation": "zip",
    "application/epub+zip": "zip",
    **dict.fromkeys(("application/zip", "application/x-zip-compressed"), "zip"),
    **dict.fromkeys(("application/msword", "application/vnd.ms-excel"), "ole"),
    "application/vnd.ms-powerpoint": "ole",
    **dict.fromkeys(("text/markdown", "text/x-markdown"), "markdown"),
    **dict.fromkeys(("application/json", "application/ld+json", "text/json"), "json"),
    **dict.fromkeys(("application/xml", "text/xml"), "xml"),
    **dict.fromkeys(("image/jpeg", "image/png", "image/gif", "image/webp", "image/tiff"), "image"),
}
"""Media types, in lower case, and the kind of file that is behind them."""

_READERS = {
    "pdf": "pdf:read",
    "rtf": "rtf:read",
    "zip": "zipped:read",
    "markdown": "plain:read_markdown",
    "json": "plain:read_json",
    "xml": "plain:read_xml",
    "image": "image:read",
}
_TYPES = {"pdf": "application/pdf", "rtf": "application/rtf", "zip": "application/zip"}
_MAGIC = {
    b"PK\x03\x04": "zip",
    b"{\\rtf": "rtf",
    b"\xff\xd8\xff": "image",
    b"\x89PNG\r\n\x1a\n": "image",
    b"GIF8": "image",
    b"II*\0": "image",
    b"MM\0*": "image",
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "ole",
}


def read_binary(mime: str, body: bytes, max_chars: int) -> BinaryDocument:
    """What a file says, in at most `max_chars` characters of text. Never raises for any bytes.

    `mime` is its type without parameters, in lower case; the file itself knows better. Raises
    MemoryError, and may take seconds for a file made to.
    """
    kind = kind_of(mime, body)
    draft = Draft(max_chars, mime if BINARY_TYPES.get(mime) == kind else _TYPES.get(kind, mime))
    if kind == "ole":
        return draft.refused("OLE: Office before 2007, or encrypted")
    if kind not in _READERS:
        return draft.refused(mime)
    module, _, name = _READERS[kind].partition(":")
    read: Callable[[bytes, Draft], None] = getattr(import_module(f"{__name__}.{module}"), name)
    try:
        read(body, draft)
    except Unsupported as reason:
        return draft.refused(str(reason))
    except Broken as reason:
        return draft.damaged(str(reason))
    except Exception as error:  # noqa: BLE001  # a file is data, and so is what it breaks
        return draft.damaged(repr(error))
    return draft.done()


def kind_of(mime: str, body: bytes) -> str:
    """The kind of a file, as in BINARY_TYPES, by its first bytes before its type; "" for none.

    A page of HTML that calls itself PDF, as servers send for what they miss, has the kind of its
    type, and its reader finds no such file.
    """
    start = body[:MAX_OFFSET].lstrip()
    for magic, kind in _MAGIC.items():
        if start.startswith(magic):
            return kind
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "image"
    declared = BINARY_TYPES.get(mime, "")
    if b"%PDF-" in start[: len(start) if declared == "pdf" else 5]:
        return "pdf"
    return declared
