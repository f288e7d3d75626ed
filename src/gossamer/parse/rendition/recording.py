"""What a page has, in document order, reduced to its main text.

The walk is that of `gossamer.parse.html.walk`, with the same treatment of each kind of element, so
that its lines are the parser's. In addition, it keeps the elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gossamer.parse.html.cursor import Cursor
from gossamer.parse.html.elements import CUSTOM, KINDS, TEXT
from gossamer.parse.html.findings import Findings
from gossamer.parse.html.lines import BREAK, JOINED, OUTSIDE, SEAM
from gossamer.parse.maintext.blocks import Box, Outline
from gossamer.parse.rendition.chosen_blocks import main_blocks
from gossamer.web.directions import without_overrides

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from selectolax.lexbor import LexborNode

    from gossamer.parse.html.cursor import Node
    from gossamer.parse.html.lines import Lines
    from gossamer.parse.parsed_page import Rules

MAX_LINES = 300_000
"""Lines of the longest page whose elements are kept. The manuals that we know have 40,000."""

START, END, WORDS = range(3)


class Event(NamedTuple):
    """The start or the end of an element, whose tag is `text`, or words of the page."""

    kind: int
    line: int
    text: str
    attributes: dict[str, str | None]


class Recording(NamedTuple):
    """Events, and how each line ends: as in `Lines.ends`, with JOINED and SPACED for seams too."""

    events: list[Event]
    ends: list[int]
    seams: list[bool]


class TooLong(Exception):
    """The page has more lines than are kept."""


_NONE: dict[str, str | None] = {}


def record_main_text(root: LexborNode, title: str, rules: Rules) -> Recording:
    """Record the main text of a page. Raises TooLong."""
    found, events = _record(root, rules, reveal=False)
    other: list[tuple[Findings, list[Event], _Numbered]] = []

    def revealed() -> Outline | None:
        if not found.lines.hides:
            return None
        again, shown = _record(root, rules, reveal=True)
        other.append((again, shown, _Numbered.of(again.lines)))
        return other[0][2].outline

    numbered = _Numbered.of(found.lines)
    outline, chosen = main_blocks(numbered.outline, title, revealed)
    if outline is not numbered.outline:
        found, events, numbered = other[0]
    return _reduced(found.lines, events, numbered, chosen)


def record_element(root: LexborNode, rules: Rules) -> Recording:
    """Record all of an element, which is shown whatever its attributes. Raises TooLong."""
    found, events = _record(root, rules, reveal=False)
    numbered = _Numbered.of(found.lines)
    return _reduced(found.lines, events, numbered, range(len(numbered.outline.blocks)))


def _record(root: LexborNode, rules: Rules, *, reveal: bool) -> tuple[Findings, list[Event]]:
    """Walk as `gossamer.parse.html.walk.walk` does, and return the events as well."""
    found = Findings(rules)
    cursor = Cursor(found, root, reveal=reveal)
    events: list[Event] = []
    open_elements: list[tuple[LexborNode, Node, int, bool]] = []
    pieces, ends = cursor.pieces, cursor.ends
    node: LexborNode | None = root
    while node is not None:
        before, line = len(pieces), len(ends)
        if line > MAX_LINES:
            raise TooLong
        if node.tag_id == TEXT:
            cursor.add_text(node.text_content)
            events += _words(pieces, before, line)
            following = node.next
        else:
            tag = node.tag_id
            kind = KINDS[min(tag, CUSTOM)]
            box, in_link = cursor.box, cursor.in_link
            child = kind.enter(cursor, node)
            if node.is_element_node:
                name = node.tag or ""
                events.append(Event(START, len(ends), name, node.attributes))
                if child is None:
                    events += _words(pieces, before, line)
                    events.append(Event(END, len(ends), name, _NONE))
            if child is not None:
                open_elements.append((node, kind, box, in_link))
                node = child
                continue
            cursor.box, cursor.in_link = box, in_link
            following = node.next
        while following is None and open_elements:
            closed, kind, box, in_link = open_elements.pop()
            kind.leave(cursor, closed, box)
            cursor.box, cursor.in_link = box, in_link
            if closed.is_element_node:
                events.append(Event(END, len(ends), closed.tag or "", _NONE))
            following = closed.next
        if following is None or not open_elements:
            break
        node = following
    ends.append(cursor.box)
    cursor.boxes[0].end = len(ends)
    return found, events


def _words(pieces: Sequence[str], start: int, line: int) -> Iterator[Event]:
    """Yield the texts that were added, from piece `start` on, which begins in `line`."""
    for piece in pieces[start:]:
        if piece in (BREAK, SEAM):
            line += 1
        else:
            yield Event(WORDS, line, without_overrides(piece), _NONE)


class _Numbered(NamedTuple):
    """An outline, and the number of blocks before each line."""

    outline: Outline
    before: list[int]

    @classmethod
    def of(cls, lines: Lines) -> _Numbered:
        # An outline counts the blocks before each box, so a line gets an empty box.
        boxes, real = lines.boxes, len(lines.boxes)
        boxes += [Box("", 0, line, line, 0) for line in range(len(lines.ends) + 1)]
        blocks, numbered = lines.outline()
        del boxes[real:]
        return cls(Outline(blocks, numbered[:real]), [box.start for box in numbered[real:]])


def _reduced(
    lines: Lines, events: Sequence[Event], numbered: _Numbered, chosen: Collection[int]
) -> Recording:
    """Return the events without the texts and images that are not in the chosen blocks.

    An image is in the block of its line; in a line of its own, it is in one before or after it.
    """
    kept = frozenset(chosen)
    numbers = _block_numbers(lines, numbered.before)
    ends = lines.ends

    def is_kept(event: Event) -> bool:
        if event.kind == WORDS or numbers[event.line] >= 0:
            return numbers[event.line] in kept
        following = numbered.before[event.line]
        return ends[event.line] != OUTSIDE and not kept.isdisjoint((following - 1, following))

    reduced = []
    for event in events:
        if event.kind == WORDS and not is_kept(event):
            continue
        is_image = event.kind == START and event.text == "img"
        reduced.append(event._replace(text="") if is_image and not is_kept(event) else event)
    marks = [piece for piece in lines.pieces if piece[0] == BREAK]
    seams = [*(mark == SEAM for mark in marks), False]
    return Recording(reduced, ends, seams)


def _block_numbers(lines: Lines, before: Sequence[int]) -> list[int]:
    """Return for each line the number of the block that it is in; -1 if it is in none.

    Several lines make up a block if they end without ending it, and several blocks if some of
    these lines are empty: two `br` in a row.
    """
    numbers: list[int] = []
    group: list[int] = []  # the present lines that do not end a block
    number = 0
    has_text = False
    for index, (line, end) in enumerate(zip(lines.outline_lines(), lines.ends, strict=True)):
        if end == OUTSIDE or not (line or group):
            numbers.append(-1)
            continue
        if not group:
            number, has_text = before[index], False
        elif not line and has_text and end != JOINED:
            number, has_text = number + 1, False
        has_text = has_text or bool(line)
        numbers.append(number)
        group.append(index)
        if end >= 0:
            last = before[index + 1] - 1
            for each in group:
                numbers[each] = min(numbers[each], last)
            group.clear()
    return numbers
