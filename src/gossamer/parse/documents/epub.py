"""EPUB (W3C, 3.3; and 2): the chapters in the order of the spine, as one document."""

from __future__ import annotations

import posixpath
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import unquote

from gossamer.parse.documents.document_draft import Broken
from gossamer.parse.documents.xml_markup import Vocabulary, Walk, parse_xml
from gossamer.parse.documents.xmp import PACKAGE, read_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gossamer.parse.documents.document_draft import Draft
    from gossamer.parse.documents.zip_archive import Archive

MAX_CHAPTERS = 2_000

_BLOCKS = """address article aside blockquote body br caption dd details div dl dt figcaption figure
    footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section table tbody td tfoot th
    thead tr ul"""
_XHTML = Vocabulary(
    hidden=frozenset(("head", "math", "script", "style", "svg")),
    blocks=frozenset(_BLOCKS.split()),
    headings=frozenset(("h1", "h2", "h3")),
)
_LINKS = {"a": lambda attributes: attributes.get("href")}


def read_epub(archive: Archive, draft: Draft) -> None:
    """Read the chapters into the draft; those with errors are counted in its `detail`.

    Raises Broken if there is no readable package document.
    """
    package = _package(archive)
    xml = archive.read(package)
    draft.metadata.update(read_fields(xml, PACKAGE))
    unread: list[Broken] = []
    for chapter in _spine(xml, posixpath.dirname(package))[:MAX_CHAPTERS]:
        if draft.truncated:
            return
        try:
            Walk(_XHTML, draft, _LINKS).read(archive.read(chapter))
        except Broken as error:
            unread.append(error)
    if unread:
        draft.detail = f"{len(unread)} chapters have errors: {unread[0]}"


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
