"""EPUB (W3C, 3.3; and 2): the chapters in the order of the spine, as one document."""

from __future__ import annotations

import posixpath
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import unquote

from gossamer.parse.documents.document_draft import Broken
from gossamer.parse.documents.html_markup import HtmlWalk
from gossamer.parse.documents.xml_markup import parse_xml
from gossamer.parse.documents.xmp import PACKAGE, read_fields
from gossamer.parse.reading.charset import decode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gossamer.parse.documents.document_draft import Draft
    from gossamer.parse.documents.zip_archive import Archive

MAX_CHAPTERS = 2_000


def read_epub(archive: Archive, draft: Draft) -> None:
    """Read the chapters into the draft; those that cannot be read are counted in its `detail`.

    Raises Broken if there is no readable package document.
    """
    package = _package(archive)
    xml = archive.read(package)
    draft.metadata.update(read_fields(xml, PACKAGE))
    unread: list[Broken] = []
    for chapter in _spine(xml, posixpath.dirname(package))[:MAX_CHAPTERS]:
        if draft.is_full():
            return
        try:
            _read_chapter(archive.read(chapter), draft)
        except Broken as error:
            unread.append(error)
    if unread:
        draft.detail = f"{len(unread)} chapters have errors: {unread[0]}"


def _read_chapter(body: bytes, draft: Draft) -> None:
    """Read a chapter. What is not well-formed is read as reading systems do, as HTML."""
    start = draft.mark()
    try:
        HtmlWalk(draft).read(body)
    except Broken:
        draft.return_to(start)
        HtmlWalk(draft).read_html(decode(body, None)[0])


def _package(archive: Archive) -> str:
    """Return the name of the first package document in the container (§4.2.6.3.1)."""
    found: list[str] = []

    def start(name: str, attributes: Mapping[str, str]) -> None:
        if name == "rootfile":
            found.append(attributes.get("full-path", ""))

    with suppress(Broken):
        parse_xml(archive.find("META-INF/container.xml"), start)
    packages = found or [name for name in archive.names if name.endswith(".opf")]
    if not packages:
        raise Broken("no package document")
    return packages[0]


def _spine(xml: bytes, folder: str) -> list[str]:
    files: dict[str, str] = {}
    order: list[str] = []

    def start(name: str, attributes: Mapping[str, str]) -> None:
        if name == "item":
            path = posixpath.join("/", folder, unquote(attributes.get("href", "")))
            files[attributes.get("id", "")] = posixpath.normpath(path).lstrip("/")
        elif name == "itemref":
            order.append(attributes.get("idref", ""))

    parse_xml(xml, start)
    return [files[idref] for idref in order if idref in files]
