"""XLSX: each row of a sheet becomes a line, with numbers as Excel shows them.

Left out are hidden sheets, booleans, errors, readings of East Asian words, and comments on cells.

A sheet is read as a stream, so its cost depends on the cells that exist: two cells in opposite
corners make a file of 2 KB, but 550 GB in readers that allocate a grid (calamine's issue 693).
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from gossamer.parse.documents.document_draft import Broken
from gossamer.parse.documents.number_formats import NumberFormats
from gossamer.parse.documents.office_package import main_part, parts_of, relations, target_in
from gossamer.parse.documents.pptx_slides import DRAWING, read_drawn
from gossamer.parse.documents.xml_markup import Enough, Walk, parse_xml

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gossamer.parse.documents.document_draft import Draft
    from gossamer.parse.documents.office_package import Relations
    from gossamer.parse.documents.zip_archive import Archive

MAX_CELLS = 1_000_000
"""Cells read per sheet, including empty ones, which takes 1.5 s."""
MAX_ROW_CHARS = 50_000
MAX_STRINGS_CHARS = 16 << 20

_INDEX_DIGITS = 9
_ON = frozenset(("1", "true"))
_HIDDEN_STATES = frozenset(("hidden", "veryHidden"))


def read_xlsx(archive: Archive, draft: Draft) -> None:
    part, related = main_part(archive, draft, "xl/workbook.xml")
    sheets: list[str] = []
    from_1904 = False

    def start(name: str, attributes: Mapping[str, str]) -> None:
        nonlocal from_1904
        if name == "workbookPr":
            from_1904 = attributes.get("date1904", "").lower() in _ON
        elif name == "sheet" and attributes.get("state") not in _HIDDEN_STATES:
            draft.say(attributes.get("name", ""))
            relation = related.get(attributes.get("r:id", ""))
            if relation is not None:
                sheets.append(relation.target)

    parse_xml(archive.read(part), start)
    strings = _strings(archive, related)
    styles = archive.find(parts_of(related, "styles", "xl/styles.xml")[0])
    formats = NumberFormats(styles, from_1904=from_1904)
    for sheet in sheets:
        if draft.is_full():
            return
        of_sheet = relations(archive, sheet)
        with suppress(Broken):  # the other sheets are worth reading
            _Sheet(draft, strings, of_sheet, formats).read(archive.read(sheet))
        for drawing in parts_of(of_sheet, "drawing"):
            with suppress(Broken):
                Walk(DRAWING, draft).read(archive.read(drawing))
                read_drawn(archive, relations(archive, drawing), draft)


class _Sheet:
    """Reads the cells of a sheet."""

    def __init__(
        self, draft: Draft, strings: list[str], related: Relations, formats: NumberFormats
    ) -> None:
        self._draft = draft
        self._formats = formats
        self._strings = strings
        self._target: Callable[[Mapping[str, str]], str | None] = target_in(related)
        self._kind = ""
        self._style = ""
        self._in_reading = False
        self._in_value = False
        self._value: list[str] = []
        self._row: list[str] = []
        self._row_chars = 0
        self._cells = 0

    def read(self, xml: bytes) -> None:
        with suppress(Enough):
            parse_xml(xml, self._start, self._end, self._characters)

    def _start(self, name: str, attributes: Mapping[str, str]) -> None:
        if name == "c":
            self._cells += 1
            if self._cells > MAX_CELLS:
                raise Enough
            self._kind = attributes.get("t", "n")
            self._style = attributes.get("s", "")
            self._value.clear()
        elif name in ("v", "t"):
            self._in_value = not self._in_reading
        elif name == "rPh":
            self._in_reading = True
        elif name == "hyperlink":
            self._draft.link(self._target(attributes) or "", attributes.get("display", ""))

    def _characters(self, text: str) -> None:
        if self._in_value:
            self._value.append(text)

    def _end(self, name: str) -> None:
        if name in ("v", "t"):
            self._in_value = False
        elif name == "rPh":
            self._in_reading = False
        elif name == "c" and self._row_chars < MAX_ROW_CHARS:
            value = self._shown("".join(self._value))
            if value:
                self._row.append(value)
                self._row_chars += len(value)
        elif name == "row":
            line = " ".join(self._row)
            self._row.clear()
            self._row_chars = 0
            if not self._draft.say(line):
                raise Enough

    def _shown(self, value: str) -> str:
        if self._kind in ("b", "e"):  # booleans and errors such as #REF! are not text
            return ""
        if self._kind == "n":
            return self._formats.shown(value, self._style)
        if self._kind != "s":
            return value
        index = int(value) if value.isdecimal() and len(value) <= _INDEX_DIGITS else -1
        return self._strings[index] if 0 <= index < len(self._strings) else ""


def _strings(archive: Archive, related: Relations) -> list[str]:
    """Return the strings that cells refer to by number, without phonetic hints (part 1 §18.4.6)."""
    parts = [relation.target for relation in related.values() if relation.kind == "sharedStrings"]
    strings: list[str] = []
    pieces: list[str] = []
    chars = 0
    shown = hidden = False

    def start(name: str, _: Mapping[str, str]) -> None:
        nonlocal shown, hidden
        shown = name == "t"
        hidden = hidden or name == "rPh"

    def end(name: str) -> None:
        nonlocal shown, hidden, chars
        shown = False
        if name == "rPh":
            hidden = False
        elif name == "si":
            strings.append("".join(pieces))
            pieces.clear()
            chars += len(strings[-1])
            if chars > MAX_STRINGS_CHARS:
                raise Enough

    def characters(text: str) -> None:
        if shown and not hidden:
            pieces.append(text)

    with suppress(Broken, Enough):
        parse_xml(archive.find(next(iter(parts), "xl/sharedStrings.xml")), start, end, characters)
    return strings
