"""Makes blocks of the elements and texts of a page."""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urljoin, urlsplit

from gossamer.parse.html.lines import BROKEN, JOINED, SPACED
from gossamer.parse.rendition.blocks import (
    BREAK,
    CODE,
    EMPHASIS,
    IMAGE,
    STRONG,
    Code,
    Heading,
    Inset,
    Items,
    Paragraph,
    Quote,
    Run,
)
from gossamer.parse.rendition.code_language import language_of
from gossamer.parse.rendition.recording import END, START
from gossamer.parse.rendition.tables import table_blocks

if TYPE_CHECKING:
    from gossamer.parse.rendition.blocks import Block
    from gossamer.parse.rendition.recording import Recording
    from gossamer.parse.rendition.tables import Cell

MAX_DEPTH: Final = 24
"""Lists, quotes and tables inside each other; deeper ones are not told apart from what they are
in."""
MAX_URL_CHARS: Final = 2_000
NEAR: Final = 3
"""Elements around code whose classes may name its language."""

_HEADINGS: Final = {f"h{level}": level for level in range(1, 7)}
_LISTS: Final = frozenset(("dir", "dl", "menu", "ol", "ul"))
_STYLES: Final = {
    **dict.fromkeys(("b", "strong"), STRONG),
    **dict.fromkeys(("em", "i"), EMPHASIS),
    **dict.fromkeys(("code", "kbd", "samp", "tt"), CODE),
}
_INSETS: Final = frozenset(("aside", "details", "div"))
_NOTE: Final = re.compile(
    r"\b(?:admonition|callout|caution|danger|hint|important|note|sidebar|tip|warning)\b"
)
"""Classes of notes, tips and warnings."""
_NUMBER: Final = re.compile(r"\s*(\d{1,9})\s*")
_FRAGMENT: Final = re.compile(r"[^\s<>]{1,200}")
_LINKED: Final = frozenset(("http", "https", "mailto", "ftp"))


class _Ending(Enum):
    """What ends with an element."""

    NOTHING = auto()
    PARAGRAPH = auto()
    HEADING = auto()
    CODE = auto()
    FRAME = auto()
    INSET = auto()


class _Frame(NamedTuple):
    """An open element that holds blocks, items, rows or cells."""

    tag: str
    blocks: list[Block]
    items: list[list[Block]]
    rows: list[list[Cell]]
    span: tuple[int, int] = (1, 1)
    start: int | None = None


def _frame(tag: str, span: tuple[int, int] = (1, 1), start: int | None = None) -> _Frame:
    return _Frame(tag, [], [], [[]] if tag == "tr" else [], span, start)


def build_blocks(recording: Recording, base: str) -> list[Block]:
    """Return the blocks of a recording. Links become absolute by `base`."""
    builder = _Builder(recording, base)
    for event in recording.events:
        if event.kind == START:
            builder.start(event.text, event.attributes, event.line)
        elif event.kind == END:
            builder.end()
        else:
            builder.add_text(event.text, event.line)
    return builder.finish()


class _Builder:
    def __init__(self, recording: Recording, base: str) -> None:
        self._ends, self._seams, self._base = recording.ends, recording.seams, base
        self._frames = [_frame("")]
        self._open: list[tuple[_Ending, int, str]] = []
        """Open elements: what ends with each, and style and link around it."""
        self._classes: list[str] = []
        self._runs: list[Run] = []
        self._style, self._href = 0, ""
        self._line = 0
        self._heading = 0
        self._fragment = self._near = ""
        self._code: list[str] | None = None
        self._language = ""
        self._definitions: Items | None = None
        """The latest list that was made of definitions."""

    def start(self, tag: str, attributes: dict[str, str | None], line: int) -> None:
        self._near = attributes.get("id") or (tag == "a" and attributes.get("name")) or self._near
        if self._heading:
            self._fragment = self._fragment or self._near
        ending = _Ending.NOTHING
        style, href = self._style, self._href
        if self._code is not None:
            self._language = self._language or language_of(attributes.get("class"))
        elif tag in _HEADINGS and not self._heading:
            self._flush()
            self._heading, self._fragment = _HEADINGS[tag], self._near
            ending = _Ending.HEADING
        elif tag == "pre":
            self._flush()
            self._code = []
            ending = _Ending.CODE
            near = (attributes.get("class"), *reversed(self._classes[-NEAR:]))
            self._language = next(filter(None, map(language_of, near)), "")
        elif tag in _STYLES:
            self._style |= _STYLES[tag]
        elif tag == "a":
            self._href = self._link(attributes.get("href"))
        elif tag == "img":
            self._add_image(attributes, line)
        elif tag in _INSETS and len(self._frames) == 1 and _is_inset(tag, attributes):
            self._flush()
            self._blocks().append(Inset(begins=True))
            ending = _Ending.INSET
        elif tag in _FRAMED or tag in _PARAGRAPHS:
            self._flush()
            framed = self._open_frame(tag, attributes)
            ending = _Ending.FRAME if framed else _Ending.PARAGRAPH
        self._open.append((ending, style, href))
        self._classes.append(attributes.get("class") or "")

    def end(self) -> None:
        ending, style, href = self._open.pop()
        self._classes.pop()
        match ending:
            case _Ending.CODE:
                self._end_code()
            case _Ending.HEADING:
                self._end_heading()
            case _Ending.FRAME:
                self._close_frame()
            case _Ending.INSET:
                self._flush()
                self._blocks().append(Inset(begins=False))
            case _Ending.PARAGRAPH:
                self._flush()
        self._style, self._href = style, href

    def add_text(self, text: str, line: int) -> None:
        self._advance(line)
        if self._code is not None:
            self._code.append(text)
        else:
            self._runs.append(Run(text, CODE if self._style & CODE else self._style, self._href))
        if not text.isspace():
            self._near = ""

    def finish(self) -> list[Block]:
        self._flush()
        return self._frames[0].blocks

    def _advance(self, line: int) -> None:
        """Separate what follows from the text before, by how the lines between them end."""
        breaks = 0
        for number in range(self._line, line):
            end = self._ends[number]
            if end == BROKEN:
                breaks += 1
            elif self._seams[number]:
                self._add_space(joined=end == JOINED)
            elif end == SPACED:
                self._add_space()
            elif self._code is not None:
                if self._code and not self._code[-1].endswith("\n"):
                    self._code.append("\n")
            else:
                self._flush()
                breaks = 0
        self._line = max(line, self._line)
        if self._code is not None:
            self._code.append("\n" * breaks)
        elif breaks > 1 and not self._heading:
            self._flush()
        elif breaks:
            self._runs.append(Run("", BREAK))

    def _add_space(self, *, joined: bool = False) -> None:
        if not joined and self._code is None:
            self._runs.append(Run(" ", self._style, self._href))

    def _flush(self) -> None:
        """End the present paragraph. A heading goes on after a space."""
        if self._heading:
            self._runs.append(Run(" "))
            return
        runs, self._runs = self._runs, []
        if any(run.text and not run.text.isspace() for run in runs):
            self._blocks().append(Paragraph(runs))

    def _blocks(self) -> list[Block]:
        """Return the list to which a block is added."""
        frame = self._frames[-1]
        if frame.tag in _LISTS:
            if not frame.items:
                frame.items.append([])
            return frame.items[-1]
        return frame.blocks

    def _end_heading(self) -> None:
        level, self._heading = self._heading, 0
        runs, self._runs = self._runs, []
        if any(run.text and not run.text.isspace() for run in runs):
            fragment = self._fragment or self._near
            kept = fragment if _FRAGMENT.fullmatch(fragment) else ""
            self._blocks().append(Heading(level, runs, kept))

    def _end_code(self) -> None:
        text = "".join(self._code or ()).expandtabs(8)
        self._code = None
        lines = [line.rstrip() for line in text.splitlines()]
        while lines and not lines[0]:
            del lines[0]
        if text := "\n".join(lines).rstrip():
            self._blocks().append(Code(text, self._language))

    def _open_frame(self, tag: str, attributes: dict[str, str | None]) -> bool:
        """Begin a list, item, quote, table, row or cell, and return True, if `tag` is one here."""
        around = self._frames[-1].tag
        if tag not in _FRAMED or self._heading or len(self._frames) > MAX_DEPTH:
            return False
        if not _fits(tag, around):
            return False
        if tag in ("li", "dt") or (tag == "dd" and not self._frames[-1].items):
            self._frames[-1].items.append([])
        span, start = (1, 1), None
        if tag in ("td", "th"):
            span = _number(attributes.get("colspan")), _number(attributes.get("rowspan"))
        elif tag == "ol":
            start = _number(attributes.get("start"))
        self._frames.append(_frame(tag, span, start))
        return True

    def _close_frame(self) -> None:
        self._flush()
        frame = self._frames.pop()
        around = self._frames[-1]
        if frame.tag in ("li", "dt", "dd"):
            around.items[-1].extend(frame.blocks)
        elif frame.tag in _LISTS:
            self._add_list(frame)
        elif frame.tag in ("td", "th"):
            around.rows[-1].append((frame.span, frame.blocks))
        elif frame.tag == "tr":
            rest = (
                [((1, 1), frame.blocks)] if frame.blocks else []
            )  # cells too deep to be told apart
            around.rows.append([*frame.rows[-1], *rest])
        elif frame.tag == "table":
            self._blocks().extend([*frame.blocks, *table_blocks(frame.rows)])
        elif frame.tag == "caption":
            around.blocks.extend(frame.blocks)
        elif frame.blocks:
            self._blocks().append(Quote(frame.blocks))

    def _add_list(self, frame: _Frame) -> None:
        """Add a list. Definitions in a row, each a list of its own, become one list."""
        items, blocks = [item for item in frame.items if item], self._blocks()
        if frame.tag == "dl" and blocks and self._definitions is blocks[-1]:
            self._definitions.items.extend(items)
        elif items:
            blocks.append(added := Items(items, frame.start))
            if frame.tag == "dl":
                self._definitions = added

    def _link(self, href: str | None) -> str:
        """Return the URL to which a link leads, or "" if it is no link to a page."""
        if not href or len(href) > MAX_URL_CHARS:
            return ""
        try:
            url = urljoin(self._base, "".join(href.split()))
            return url if urlsplit(url).scheme in _LINKED else ""
        except ValueError:
            return ""

    def _add_image(self, attributes: dict[str, str | None], line: int) -> None:
        alternative = (attributes.get("alt") or "").strip()
        if alternative:
            self._advance(line)
            self._runs.append(Run(alternative, IMAGE, self._link(attributes.get("src"))))


_BLOCKS: Final = """address article aside body caption center dd details dialog div dt fieldset
    figcaption figure footer form header hgroup html legend li main menu nav p search section
    summary tbody td tfoot th thead tr"""
_PARAGRAPHS: Final = frozenset(_BLOCKS.split())
"""Elements that begin and end paragraphs."""
_FRAMED: Final = _LISTS | {"blockquote", "caption", "dd", "dt", "li", "table", "td", "th", "tr"}


def _is_inset(tag: str, attributes: dict[str, str | None]) -> bool:
    return tag != "div" or _NOTE.search((attributes.get("class") or "")[:200]) is not None


def _fits(tag: str, around: str) -> bool:
    """Whether an element is a part of the frame around it, or one that can be anywhere."""
    if tag in ("dd", "dt"):
        return around == "dl"
    if tag == "li":
        return around in _LISTS and around != "dl"
    if tag in ("td", "th"):
        return around == "tr"
    if tag in ("caption", "tr"):
        return around == "table"
    return True


def _number(text: str | None) -> int:
    found = _NUMBER.match(text or "")
    return int(found[1]) if found else 1
