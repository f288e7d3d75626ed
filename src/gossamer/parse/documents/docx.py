"""DOCX: text as Word shows it (ISO/IEC 29500-1 §17).

Left out are hidden text, what is deleted or moved away while changes are tracked, prompts of empty
controls, readings of ruby, comments, and headers and footers, which are on each page. Notes follow
the body.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from gossamer.parse.documents.document_draft import Broken, Unsupported
from gossamer.parse.documents.field_codes import hyperlink_target
from gossamer.parse.documents.office_package import main_part, parts_of, relations, target_in
from gossamer.parse.documents.pptx_slides import read_drawn
from gossamer.parse.documents.symbol_font import symbol
from gossamer.parse.documents.word_styles import HEADING_LEVELS, WordStyles, is_on, read_styles
from gossamer.parse.documents.xml_markup import Vocabulary, Walk, attribute

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gossamer.parse.documents.document_draft import Draft
    from gossamer.parse.documents.office_package import Relations
    from gossamer.parse.documents.zip_archive import Archive

    ReadChunk = Callable[[bytes, Draft], None]

MAX_INSTRUCTION_CHARS = 10_000

_WORDS = Vocabulary(
    text=frozenset(("t",)),
    hidden=frozenset(
        (
            *("del", "moveFrom", "rt", "rPrChange", "pPrChange"),
            "Fallback",  # in mc:AlternateContent it repeats the content of Choice
        )
    ),
    blocks=frozenset(("p",)),
    gaps=frozenset(("tab", "ptab", "br", "cr")),
    signs={"noBreakHyphen": "-"},
    asides=frozenset(("txbxContent",)),
)
_NOTES = {"footnotes": "word/footnotes.xml", "endnotes": "word/endnotes.xml"}
_DROPPED = frozenset(("drop", "margin"))
_SEPARATORS = frozenset(("separator", "continuationSeparator", "continuationNotice"))
"""Types of notes that are lines above notes (§17.18.33)."""


def read_docx(archive: Archive, draft: Draft, read_chunk: ReadChunk | None = None) -> None:
    """Read a document. `read_chunk` reads a part of another format that stands in it (altChunk)."""
    part, related = main_part(archive, draft, "word/document.xml")
    styles = WordStyles(frozenset(), frozenset())
    with suppress(Broken):
        styles = read_styles(archive.find(parts_of(related, "styles", "word/styles.xml")[0]))

    def read_part(name: str) -> None:
        if read_chunk is not None and not draft.is_full():
            with suppress(Broken, Unsupported):
                read_chunk(archive.read(name), draft)

    _Document(draft, related, styles, read_part).read(archive.read(part))
    read_drawn(archive, related, draft)
    for kind, usual in _NOTES.items():
        for notes in parts_of(related, kind, usual)[:1]:
            with suppress(Broken):
                xml = archive.find(notes)
                if xml and not draft.is_full():
                    _Document(draft, relations(archive, notes), styles).read(xml)


class _Field:
    """A field of several runs: its instruction, and whether its result has begun."""

    def __init__(self) -> None:
        self.instruction: list[str] = []
        self.has_result = False


class _Document(Walk):
    """The text of a document, or of its notes."""

    def __init__(
        self,
        draft: Draft,
        related: Relations,
        styles: WordStyles,
        read_part: Callable[[str], None] | None = None,
    ) -> None:
        links = {"hyperlink": target_in(related), "fldSimple": _simple_target}
        super().__init__(_WORDS, draft, links, self._makes_heading)
        self._target = target_in(related)
        self._styles = styles
        self._read_part = read_part
        self._in_run = False
        self._hides_runs = False
        self._prompts: list[bool] = []
        self._fields: list[_Field] = []
        self._in_instruction = False
        self._is_initial = False
        """Whether the open paragraph is the first letter of the next one (§17.3.1.11)."""

    def hides(self, name: str, attributes: Mapping[str, str]) -> bool:
        if name == "sdtContent":
            return bool(self._prompts) and self._prompts[-1]
        if name in ("footnote", "endnote"):
            return attribute(attributes, "type") in _SEPARATORS
        return super().hides(name, attributes)

    def start(self, name: str, attributes: Mapping[str, str]) -> None:  # noqa: C901  # a case for each element
        super().start(name, attributes)
        if self._hidden:
            return
        if name == "p":
            self._hides_runs = self.muted = self._is_initial = False
        elif name == "r":
            self._in_run, self.muted = True, self._hides_runs
        elif name in ("vanish", "rStyle", "pStyle"):
            self._mute(name, attributes)
        elif name == "sdt":
            self._prompts.append(False)
        elif name == "showingPlcHdr" and self._prompts:
            self._prompts[-1] = is_on(attributes)
        elif name == "fldChar":
            self._field(attribute(attributes, "fldCharType"))
        elif name == "instrText":
            self._in_instruction = True
        elif name == "sym":
            self._symbol(attributes)
        elif name == "framePr":
            self._is_initial = attribute(attributes, "dropCap") in _DROPPED
        elif name == "altChunk" and self._read_part is not None:
            self.end_line()
            self._read_part(self._target(attributes) or "")

    def end_line(self) -> None:
        if not self._is_initial:
            super().end_line()

    def end(self, name: str) -> None:
        if not self._hidden:
            if name == "r":
                self._in_run, self.muted = False, self._hides_runs
            elif name == "sdt" and self._prompts:
                self._prompts.pop()
            elif name == "instrText":
                self._in_instruction = False
        super().end(name)

    def characters(self, text: str) -> None:
        if self._in_instruction and self._fields and not self._hidden:
            pieces = self._fields[-1].instruction
            if len(pieces) < MAX_INSTRUCTION_CHARS:
                pieces.append(text[:MAX_INSTRUCTION_CHARS])
        super().characters(text)

    def _makes_heading(self, name: str, attributes: Mapping[str, str]) -> bool:
        value = attribute(attributes, "val") if name in ("pStyle", "outlineLvl") else None
        return value in (HEADING_LEVELS if name == "outlineLvl" else self._styles.headings)

    def _mute(self, name: str, attributes: Mapping[str, str]) -> None:
        """Hide the run or paragraph of a property. That of a paragraph's mark is not its text's."""
        if name == "vanish":
            if self._in_run:
                self.muted = is_on(attributes)
        elif attribute(attributes, "val") in self._styles.hidden:
            self.muted = True
            self._hides_runs = self._hides_runs or name == "pStyle"

    def _symbol(self, attributes: Mapping[str, str]) -> None:
        """Add a character by its font and code (§17.3.3.30)."""
        code, font = attribute(attributes, "char") or "", attribute(attributes, "font") or ""
        with suppress(ValueError):
            self.add(symbol(int(code[:4], 16), font))

    def _field(self, kind: str | None) -> None:
        """Begin a field, its result, or what follows it (§17.16.18)."""
        if kind == "begin":
            self._fields.append(_Field())
        elif kind == "separate" and self._fields:
            field = self._fields[-1]
            field.has_result = True
            self.open_link("fldChar", hyperlink_target("".join(field.instruction)) or "")
        elif kind == "end" and self._fields and self._fields.pop().has_result:
            self.close_link("fldChar")


def _simple_target(attributes: Mapping[str, str]) -> str | None:
    """Return the URL in a field that is one element (§17.16.19)."""
    return hyperlink_target(attribute(attributes, "instr") or "")
