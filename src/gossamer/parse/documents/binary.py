"""Which reader reads a file that is not HTML? The one of its type, by what its bytes show."""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from typing import TYPE_CHECKING

from gossamer.parse.documents.document_draft import BinaryDocument, Broken, Draft, Unsupported
from gossamer.parse.parsed_page import ParsedPage
from gossamer.parse.reading.body_cache import remember_latest
from gossamer.parse.reading.references import References

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gossamer.parse.parsed_page import Content, Rules


MAX_OFFSET = 1_024
"""Offset up to which a PDF's signature may begin (PDF 1.7, appendix H.3, note 13)."""

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
"""Media types in lower case, and the kind of file that each stands for."""

JSON_SUFFIX = "+json"
"""Suffix of media types of files that are written as JSON (RFC 6839 §3.1)."""

_READERS = {
    "pdf": "pdf:read_pdf",
    "rtf": "rtf:read_rtf",
    "zip": "zip_documents:read_zip",
    "markdown": "markdown:read_markdown",
    "json": "text_formats:read_json",
    "xml": "text_formats:read_xml",
    "image": "image:read_image",
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
    """Read a file, with at most `max_chars` characters of text. Raises nothing but MemoryError.

    `mime` is its declared type in lower case, without parameters; the file's first bytes take
    precedence. A hostile file may take seconds.
    """
    kind = kind_of(mime, body)
    draft = Draft(max_chars, mime if declared_kind(mime) == kind else _TYPES.get(kind, mime))
    if kind == "ole":
        return draft.finish_unsupported("OLE: Office before 2007, or encrypted")
    if kind not in _READERS:
        return draft.finish_unsupported(mime)
    module, _, name = _READERS[kind].partition(":")
    read: Callable[[bytes, Draft], None] = getattr(import_module(f"{__package__}.{module}"), name)
    try:
        read(body, draft)
    except Unsupported as reason:
        return draft.finish_unsupported(str(reason))
    except Broken as reason:
        return draft.finish_damaged(str(reason))
    except Exception as error:  # noqa: BLE001  # any file may break a reader
        return draft.finish_damaged(repr(error))
    return draft.finish()


def kind_of(mime: str, body: bytes) -> str:
    """Return a file's kind, as in BINARY_TYPES: by its first bytes, else by `mime`; else "".

    An HTML page declared as PDF, such as an error page, gets the kind "pdf"; the PDF reader then
    rejects it.
    """
    start = body[:MAX_OFFSET].lstrip()
    for magic, kind in _MAGIC.items():
        if start.startswith(magic):
            return kind
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "image"
    declared = declared_kind(mime)
    if b"%PDF-" in start[: len(start) if declared == "pdf" else 5]:
        return "pdf"
    return declared


def declared_kind(mime: str) -> str:
    """Return the kind of file that a media type stands for, by itself or by its suffix; or ""."""
    return BINARY_TYPES.get(mime) or ("json" if mime.endswith(JSON_SUFFIX) else "")


_latest_document = remember_latest(read_binary)


def parse_file(content: Content, rules: Rules) -> ParsedPage:
    """Parse a file with `gossamer.parse.documents`; `detail` reports damage. Never raises."""
    url = content.page.url
    document = _latest_document(content.mime, content.page.body, rules.max_text_chars)
    refused: Counter[str] = Counter()
    references = References(rules.max_links, refused)
    for link in document.links:
        references.add(link.url, link.anchor, "a")
    return ParsedPage(
        outcome=document.outcome,
        detail=document.detail,
        content_type=document.content_type,
        title=document.title,
        headings=document.headings,
        text=document.text,
        truncated=document.truncated,
        language_hint=document.language,
        authors=document.authors,
        published=document.published,
        modified=document.modified,
        links=references.links(url, url, rules.urls),
        refused=refused,
    )
