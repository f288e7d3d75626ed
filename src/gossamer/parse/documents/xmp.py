"""Metadata in XML: Dublin Core and similar, as Office, OpenDocument, EPUB and XMP write it.

XMP (ISO 16684-1) is a packet within a file, which can be found without knowing the file's format.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING

from gossamer.parse.documents.document_draft import Broken, joined
from gossamer.parse.documents.xml_markup import attribute, parse_xml

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_PACKET_BYTES = 1 << 20

_START = re.compile(rb"<(?:x:)?xmpmeta[\s>]")
_END = re.compile(rb"</(?:x:)?xmpmeta>")
XMP = {
    "title": "title",
    "creator": "author",
    "CreateDate": "published",
    "ModifyDate": "modified",
    "language": "language",
    "description": "description",
}
CORE = {
    "title": "title",
    "creator": "author",
    "created": "published",
    "modified": "modified",
    "language": "language",
}
"""docProps/core.xml of Office (ISO/IEC 29500-2 §11)."""
OPEN_DOCUMENT = {
    "title": "title",
    "creator": "author",
    "initial-creator": "author",
    "creation-date": "published",
    "date": "modified",
    "language": "language",
}
"""meta.xml (OpenDocument 1.3, part 3, §4.3)."""
PACKAGE = {
    "title": "title",
    "creator": "author",
    "date": "published",
    "dcterms:modified": "modified",
    "language": "language",
}
"""An EPUB's package document (EPUB 3.3 §5.5)."""


def read_xmp(body: bytes) -> dict[str, str]:
    """Return the metadata in the first XMP packet of a file; {} if there is no readable one."""
    start = _START.search(body)
    end = None if start is None else _END.search(body, start.end())
    if start is None or end is None or end.end() - start.start() > MAX_PACKET_BYTES:
        return {}
    with suppress(Broken):
        return read_fields(body[start.start() : end.end()], XMP)
    return {}


def read_fields(xml: bytes, names: Mapping[str, str]) -> dict[str, str]:
    """Return the text of the elements in `names`, which maps them to names of fields.

    Raises Broken. Of several elements for a field the first one counts, but authors are joined. In
    RDF a value may be an attribute (CreateDate="…") or a list of values, and EPUB has elements that
    are named by an attribute `property`.
    """
    fields = _Fields(names)
    parse_xml(xml, fields.start, fields.end, fields.characters)
    return fields.found()


class _Fields:
    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = names
        self._values: dict[str, list[str]] = {}
        self._element: str | None = None
        self._field = ""
        self._pieces: list[str] = []

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "Description":
            for key, field in self._names.items():
                if (value := attribute(attributes, key)) is not None:
                    self._values.setdefault(field, []).append(value)
        elif self._element is None:
            key = attributes.get("property", name) if name == "meta" else name
            if key in self._names:
                self._element, self._field = name, self._names[key]
                self._pieces.clear()
        elif name == "li":
            self._pieces.append("\n")

    def end(self, name: str) -> None:
        if name == self._element:
            self._element = None
            self._values.setdefault(self._field, []).extend("".join(self._pieces).split("\n"))

    def characters(self, text: str) -> None:
        if self._element is not None:
            self._pieces.append(text)

    def found(self) -> dict[str, str]:
        return {
            field: joined(values) if field == "author" else next(iter(values))
            for field, raw in self._values.items()
            if (values := [value for value in map(str.strip, raw) if value])
        }
