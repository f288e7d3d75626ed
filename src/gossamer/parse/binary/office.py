"""Office Open XML (ISO/IEC 29500), and of it DOCX and PPTX; XLSX is in `sheets`.

All three are zip files of XML parts, and a part names others by relationships in a file beside it
(Open Packaging Conventions, part 2 §6.5). Where a relationship misses, as in files of poor
programs, the part is where Office writes it.
"""

from __future__ import annotations

import posixpath
import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from gossamer.parse.binary.document import Broken
from gossamer.parse.binary.markup import Vocabulary, Walk, attribute, parse
from gossamer.parse.binary.xmp import CORE, read_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gossamer.parse.binary.archive import Archive
    from gossamer.parse.binary.document import Draft

Relations = dict[str, "Relation"]

_WORD = Vocabulary(
    text=frozenset(("t",)),
    hidden=frozenset(("Fallback",)),  # of mc:AlternateContent: what Choice holds, once more
    blocks=frozenset(("p",)),
    gaps=frozenset(("tab", "br", "cr")),
)
_SLIDE = _WORD
_TITLE_SHAPES = frozenset(("title", "ctrTitle"))
_HEADING = re.compile(r"(?:heading [1-3]|title)\Z", re.IGNORECASE)
"""Built-in styles have these names in any language; their ids are translated."""
_FIELD = re.compile(r"""\s*HYPERLINK\s+"([^"]+)\"""")


class Relation(NamedTuple):
    """`kind` is the last segment of the relationship's type. `target` is a part, or a URL."""

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

    parse(archive.read(part), start)
    draft.pages = len(slides)
    for slide in slides:
        if draft.room <= 0:
            return
        with suppress(Broken):  # the other slides are worth reading
            _Slide(draft, relations(archive, slide)).read(archive.read(slide))


class _Slide(Walk):
    """A link on a slide is a property of a run of text, and comes before the text."""

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
    """The part that holds the document, and its relationships. Metadata goes into the draft."""
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
    """The relationships of a part, by id; of the package itself for the empty name."""
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
        parse(archive.find(posixpath.join(folder, "_rels", f"{name}.rels")), start)
    return found


def target_in(related: Relations) -> Callable[[Mapping[str, str]], str | None]:
    def target(attributes: Mapping[str, str]) -> str | None:
        relation = related.get(attribute(attributes, "id") or "")
        return relation and relation.target

    return target


def _field_target(attributes: Mapping[str, str]) -> str | None:
    """Of a field of WordprocessingML, as ` HYPERLINK "https://…" ` (part 1 §17.16.5.25)."""
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
        parse(archive.find(next(iter(parts), "word/styles.xml")), start)
    return frozenset(ids)
