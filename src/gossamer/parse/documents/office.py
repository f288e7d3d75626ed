"""Office Open XML (ISO/IEC 29500): DOCX and PPTX (XLSX is in `sheets`); OpenDocument (OASIS, 1.3).

Office Open XML files are zip files of XML parts. A part refers to others by relationships in a file
beside it (Open Packaging Conventions, part 2 §6.5). If a relationship is missing, as in files by
poor programs, we look for the part where Office writes it.

python-docx is not used: it builds the whole tree, so 80 KB of zip that hold 5 million elements end
in a MemoryError at 1 GB after 3.5 s. Here they are refused after 1 s, within 100 MB. For
the same reason odfpy is not used: an 18 KB zip file with a million elements takes it 10.6 s and
626 MB; here it is refused after 1.4 s, within 60 MB. Texts, sheets and presentations of
OpenDocument have the same elements.
"""

from __future__ import annotations

import posixpath
import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from gossamer.parse.documents.document_draft import Broken, Unsupported
from gossamer.parse.documents.xml_markup import Vocabulary, Walk, attribute, parse_xml
from gossamer.parse.documents.xmp import CORE, OPEN_DOCUMENT, read_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gossamer.parse.documents.document_draft import Draft
    from gossamer.parse.documents.zip_archive import Archive

Relations = dict[str, "Relation"]

_WORD = Vocabulary(
    text=frozenset(("t",)),
    hidden=frozenset(("Fallback",)),  # in mc:AlternateContent it repeats the content of Choice
    blocks=frozenset(("p",)),
    gaps=frozenset(("tab", "br", "cr")),
)
_SLIDE = _WORD
_TITLE_SHAPES = frozenset(("title", "ctrTitle"))
_HEADING = re.compile(r"(?:heading [1-3]|title)\Z", re.IGNORECASE)
"""Names of built-in styles for headings. They are the same in any language; ids are translated."""
_COUNT_DIGITS = 6
_OPEN_DOCUMENT_TEXT = Vocabulary(
    text=frozenset(("p", "h")),
    hidden=frozenset(("tracked-changes", "annotation", "note-citation", "scripts", "forms")),
    blocks=frozenset(("p", "h")),
    gaps=frozenset(("s", "tab", "line-break")),
    headings=frozenset(("h",)),
)
_FIELD = re.compile(r"""\s*HYPERLINK\s+"([^"]+)\"""")


class Relation(NamedTuple):
    """A relationship. `kind` is the last segment of its type; `target` is a part or a URL."""

    kind: str
    target: str


def read_docx(archive: Archive, draft: Draft) -> None:
    part, related = main_part(archive, draft, "word/document.xml")
    headings = _heading_styles(archive, related)

    def is_heading(name: str, attributes: Mapping[str, str]) -> bool:
        return name == "pStyle" and attribute(attributes, "val") in headings

    links = {"hyperlink": target_in(related), "fldSimple": _field_target}
    Walk(_WORD, draft, links, is_heading).read(archive.read(part))


def read_pptx(archive: Archive, draft: Draft) -> None:
    part, related = main_part(archive, draft, "ppt/presentation.xml")
    slides: list[str] = []

    def start(name: str, attributes: Mapping[str, str]) -> None:
        relation = related.get(attributes.get("r:id", "")) if name == "sldId" else None
        if relation is not None:
            slides.append(relation.target)

    parse_xml(archive.read(part), start)
    draft.pages = len(slides)
    for slide in slides:
        if draft.truncated:
            return
        with suppress(Broken):  # the other slides are worth reading
            _Slide(draft, relations(archive, slide)).read(archive.read(slide))


class _Slide(Walk):
    """The text of a slide. A link is a property of a run of text, and precedes the text."""

    def __init__(self, draft: Draft, related: Relations) -> None:
        super().__init__(
            _SLIDE, draft, {"hlinkClick": self._click, "t": self._clicked}, self._in_title
        )
        self._target = target_in(related)
        self._url: str | None = None
        self._title = False

    def _click(self, attributes: Mapping[str, str]) -> None:
        self._url = self._target(attributes)

    def _clicked(self, _: Mapping[str, str]) -> str | None:
        url, self._url = self._url, None
        return url

    def _in_title(self, name: str, attributes: Mapping[str, str]) -> bool:
        if name == "sp":
            self._title = False
        elif name == "ph":
            self._title = attributes.get("type") in _TITLE_SHAPES
        return self._title and name == "p"


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


def _field_target(attributes: Mapping[str, str]) -> str | None:
    """Return the URL in a field such as ` HYPERLINK "https://…" ` (part 1 §17.16.5.25)."""
    field = _FIELD.match(attribute(attributes, "instr") or "")
    return field and field[1]


def _heading_styles(archive: Archive, related: Relations) -> frozenset[str]:
    parts = [relation.target for relation in related.values() if relation.kind == "styles"]
    ids: set[str] = set()
    style = ""

    def start(name: str, attributes: Mapping[str, str]) -> None:
        nonlocal style
        if name == "style":
            style = attribute(attributes, "styleId") or ""
        elif name == "name" and _HEADING.match(attribute(attributes, "val") or ""):
            ids.add(style)

    with suppress(Broken):
        parse_xml(archive.find(next(iter(parts), "word/styles.xml")), start)
    return frozenset(ids)


def read_open_document(archive: Archive, draft: Draft) -> None:
    if b"encryption-data" in archive.find("META-INF/manifest.xml"):
        raise Unsupported("encrypted")
    with suppress(Broken):
        _read_open_document_meta(archive.find("meta.xml"), draft)
    links = {"a": lambda attributes: attribute(attributes, "href")}
    Walk(_OPEN_DOCUMENT_TEXT, draft, links).read(archive.read("content.xml"))


def _read_open_document_meta(xml: bytes, draft: Draft) -> None:
    draft.metadata.update(read_fields(xml, OPEN_DOCUMENT))

    def start(name: str, attributes: Mapping[str, str]) -> None:
        if name == "document-statistic":
            count = attribute(attributes, "page-count") or ""
            if count.isdecimal() and len(count) <= _COUNT_DIGITS:
                draft.pages = int(count) or None

    parse_xml(xml, start)
