"""OpenDocument (OASIS, 1.3): texts, sheets and presentations, which have the same elements.

odfpy is not used: it builds the whole tree, so an 18 KB zip file with a million elements takes it
10.6 s and 626 MB. Here it is refused after 1.4 s, within 60 MB.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from gossamer.parse.documents.document import Broken, Unsupported
from gossamer.parse.documents.markup import Vocabulary, Walk, attribute, parse
from gossamer.parse.documents.xmp import OPEN_DOCUMENT, read_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gossamer.parse.documents.archive import Archive
    from gossamer.parse.documents.document import Draft

_COUNT_DIGITS = 6
_TEXT = Vocabulary(
    text=frozenset(("p", "h")),
    hidden=frozenset(("tracked-changes", "annotation", "note-citation", "scripts", "forms")),
    blocks=frozenset(("p", "h")),
    gaps=frozenset(("s", "tab", "line-break")),
    headings=frozenset(("h",)),
)


def read_open_document(archive: Archive, draft: Draft) -> None:
    if b"encryption-data" in archive.find("META-INF/manifest.xml"):
        raise Unsupported("encrypted")
    with suppress(Broken):
        _read_meta(archive.find("meta.xml"), draft)
    links = {"a": lambda attributes: attribute(attributes, "href")}
    Walk(_TEXT, draft, links).read(archive.read("content.xml"))


def _read_meta(xml: bytes, draft: Draft) -> None:
    draft.metadata.update(read_fields(xml, OPEN_DOCUMENT))

    def start(name: str, attributes: Mapping[str, str]) -> None:
        if name == "document-statistic":
            count = attribute(attributes, "page-count") or ""
            if count.isdecimal() and len(count) <= _COUNT_DIGITS:
                draft.pages = int(count) or None

    parse(xml, start)
