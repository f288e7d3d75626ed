"""PPTX: slides in their order, each with its notes, diagrams and charts (ISO/IEC 29500-1 §19).

Left out are hidden slides and shapes, and the slides' numbers.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from gossamer.parse.documents.document_draft import Broken
from gossamer.parse.documents.office_package import main_part, parts_of, relations, target_in
from gossamer.parse.documents.xml_markup import Enough, Vocabulary, Walk, attribute, parse_xml

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gossamer.parse.documents.document_draft import Draft
    from gossamer.parse.documents.office_package import Relations
    from gossamer.parse.documents.zip_archive import Archive

DRAWING = Vocabulary(
    text=frozenset(("t",)),
    hidden=frozenset(("Fallback",)),  # in mc:AlternateContent it repeats the content of Choice
    blocks=frozenset(("p",)),
    gaps=frozenset(("tab", "br")),
)
"""DrawingML: the text of shapes in slides, sheets, diagrams and charts (§21)."""
_TITLE_SHAPES = frozenset(("title", "ctrTitle"))
_NUMBER = frozenset(("sldNum",))
_MARGIN = frozenset(("sldNum", "hdr", "ftr", "dt"))
"""Types of placeholders in the margins of a page of notes (§19.7.10)."""
_SHAPES = frozenset(("sp", "pic", "graphicFrame", "grpSp", "cxnSp"))
_OFF = frozenset(("0", "false"))
_ON = frozenset(("1", "true"))
_DRAWN = ("diagramData", "chart")
"""Kinds of parts whose text is drawn on a slide or sheet."""


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
        if draft.is_full():
            return
        with suppress(Broken):  # the other slides are worth reading
            _read_slide(archive, slide, draft)


def _read_slide(archive: Archive, slide: str, draft: Draft) -> None:
    related = relations(archive, slide)
    shown = _Slide(draft, related, _NUMBER)
    shown.read(archive.read(slide))
    if shown.is_hidden:
        return
    read_drawn(archive, related, draft)
    for notes in parts_of(related, "notesSlide")[:1]:
        with suppress(Broken):
            _Slide(draft, relations(archive, notes), _MARGIN).read(archive.read(notes))


def read_drawn(archive: Archive, related: Relations, draft: Draft) -> None:
    """Read the diagrams and charts to which a part refers."""
    for kind in _DRAWN:
        for part in parts_of(related, kind):
            if draft.is_full():
                return
            with suppress(Broken):
                Walk(DRAWING, draft).read(archive.read(part))


class _Slide(Walk):
    """The text of a slide. A link is a property of a run of text, and precedes the text.

    `unseen` are the types of placeholders whose text is left out.
    """

    def __init__(self, draft: Draft, related: Relations, unseen: frozenset[str]) -> None:
        super().__init__(
            DRAWING, draft, {"hlinkClick": self._click, "t": self._clicked}, self._in_title
        )
        self._target = target_in(related)
        self._unseen = unseen
        self._url: str | None = None
        self._title = False
        self._depth = 0
        self._muted_at = 0
        """How deep in shapes the hidden one is; 0 if there is none."""
        self.is_hidden = False

    def hides(self, name: str, attributes: Mapping[str, str]) -> bool:
        if name == "fld":
            return attributes.get("type", "").startswith("slidenum")
        return super().hides(name, attributes)

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        super().start(name, attributes)
        if self._hidden:
            return
        if name == "sld" and attributes.get("show", "").lower() in _OFF:
            self.is_hidden = True
            raise Enough
        if name in _SHAPES:
            self._depth += 1
        elif (name == "cNvPr" and attributes.get("hidden", "").lower() in _ON) or (
            name == "ph" and attributes.get("type") in self._unseen
        ):
            self._muted_at = self._muted_at or self._depth
            self.muted = True

    def end(self, name: str) -> None:
        super().end(name)
        if name in _SHAPES and not self._hidden:
            if self._depth == self._muted_at:
                self._muted_at, self.muted = 0, False
            self._depth -= 1

    def _click(self, attributes: Mapping[str, str]) -> None:
        self._url = self._target(attributes)

    def _clicked(self, _: Mapping[str, str]) -> str | None:
        url, self._url = self._url, None
        return url

    def _in_title(self, name: str, attributes: Mapping[str, str]) -> bool:
        if name == "sp":
            self._title = False
        elif name == "ph":
            self._title = attribute(attributes, "type") in _TITLE_SHAPES
        return self._title and name == "p"
