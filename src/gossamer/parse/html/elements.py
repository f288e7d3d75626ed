"""What the walk does at the start and at the end of each kind of node: a table by lexbor's tag ids.

Each kind is a class with two methods. `enter` is called at a node's start. It returns the first
child, if the walk should visit the children; else it has dealt with the whole node. `leave` is
called at the end of a node with children; the walk then restores the cursor's `box` and `in_link`.

Methods of compiled classes are called through a table of C pointers, so a kind per class costs no
more than a chain of comparisons.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.html import findings as on
from gossamer.parse.html.cursor import MAX_BOXES, Node
from gossamer.parse.html.foreign import math_text, repeats_math, svg_lines
from gossamer.parse.html.line_numbers import is_column, is_number, is_number_name
from gossamer.parse.html.lines import BROKEN, JOINED, OUTSIDE, SPACED
from gossamer.parse.maintext.blocks import HEADINGS
from gossamer.parse.maintext.marks import NUMBERS, SLUGGED, marks_of
from gossamer.parse.maintext.names import NAMED_CHROME

if TYPE_CHECKING:
    from collections.abc import Callable

    from selectolax.lexbor import LexborNode

    from gossamer.parse.html.cursor import Cursor
    from gossamer.parse.html.findings import Findings


class _Plain(Node):
    """An element that is only of interest to `findings.py`."""

    def __init__(
        self,
        start: Callable[[Findings, LexborNode], None] | None = None,
        end: Callable[[Findings], None] | None = None,
    ) -> None:
        self.start = start
        self.end = end

    def enter(self, cursor: Cursor, node: LexborNode) -> LexborNode | None:
        if self.start is not None:
            self.start(cursor.found, node)
        child = node.first_child
        if child is None and self.end is not None:
            self.end(cursor.found)
        return child

    def leave(self, cursor: Cursor, node: LexborNode, around: int) -> None:  # noqa: ARG002
        if self.end is not None:
            self.end(cursor.found)


class _Block(Node):
    """A box, and a block of the visible text."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.marks = marks_of(name, {})

    def enter(self, cursor: Cursor, node: LexborNode) -> LexborNode | None:
        cursor.end_line(cursor.box)
        child = node.first_child
        if child is not None and cursor.box >= 0:
            attributes = node.attributes
            marks = marks_of(self.name, attributes) if attributes else self.marks
            if marks >= NUMBERS:
                if is_number(node):
                    return None
                marks -= NUMBERS
            if marks >= 0:
                cursor.open_box(self.name, marks)
            elif self.name == "body" or not cursor.hide(node, marks):
                cursor.open_box(self.name, 0)
        return child

    def leave(self, cursor: Cursor, node: LexborNode, around: int) -> None:  # noqa: ARG002
        cursor.end_line(cursor.box)
        cursor.close_box(around)

    def plain_marks(self, classes: str) -> int | None:
        marks = marks_of(self.name, {"class": classes})
        return marks if 0 <= marks < NUMBERS else None


class _Heading(_Block):
    """A heading is in the outline even in a button, such as one that opens a section."""

    def __init__(
        self,
        name: str,
        start: Callable[[Findings, LexborNode], None] | None = None,
        end: Callable[[Findings], None] | None = None,
    ) -> None:
        super().__init__(name)
        self.start = start
        self.end = end

    def enter(self, cursor: Cursor, node: LexborNode) -> LexborNode | None:
        if cursor.box == OUTSIDE:
            cursor.box = cursor.box_of_button(node)
        count = len(cursor.boxes)
        child = super().enter(cursor, node)
        cursor.lines.headings += cursor.boxes[count:]
        if self.start is not None:
            self.start(cursor.found, node)
            if child is None and self.end is not None:
                self.end(cursor.found)
        return child

    def leave(self, cursor: Cursor, node: LexborNode, around: int) -> None:
        if self.end is not None:
            if cursor.is_unquoted(node):
                cursor.found.heading_starts.pop()
            else:
                self.end(cursor.found)
        super().leave(cursor, node, around)


class _Preformatted(_Block):
    """Code, or the column of its line numbers, which is left out."""

    def enter(self, cursor: Cursor, node: LexborNode) -> LexborNode | None:
        if is_column(node):
            cursor.end_line(cursor.box)
            return None
        return super().enter(cursor, node)


class _Span(Node):
    """An inline element that is a box if its attributes mark it as boilerplate."""

    def enter(self, cursor: Cursor, node: LexborNode) -> LexborNode | None:
        child = node.first_child
        if child is None or cursor.box < 0:
            return child
        in_code = cursor.boxes[cursor.box].tag == "pre"
        if in_code:
            text = child.text_content
            if text is None or not text.strip().isdecimal():
                return child
        attributes = self.attributes_of(node)
        marks = marks_of("span", attributes) if attributes else 0
        if marks >= NUMBERS and is_number(node):
            return None
        if in_code or not attributes:
            return child
        if attributes.get("aria-hidden") == "true" and repeats_math(node):
            return None
        if marks < 0:
            if cursor.hide(node, marks):
                cursor.lines.seam(JOINED)
        elif marks & NAMED_CHROME and len(cursor.boxes) < MAX_BOXES:
            cursor.lines.seam(cursor.box)
            cursor.open_box("span", marks)
        return child

    def leave(self, cursor: Cursor, node: LexborNode, around: int) -> None:  # noqa: ARG002
        if cursor.box != around:
            cursor.lines.seam(cursor.box)
            cursor.close_box(around)

    def plain_marks(self, classes: str) -> int | None:
        marks = marks_of("span", {"class": classes})
        return None if marks >= NUMBERS or marks & NAMED_CHROME else marks

    def attributes_of(self, node: LexborNode) -> dict[str, str | None]:
        return node.attributes


class _Custom(_Span):
    """An element that HTML does not define. Its name counts as a class."""

    def attributes_of(self, node: LexborNode) -> dict[str, str | None]:
        attributes = node.attributes
        attributes["class"] = f"{node.tag} {attributes.get('class') or ''}"
        return attributes


class _LineBreak(Node):
    def enter(self, cursor: Cursor, node: LexborNode) -> LexborNode | None:  # noqa: ARG002
        cursor.end_line(BROKEN if cursor.box >= 0 else OUTSIDE)
        return None


class _Gap(_Plain):
    """An element whose content is not shown."""

    def enter(self, cursor: Cursor, node: LexborNode) -> LexborNode | None:
        cursor.lines.gap(cursor.box)
        if self.start is not None:
            self.start(cursor.found, node)
        return None


class _Skipped(Node):
    """An element that is not shown and takes no place: the brackets of ruby."""

    def enter(self, cursor: Cursor, node: LexborNode) -> LexborNode | None:  # noqa: ARG002
        return None


class _Ruby(Node):
    """Text with its reading, such as kanji with kana."""

    def enter(self, cursor: Cursor, node: LexborNode) -> LexborNode | None:
        cursor.ruby = len(cursor.pieces)
        return node.first_child


class _Reading(Node):
    """The reading of the base before it, which stands above that and not in the line."""

    def enter(self, cursor: Cursor, node: LexborNode) -> LexborNode | None:
        parent = node.parent
        if parent is None or parent.tag not in ("ruby", "rtc"):
            return node.first_child
        cursor.lines.add_reading(cursor.ruby, node.text())
        cursor.ruby = len(cursor.pieces)
        return None


class _Math(Node):
    """A formula is text within its line."""

    def enter(self, cursor: Cursor, node: LexborNode) -> LexborNode | None:
        if text := math_text(node):
            cursor.pieces.append(text)
        return None


class _Drawing(Node):
    """The texts of an SVG image: one of them is a part of its line, each of several a line."""

    def enter(self, cursor: Cursor, node: LexborNode) -> LexborNode | None:
        on.start_drawing(cursor.found, node)
        text = node.text()  # most images are icons, without any
        lines = [] if text.isspace() or not text or repeats_math(node) else svg_lines(node)
        if len(lines) > 1:
            for line in lines:
                cursor.end_line(cursor.box)
                cursor.pieces.append(line)
            cursor.end_line(cursor.box)
        elif lines:
            cursor.pieces.append(f" {lines[0]} ")
        else:
            cursor.lines.gap(cursor.box)
        return None


class _Anchor(Node):
    def plain_marks(self, classes: str) -> int | None:
        return None if is_number_name(classes) else 0

    def enter(self, cursor: Cursor, node: LexborNode) -> LexborNode | None:
        attributes = node.attributes
        href = attributes.get("href")
        is_local = href is None or href[:1] == "#"
        classes = attributes.get("class")
        if is_local and classes and is_number_name(classes) and is_number(node):
            return None
        cursor.found.anchors.append((href, attributes.get("rel"), len(cursor.pieces)))
        cursor.found.alt = ""
        child = node.first_child
        if child is None:
            on.end_anchor(cursor.found)
        elif cursor.box >= 0 and href and not is_local:
            cursor.in_link = True
            cursor.lines.links.append(len(cursor.ends))
        return child

    def leave(self, cursor: Cursor, node: LexborNode, around: int) -> None:  # noqa: ARG002
        on.end_anchor(cursor.found)


class _Button(Node):
    """A block of the visible text that is not in the outline, unless it is a heading."""

    def enter(self, cursor: Cursor, node: LexborNode) -> LexborNode | None:
        cursor.buttons[node.mem_id] = cursor.box
        if cursor.box >= 0 and _is_titling(cursor, node):
            return node.first_child
        cursor.end_line(SPACED if cursor.box >= 0 else OUTSIDE)
        child = node.first_child
        if child is not None:
            cursor.box = OUTSIDE
        return child

    def leave(self, cursor: Cursor, node: LexborNode, around: int) -> None:  # noqa: ARG002
        if OUTSIDE in (cursor.box, around):
            cursor.end_line(OUTSIDE)


def _is_titling(cursor: Cursor, button: LexborNode) -> bool:
    """Whether a button is within a heading: it opens a section, and has the section's title."""
    box = cursor.boxes[cursor.box]
    if box.tag in _TITLING or cursor.boxes[box.parent].tag in _TITLING:
        return True
    parent = button.parent
    return parent is not None and parent.attrs.sget("role") == "heading"


_TITLING: Final = HEADINGS | {"dt", "legend", "summary"}
_BUTTON: Final = _Button()


_BLOCKS: Final = """address article aside blockquote body caption center dd details dialog dir div
    dl dt fieldset figcaption figure footer form header hgroup legend li main menu nav
    ol p search section summary table tbody td tfoot th thead tr ul"""
_GAPS: Final = "datalist input select style textarea"
_BY_NAME: Final[dict[str, Node]] = {
    **{name: _Block(name) for name in _BLOCKS.split()},
    **dict.fromkeys(_GAPS.split(), _Gap()),
    **dict.fromkeys(("audio", "canvas", "video"), _Gap(on.start_player)),
    **dict.fromkeys(("noembed", "noframes", "noscript"), _Gap(on.start_noscript)),
    "a": _Anchor(),
    "abbr": _Plain(on.start_abbreviation),
    "area": _Plain(on.start_area),
    "base": _Plain(on.start_base),
    "br": _LineBreak(),
    "button": _BUTTON,
    "embed": _Plain(on.start_embed),
    "frame": _Plain(on.start_frame),
    "h1": _Heading("h1", on.start_h1, on.end_heading(1)),
    "h2": _Heading("h2", on.start_heading, on.end_heading(2)),
    "h3": _Heading("h3", on.start_heading, on.end_heading(3)),
    **{name: _Heading(name) for name in ("h4", "h5", "h6")},
    "hr": _LineBreak(),
    "html": _Plain(on.start_html),
    "iframe": _Gap(on.start_frame),
    "img": _Plain(on.start_image),
    "link": _Plain(on.start_link_element),
    "math": _Math(),
    "meta": _Plain(on.start_meta),
    "nobr": _Span(),
    "object": _Gap(on.start_object),
    "pre": _Preformatted("pre"),
    "rp": _Skipped(),
    "rt": _Reading(),
    "ruby": _Ruby(),
    "script": _Gap(on.start_script),
    "source": _Plain(on.start_source),
    "span": _Span(),
    "svg": _Drawing(),
    "template": _Gap(on.start_template),
    "time": _Plain(on.start_time, on.end_time),
    "title": _Gap(on.start_title),
}

TEXT: Final = 2
"""lexbor's LXB_TAG__TEXT: the walk reads text nodes itself, which are half of all nodes."""
_KNOWN: Final = 256
"""Tag ids of nodes other than elements and of elements that HTML defines are smaller than this; the
ids of others are addresses."""
_any = LexborHTMLParser("<p>")
_BY_ID: Final[dict[int, Node]] = {
    **dict.fromkeys(range(_KNOWN), Node()),
    **{_any.create_node(name).tag_id: kind for name, kind in _BY_NAME.items()},
}
KINDS: Final[list[Node]] = [*[_BY_ID[number] for number in range(_KNOWN)], _Custom()]
"""By tag id; the last one is that of elements that HTML does not define."""
CUSTOM: Final = _KNOWN

CALLED, VISITED, BOXED, SPANNED, LINKING = range(5)
"""How the walk in C (`native/texts/walk.c`) treats elements: by the methods of their kind, by going
on with their children, or as `_Block`, `_Span` and `_Anchor` do, if they are plain."""
_WAYS: Final[dict[type[Node], int]] = {
    Node: VISITED,
    _Block: BOXED,
    _Span: SPANNED,
    _Anchor: LINKING,
}
_NAMES: Final = {id(kind): name for name, kind in _BY_NAME.items()}
Plain = tuple[int, str, dict[str, int | None], bool]
"""How plain elements are treated, their name, their marks by their classes, and whether their id
does not matter."""
PLAIN: Final[list[Plain]] = [
    (_WAYS.get(type(kind), CALLED), name := _NAMES.get(id(kind), ""), {}, name in SLUGGED)
    for kind in KINDS
]
"""By tag id."""
