"""Documents that are zip files. Their format follows from their contents, not from their type.

OpenDocument and EPUB begin with a file `mimetype` that contains the type (OpenDocument 1.3 part 2
§3.3, EPUB 3.3 §4.2.3); Office has the type of its main part in `[Content_Types].xml`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.parse.documents.document_draft import Broken, Unsupported
from gossamer.parse.documents.docx import read_docx
from gossamer.parse.documents.epub import read_epub
from gossamer.parse.documents.open_document import read_open_document
from gossamer.parse.documents.pptx_slides import read_pptx
from gossamer.parse.documents.word_chunks import read_chunk
from gossamer.parse.documents.xlsx_sheets import read_xlsx
from gossamer.parse.documents.zip_archive import opened

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gossamer.parse.documents.document_draft import Draft
    from gossamer.parse.documents.zip_archive import Archive

_OFFICE = "application/vnd.openxmlformats-officedocument"
_OASIS = "application/vnd.oasis.opendocument"
_EPUB = "application/epub+zip"
_DOCX = f"{_OFFICE}.wordprocessingml.document"
_PPTX = f"{_OFFICE}.presentationml.presentation"
_XLSX = f"{_OFFICE}.spreadsheetml.sheet"
_MAX_MIMETYPE_BYTES = 100

_READERS: Mapping[str, Callable[[Archive, Draft], None]] = {
    _DOCX: lambda archive, draft: read_docx(archive, draft, read_chunk),
    _PPTX: read_pptx,
    _XLSX: read_xlsx,
    _EPUB: read_epub,
    f"{_OASIS}.text": read_open_document,
    f"{_OASIS}.spreadsheet": read_open_document,
    f"{_OASIS}.presentation": read_open_document,
}
_MAIN_PARTS = {
    "wordprocessingml.document.main": _DOCX,
    "wordprocessingml.template.main": _DOCX,
    "ms-word.document.macroEnabled.main": _DOCX,
    "ms-word.template.macroEnabledTemplate.main": _DOCX,
    "presentationml.presentation.main": _PPTX,
    "presentationml.slideshow.main": _PPTX,
    "presentationml.template.main": _PPTX,
    "ms-powerpoint.presentation.macroEnabled.main": _PPTX,
    "ms-powerpoint.slideshow.macroEnabled.main": _PPTX,
    "ms-powerpoint.template.macroEnabled.main": _PPTX,
    "spreadsheetml.sheet.main": _XLSX,
    "spreadsheetml.template.main": _XLSX,
    "ms-excel.sheet.macroEnabled.main": _XLSX,
    "ms-excel.template.macroEnabled.main": _XLSX,
}
_USUAL_NAMES = {
    "word/document.xml": _DOCX,
    "ppt/presentation.xml": _PPTX,
    "xl/workbook.xml": _XLSX,
    "META-INF/container.xml": _EPUB,
}


def read_zip(body: bytes, draft: Draft) -> None:
    """Read a zipped document. Raises Unsupported for other zip files, and Broken."""
    with opened(body) as archive:
        kind = type_of(archive)
        if kind is None:
            raise Unsupported("a zip file of no known format")
        draft.content_type = kind
        if kind not in _READERS:
            raise Unsupported(kind)
        _READERS[kind](archive, draft)


def type_of(archive: Archive) -> str | None:
    """Return the media type of the document in an archive; None if it is not a document."""
    try:
        declared = archive.find("mimetype")[:_MAX_MIMETYPE_BYTES].decode("ascii").strip().lower()
        parts = archive.find("[Content_Types].xml").decode("utf-8", "replace")
    except (Broken, UnicodeDecodeError):
        declared = parts = ""
    if declared:
        return declared.removesuffix("-template")
    for main, kind in _MAIN_PARTS.items():
        if f"{main}+xml" in parts:
            return kind
    return next((kind for name, kind in _USUAL_NAMES.items() if name in archive), None)
