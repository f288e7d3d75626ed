"""XML as a stream: extracts text by a vocabulary, which defines what elements mean.

expat calls handlers while it reads, so reading can stop early, and no tree of a large file is in
memory. Names are compared without their prefix: Office files use two sets of namespaces with the
same names (ISO/IEC 29500, Transitional and Strict), and poor programs write unbound prefixes.

Bounds: a file that declares entities is refused (billion laughs); no format here needs them.
External entities and DTDs are never read. Depth only costs expat's own stack, on the heap.
"""

from __future__ import annotations

import re
from contextlib import suppress
from html.entities import html5
from typing import TYPE_CHECKING, NamedTuple
from xml.parsers import expat

from gossamer.parse.documents.document_draft import MAX_ANCHOR_CHARS, MAX_HEADING_CHARS, Broken
from gossamer.parse.reading.charset import decode
from gossamer.web.encodings import encoding_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gossamer.parse.documents.document_draft import Draft

MAX_TAGS = 1_000_000
"""Tags read per file, which takes 2 s; the text is usually complete long before."""
MAX_OPEN_LINKS = 100
"""Links in each other among which the one that ends is looked for."""

_CHUNK_BYTES = 65_536
_DECLARED = re.compile(rb"""<\?xml[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9._:-]{1,40})""")
_OF_EXPAT = frozenset(("utf-8", "utf-16le", "utf-16be"))


class Enough(Exception):
    """Raised by a handler to end the reading."""


class Vocabulary(NamedTuple):
    """What elements mean, by their names without prefix.

    `text`: only characters inside these are text; None: all characters are. `hidden`: their content
    is ignored. `blocks`: a line ends where they start and where they end. `gaps`: they become white
    space, `signs`: they become characters. `headings`: blocks whose text is a heading. `asides`:
    notes and text boxes, whose lines follow the line in which they stand. `lines`: line feeds in
    them end a line.
    """

    text: frozenset[str] | None = None
    hidden: frozenset[str] = frozenset()
    blocks: frozenset[str] = frozenset()
    gaps: frozenset[str] = frozenset()
    signs: Mapping[str, str] = {}
    headings: frozenset[str] = frozenset()
    asides: frozenset[str] = frozenset()
    lines: frozenset[str] = frozenset()


class _Link(NamedTuple):
    """An open link: the element that ends it, its target, and its text so far."""

    element: str
    url: str
    anchor: list[str]


class _Line(NamedTuple):
    """The line around an aside, which goes on after it."""

    pieces: list[str]
    heading: bool
    in_text: int


class Walk:
    """Adds the text, headings and links of one XML file to a draft.

    `links` maps the name of a link element to a function from its attributes to its target.
    `heading` decides for any element whether it makes the open block a heading. While `muted`,
    characters are not text.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        draft: Draft,
        links: Mapping[str, Callable[[Mapping[str, str]], str | None]] | None = None,
        heading: Callable[[str, Mapping[str, str]], bool] | None = None,
    ) -> None:
        self._vocabulary = vocabulary
        self._draft = draft
        self._links = links or {}
        self._is_heading = heading
        self._line: list[str] = []
        self._heading = False
        self._in_text = 0
        self._in_lines = 0
        self._hidden = 0
        self.muted = False
        self._open_links: list[_Link] = []
        self._outer_lines: list[_Line] = []
        self._waiting: list[str] = []

    def hides(self, name: str, attributes: Mapping[str, str]) -> bool:  # noqa: ARG002  # for subclasses
        """Whether the content of an element is ignored."""
        return name in self._vocabulary.hidden

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        words = self._vocabulary
        if self._hidden or self.hides(name, attributes):
            self._hidden += 1
            return
        if name in words.blocks:
            self.end_line()
            self._heading = name in words.headings
        elif name in words.gaps:
            self.add(" ")
        elif name in words.signs:
            self.add(words.signs[name])
        elif name in words.asides:
            self._outer_lines.append(_Line(self._line, self._heading, self._in_text))
            self._line, self._heading, self._in_text = [], False, 0
        if words.text is not None and name in words.text:
            self._in_text += 1
        if name in words.lines:
            self._in_lines += 1
        if self._is_heading is not None and self._is_heading(name, attributes):
            self._heading = True
        if (target := self._links.get(name)) is not None:
            self.open_link(name, target(attributes) or "")

    def end(self, name: str) -> None:
        if self._hidden:
            self._hidden -= 1
            return
        words = self._vocabulary
        if words.text is not None and name in words.text:
            self._in_text -= 1
        if name in words.lines:
            self._in_lines -= 1
        if name in self._links:
            self.close_link(name)
        if name in words.blocks:
            self.end_line()
            self._heading = False
        elif name in words.asides and self._outer_lines:
            self.end_line()
            self._line, self._heading, self._in_text = self._outer_lines.pop()
            if not self._line:
                self.end_line()

    def characters(self, text: str) -> None:
        if self._hidden or self.muted or not (self._in_text or self._vocabulary.text is None):
            return
        if self._in_lines and "\n" in text:
            *lines, text = text.split("\n")
            for line in lines:
                self.add(line)
                self.end_line()
        self.add(text)

    def open_link(self, element: str, url: str) -> None:
        self._open_links.append(_Link(element, url, []))

    def close_link(self, element: str) -> None:
        """Close the innermost link of an element, and those in it that were not closed."""
        opened = self._open_links
        for index in range(len(opened) - 1, max(-1, len(opened) - MAX_OPEN_LINKS), -1):
            if opened[index].element == element:
                for link in opened[index:]:
                    self._draft.link(link.url, "".join(link.anchor))
                del opened[index:]
                return

    def add(self, text: str) -> None:
        """Add to the open line, unless it is hidden there."""
        if self._hidden or self.muted:
            return
        self._line.append(text)
        if self._open_links:
            anchor = self._open_links[-1].anchor
            if len(anchor) < MAX_ANCHOR_CHARS:
                anchor.append(text)

    def end_line(self) -> None:
        """End the open line. Raises Enough if text was left out."""
        line = "".join(self._line)
        self._line.clear()
        if line and self._heading:
            self._draft.head(line[:MAX_HEADING_CHARS])
        if self._outer_lines:
            self._waiting.append(line)
            return
        for each in (line, *self._waiting):
            if each and not self._draft.say(each):
                raise Enough
        self._waiting.clear()

    def read(self, xml: bytes) -> None:
        """Read a file. Raises Broken at the first error; what preceded it is in the draft."""
        try:
            parse_xml(xml, self.start, self.end, self.characters)
        except Enough:
            return
        except Broken:
            self.finish()
            raise
        self.finish()

    def finish(self) -> None:
        """End all lines that are open, where the file ends."""
        with suppress(Enough):
            while self._outer_lines:
                self.end_line()
                self._line, self._heading, self._in_text = self._outer_lines.pop()
            self.end_line()


def _ignore(_: str) -> None:
    pass


def parse_xml(
    xml: bytes,
    start: Callable[[str, Mapping[str, str]], None],
    end: Callable[[str], None] = _ignore,
    characters: Callable[[str], None] = _ignore,
) -> None:
    """Call the handlers with names without prefix. Raises Broken."""
    xml, encoding = _for_expat(xml)
    parser = expat.ParserCreate(encoding)
    parser.buffer_text = True
    parser.UseForeignDTD(True)  # undeclared entities, such as HTML's, are skipped, not errors
    parser.EntityDeclHandler = _refuse
    parser.SkippedEntityHandler = lambda name, is_parameter: characters(
        "" if is_parameter else html5.get(f"{name};", " ")
    )
    parser.StartElementHandler = lambda name, attributes: start(_local(name), attributes)
    parser.EndElementHandler = lambda name: end(_local(name))
    parser.CharacterDataHandler = characters
    try:
        tags = 0
        for at in range(0, len(xml), _CHUNK_BYTES):
            chunk = xml[at : at + _CHUNK_BYTES]
            tags += chunk.count(b"<")
            if tags > MAX_TAGS:
                raise Broken(f"more than {MAX_TAGS:,} tags")
            parser.Parse(chunk, False)
        parser.Parse(b"", True)
    except (expat.ExpatError, LookupError, UnicodeError, ValueError) as error:
        raise Broken(f"not XML: {error}") from error


def attribute(attributes: Mapping[str, str], name: str) -> str | None:
    """Return the value of an attribute by its name without prefix."""
    for key, value in attributes.items():
        if _local(key) == name:
            return value
    return None


def _for_expat(xml: bytes) -> tuple[bytes, str | None]:
    """Return XML in an encoding that expat supports (UTF-8, UTF-16), and its name if recoded.

    Other encodings are decoded by the rules of the web.
    """
    declared = _DECLARED.match(xml[:200].lstrip(b"\xef\xbb\xbf \t\r\n"))
    name = encoding_of(declared[1].decode()) if declared else None
    if name is None or name in _OF_EXPAT:
        return xml, None
    text, _ = decode(xml, name)
    return text.encode("utf-8", "replace"), "utf-8"


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _refuse(*_: object) -> None:
    raise Broken("declares entities")
