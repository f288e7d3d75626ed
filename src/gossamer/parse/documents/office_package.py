"""Packages of Office Open XML (ISO/IEC 29500-2 §6.5): zip files of parts that refer to each other.

A part refers to others by relationships in a file beside it. If a relationship is missing, as in
files by poor programs, we look for the part where Office writes it.

python-docx is not used: it builds the whole tree, so 80 KB of zip that hold 5 million elements end
in a MemoryError at 1 GB after 3.5 s. Here they are refused after 1 s, within 100 MB.
"""

from __future__ import annotations

import posixpath
import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from gossamer.parse.documents.document_draft import Broken
from gossamer.parse.documents.xml_markup import attribute, parse_xml
from gossamer.parse.documents.xmp import CORE, read_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gossamer.parse.documents.document_draft import Draft
    from gossamer.parse.documents.zip_archive import Archive

Relations = dict[str, "Relation"]


class Relation(NamedTuple):
    """A relationship. `kind` is the last segment of its type; `target` is a part or a URL."""

    kind: str
    target: str


def main_part(archive: Archive, draft: Draft, usual: str) -> tuple[str, Relations]:
    """Return the part that contains the document, and its relationships.

    Adds metadata to the draft. `usual` is the part's name if no relationship has it.
    """
    of_package = relations(archive, "")
    parts = {relation.kind: relation.target for relation in of_package.values()}
    with suppress(Broken):
        core = archive.find(parts.get("core-properties", "docProps/core.xml"))
        draft.metadata.update(read_fields(core, CORE))
    with suppress(Broken):
        app = archive.find(parts.get("extended-properties", "docProps/app.xml"))
        pages = read_fields(app, {"Pages": "pages"}).get("pages", "")
        draft.pages = int(pages) if re.fullmatch(r"[1-9][0-9]{0,5}", pages) else None
    part = parts.get("officeDocument", usual)
    return part, relations(archive, part)


def relations(archive: Archive, part: str) -> Relations:
    """Return the relationships of a part by id; the empty name stands for the package itself."""
    folder, name = posixpath.split(part)
    found: Relations = {}

    def start(name: str, attributes: Mapping[str, str]) -> None:
        if name != "Relationship":
            return
        kind = attributes.get("Type", "").rpartition("/")[2]
        target = attributes.get("Target", "")
        if attributes.get("TargetMode") != "External":
            target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
        found[attributes.get("Id", "")] = Relation(kind, target)

    with suppress(Broken):
        parse_xml(archive.find(posixpath.join(folder, "_rels", f"{name}.rels")), start)
    return found


def target_in(related: Relations) -> Callable[[Mapping[str, str]], str | None]:
    def target(attributes: Mapping[str, str]) -> str | None:
        relation = related.get(attribute(attributes, "id") or "")
        return relation and relation.target

    return target


def parts_of(related: Relations, kind: str, usual: str = "") -> list[str]:
    """Return the parts of a kind to which a part refers; else where Office writes it, if known."""
    found = [relation.target for relation in related.values() if relation.kind == kind]
    return found or ([usual] if usual else [])
