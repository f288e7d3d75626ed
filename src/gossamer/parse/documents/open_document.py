"""OpenDocument (OASIS, 1.3): texts, sheets and presentations have the same elements.

Left out are hidden text and sections, what is deleted while changes are tracked, comments, prompts
of placeholders, readings of ruby, hidden slides, and hidden sheets.

odfpy is not used: an 18 KB zip file with a million elements takes it 10.6 s and 626 MB; here it is
refused after 1.4 s, within 60 MB.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from gossamer.parse.documents.document_draft import Broken, Unsupported
from gossamer.parse.documents.xml_markup import Vocabulary, Walk, attribute, parse_xml
from gossamer.parse.documents.xmp import OPEN_DOCUMENT, read_fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gossamer.parse.documents.document_draft import Draft
    from gossamer.parse.documents.zip_archive import Archive

_COUNT_DIGITS = 6
_WORDS = Vocabulary(
    text=frozenset(("p", "h")),
    hidden=frozenset(
        (
            *("tracked-changes", "annotation", "note-citation", "scripts", "forms"),
            *("placeholder", "ruby-text"),
        )
    ),
    blocks=frozenset(("p", "h")),
    gaps=frozenset(("s", "tab", "line-break")),
    headings=frozenset(("h",)),
    asides=frozenset(("note-body", "text-box")),
)
_HIDDEN_TEXT = frozenset(("hidden-text", "hidden-paragraph"))
_FAMILIES = {
    **dict.fromkeys(("p", "h"), "paragraph"),
    **dict.fromkeys(("span", "a"), "text"),
    "section": "section",
    "page": "drawing-page",
    "table": "table",
}
"""Elements whose style may hide them, and the family of their styles (part 3 §19.480)."""


def read_open_document(archive: Archive, draft: Draft) -> None:
    if b"encryption-data" in archive.find("META-INF/manifest.xml"):
        raise Unsupported("encrypted")
    with suppress(Broken):
        _read_meta(archive.find("meta.xml"), draft)
    styles = _hidden_styles(archive.find("styles.xml"))
    _Content(draft, styles).read(archive.read("content.xml"))


def _read_meta(xml: bytes, draft: Draft) -> None:
    draft.metadata.update(read_fields(xml, OPEN_DOCUMENT))

    def start(name: str, attributes: Mapping[str, str]) -> None:
        if name == "document-statistic":
            count = attribute(attributes, "page-count") or ""
            if count.isdecimal() and len(count) <= _COUNT_DIGITS:
                draft.pages = int(count) or None

    parse_xml(xml, start)


class _Styles:
    """Collects the styles that hide, by family and name: those of text, slides and sheets."""

    def __init__(self, hidden: frozenset[tuple[str, str]] = frozenset()) -> None:
        self.hidden = set(hidden)
        self._style = ("", "")

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "style":
            family = attribute(attributes, "family") or ""
            self._style = (family, attribute(attributes, "name") or "")
            if (family, attribute(attributes, "parent-style-name")) in self.hidden:
                self.hidden.add(self._style)
        elif name.endswith("-properties"):
            hides = _hides(name, attributes)
            if hides:
                self.hidden.add(self._style)
            elif hides is False:
                self.hidden.discard(self._style)


def _hides(properties: str, attributes: Mapping[str, str]) -> bool | None:
    """Whether properties hide what has them; None if they do not say."""
    if properties == "drawing-page-properties":
        visibility = attribute(attributes, "visibility")
        return None if visibility is None else visibility == "hidden"
    display = attribute(attributes, "display")
    if properties == "table-properties":
        return None if display is None else display == "false"
    return None if display is None or properties != "text-properties" else display == "none"


def _hidden_styles(xml: bytes) -> frozenset[tuple[str, str]]:
    styles = _Styles()
    with suppress(Broken):
        parse_xml(xml, styles.start)
    return frozenset(styles.hidden)


class _Content(Walk):
    """The text of content.xml, whose own styles precede it."""

    def __init__(self, draft: Draft, hidden: frozenset[tuple[str, str]]) -> None:
        links = {"a": lambda attributes: attribute(attributes, "href")}
        super().__init__(_WORDS, draft, links)
        self._styles = _Styles(hidden)

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        self._styles.start(name, attributes)
        super().start(name, attributes)

    def hides(self, name: str, attributes: Mapping[str, str]) -> bool:
        if name in _HIDDEN_TEXT:
            return attribute(attributes, "is-hidden") == "true"
        if name == "section" and attribute(attributes, "display") == "none":
            return True
        hidden = self._styles.hidden
        if hidden and name in _FAMILIES:
            style = (_FAMILIES[name], attribute(attributes, "style-name"))
            if style in hidden:
                return True
        return super().hides(name, attributes)
