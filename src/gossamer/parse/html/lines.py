"""The text of a page as lines, from which its visible text and its outline are made.

The walk (`walk.py`) appends text nodes and marks to `pieces`. A mark ends a line, and an entry in
`ends` says what the end means: a number of a box, or one of the constants below. The white space of
each line is folded once. Nearly always, a line is both a line of the visible text and a block of
the main text's outline. The two differ

- where a page has two `br` in a row: one ends a line, two end a block;
- where an element is not part of the outline, as its attributes hide it, or as it is a button;
- where an inline element is a box of its own, as its class marks it as boilerplate.

The last two end lines of the outline only, with a mark of their own (SEAM). They are rare, and a
page that has any is put together from its pieces.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from gossamer.native import native_text
from gossamer.parse.maintext.blocks import CELLS, Box, Outline, block
from gossamer.parse.parsed_page import fold

if TYPE_CHECKING:
    from gossamer.parse.maintext.blocks import Block

BREAK: Final = "\0"
"""Ends a line of the visible text. No text node contains a NUL (§13.2.5 of HTML)."""
SEAM: Final = "\0\1"
"""Ends a line of the outline, within one of the visible text. A hostile page may imitate it by a
control character at the beginning of a line, which then continues the line before."""

# What the end of a line means to the outline, in place of the box of which the line is a block.
BROKEN: Final = -1
"""The block goes on after a line break."""
SPACED: Final = -2
"""The block goes on after a space: something that has no text stands here."""
JOINED: Final = -3
"""The block goes on: what stands here is hidden."""
OUTSIDE: Final = -4
"""The line is not in the outline."""

_SEAM_MARK: Final = SEAM[1]
_BLANKS: Final = "\n\t\r\v\f\x1c\x1d\x1e\x1f"
_BREAKS_2: Final = re.compile(r"\0(?:\s*\0)+")
_BETWEEN: Final = {BROKEN: BREAK, SPACED: " ", JOINED: ""}


class Lines:
    """What a walk has found of text: pieces of lines, how each line ends, boxes, and links.

    The boxes here count lines, those of an outline blocks. The last line has an end, too, but no
    mark.
    """

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.ends: list[int] = []
        self.boxes: list[Box] = [Box("html", 0, 0, 0, 0)]
        self.headings: list[Box] = []
        """The boxes of headings."""
        self.links: list[int] = []
        """The line of each link to another page."""
        self.linked: list[tuple[int, int]] = []
        """Line and length of each text node in these links."""
        self.hides = False
        """Whether the attributes of an element hide it."""
        self.has_unquoted = False
        """Whether an element asks not to be quoted in snippets (`data-nosnippet`)."""
        self._seams = False
        self._folded: list[str] | None = None
        """The lines of the visible text, once they are needed."""
        self._outlined: list[str] = []
        """Those of the outline, if they differ."""
        self._readings: list[tuple[int, int, str]] = []
        """Ranges of pieces that have a reading (ruby), and that."""

    def seam(self, end: int) -> None:
        """End a line of the outline only."""
        self._seams = True
        self.pieces.append(SEAM)
        self.ends.append(end)

    def gap(self, box: int) -> None:
        """Separate the words before and after an element without text, but only in the outline."""
        if box >= 0 and self.pieces:
            last = self.pieces[-1]
            if last[0] != BREAK and not last[-1].isspace():
                self.seam(SPACED)

    def add_reading(self, start: int, reading: str) -> None:
        """Keep the reading of the pieces from `start` on, which have just been added."""
        end = len(self.pieces)
        if start < end:
            self._readings.append((start, end, reading))
        elif self._readings and self._readings[-1][1] == end:  # bases may precede all readings
            start, end, first = self._readings.pop()
            self._readings.append((start, end, first + reading))

    def visible(self) -> str:
        """Return the visible text: one line for each block that has any.

        Lines with readings follow once more, as they are read: people search for both.
        """
        lines = self._lines()
        text = "\n".join(filter(None, lines))
        if self._readings:
            read = fold_lines(["".join(self._read_pieces()).replace(SEAM, "")])
            others = (new for old, new in zip(lines, read, strict=True) if new != old)
            text = "\n".join([text, *others])
        return text

    def _read_pieces(self) -> list[str]:
        """Return the pieces of text, with readings in place of what they are the readings of."""
        pieces = self.pieces.copy()
        for start, end, reading in self._readings:
            if not any(piece[0] == BREAK for piece in pieces[start:end]):
                pieces[start:end] = [reading.replace(BREAK, ""), *[""] * (end - start - 1)]
        return pieces

    def outline(self) -> Outline:
        """Return the blocks and boxes."""
        blocks: list[Block] = []
        boxes = self.boxes
        before = [0]  # the number of blocks before each line
        linked, starts = self.linked, self.links
        linked_at = started_at = 0  # the next of each
        link_chars = links = 0
        parts: list[str] = []
        lines, ends = self.outline_lines(), self.ends
        for number in range(len(ends)):
            line, end = lines[number], ends[number]
            if (line or parts) and end != OUTSIDE:
                if end < 0:
                    parts += line, _BETWEEN[end]
                else:
                    while linked_at < len(linked) and linked[linked_at][0] <= number:
                        link_chars += linked[linked_at][1]
                        linked_at += 1
                    while started_at < len(starts) and starts[started_at] <= number:
                        links += 1
                        started_at += 1
                    box = boxes[end]
                    tag = box.tag
                    if tag == "p" and (around := boxes[box.parent].tag) in CELLS:
                        tag = around
                    if parts:
                        raw = "".join([*parts, line])
                        blocks += _split_blocks(raw, link_chars, links, end, tag)
                        parts.clear()
                    else:
                        text = line.lstrip() if self._seams else line
                        blocks.append(block(text, link_chars, links, end, tag))
                    link_chars = links = 0
            before.append(len(blocks))
        return Outline(
            blocks, [Box(b.tag, b.parent, before[b.start], before[b.end], b.marks) for b in boxes]
        )

    def outline_lines(self) -> list[str]:
        """Return the lines. Those that hidden elements divide keep a space where they meet."""
        lines = self._lines()
        return self._outlined if self._seams else lines

    def _lines(self) -> list[str]:
        if self._folded is None:
            self._folded = self._fold_seams() if self._seams else fold_lines(self.pieces)
        return self._folded

    def _fold_seams(self) -> list[str]:
        """Return the lines of the visible text, and keep those of the outline."""
        text = _with_blanks("".join(self.pieces))
        visible: list[str] = []
        parts: list[str] = []  # what seams divide the present line into
        for raw, end in zip(text.split(BREAK), self.ends, strict=True):
            marked = raw[:1] == _SEAM_MARK
            line = _fold_line(raw[1:] if marked else raw)
            if marked and parts:
                parts.append(raw[1:])
            else:
                if len(parts) > 1:
                    visible[-1] = fold("".join(parts))
                parts = [raw]
                visible.append(fold(raw) if marked else line)
            if line and marked and raw[1].isspace():
                line = " " + line
            if end == JOINED and raw[-1:].isspace():
                line += " "
            self._outlined.append(line)
        if len(parts) > 1:
            visible[-1] = fold("".join(parts))
        return visible


@native_text
def fold_lines(pieces: list[str]) -> list[str]:
    """Return the folded lines of pieces of text, with a BREAK at the end of each but the last."""
    return [line and _fold_line(line) for line in _with_blanks("".join(pieces)).split(BREAK)]


def _with_blanks(text: str) -> str:
    """Return the text with spaces in place of all other white space of ASCII."""
    for blank in _BLANKS:
        if blank in text:
            text = text.replace(blank, " ")
    return text


def _fold_line(line: str) -> str:
    """Return `fold(line)`, for a line of `_with_blanks`: of most, nothing changes but the ends.

    The only white space that is printable is the space.
    """
    line = line.strip()
    if "  " not in line and (line.isascii() or line.isprintable()):
        return line
    return fold(line)


def _split_blocks(raw: str, link_chars: int, links: int, box: int, tag: str) -> list[Block]:
    """Return the blocks of a text with line breaks; several in a row end a block."""
    parts = [text for part in _BREAKS_2.split(raw) if (text := fold(part.replace(BREAK, " ")))]
    total = sum(map(len, parts))
    return [
        block(text, int(link_chars * (share := len(text) / total)), round(links * share), box, tag)
        for text in parts
    ]
