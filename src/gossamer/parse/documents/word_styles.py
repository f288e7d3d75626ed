"""The styles of a DOCX file, as far as they make a heading or hide text (ISO/IEC 29500-1 §17.7).

Ids of styles are translated; the names of built-in ones are the same in any language. A style has
the properties of the one on which it is based, unless it sets them itself.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from gossamer.parse.documents.document_draft import Broken
from gossamer.parse.documents.xml_markup import attribute, parse_xml

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_ANCESTORS = 20
HEADING_LEVELS = frozenset("012")
"""Values of outlineLvl for headings of the first three levels (§17.3.1.20)."""

_HEADING = re.compile(r"(?:heading [1-3]|title)\Z", re.IGNORECASE)
_OFF = frozenset(("0", "false", "off"))


class WordStyles(NamedTuple):
    """Ids of the styles that make a paragraph a heading, and of those that hide text."""

    headings: frozenset[str]
    hidden: frozenset[str]


class _Style:
    """A style; None stands for what it does not set."""

    def __init__(self) -> None:
        self.parent = ""
        self.is_heading: bool | None = None
        self.is_hidden: bool | None = None


def is_on(attributes: Mapping[str, str]) -> bool:
    """Whether a property of this kind is set (§17.17.4): without a value, it is."""
    return (attribute(attributes, "val") or "1").lower() not in _OFF


def read_styles(xml: bytes) -> WordStyles:
    styles: dict[str, _Style] = {}
    style = _Style()

    def start(name: str, attributes: Mapping[str, str]) -> None:
        nonlocal style
        value = attribute(attributes, "val") or ""
        if name == "style":
            style = styles.setdefault(attribute(attributes, "styleId") or "", _Style())
        elif name == "name" and style.is_heading is None and _HEADING.match(value):
            style.is_heading = True
        elif name == "basedOn":
            style.parent = value
        elif name == "outlineLvl":
            style.is_heading = value in HEADING_LEVELS
        elif name == "vanish":
            style.is_hidden = is_on(attributes)

    with suppress(Broken):
        parse_xml(xml, start)
    return WordStyles(
        frozenset(key for key in styles if _inherits(styles, key, "is_heading")),
        frozenset(key for key in styles if _inherits(styles, key, "is_hidden")),
    )


def _inherits(styles: Mapping[str, _Style], key: str, what: str) -> bool:
    for _ in range(MAX_ANCESTORS):
        style = styles.get(key)
        if style is None:
            break
        if (found := getattr(style, what)) is not None:
            return bool(found)
        key = style.parent
    return False
