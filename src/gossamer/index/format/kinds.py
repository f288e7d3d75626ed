"""Short names of media types, as in `type:pdf`."""

from __future__ import annotations

_KINDS = {
    "application/epub+zip": "epub",
    "application/json": "json",
    "application/msword": "doc",
    "application/pdf": "pdf",
    "application/rtf": "rtf",
    "application/vnd.oasis.opendocument.presentation": "odp",
    "application/vnd.oasis.opendocument.spreadsheet": "ods",
    "application/vnd.oasis.opendocument.text": "odt",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "pptx",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
    "application/xhtml+xml": "html",
    "text/plain": "text",
}


def kind_of(content_type: str | None) -> str:
    """The short name of a media type, as in `type:pdf`."""
    essence = (content_type or "text/html").partition(";")[0].strip().lower()
    return _KINDS.get(essence) or essence.partition("/")[2].removeprefix("x-") or "html"
