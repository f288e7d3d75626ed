"""One walk over lexbor's tree: for text, headings, links and metadata, and for the main text.

Facts (selectolax 1.0, per page of 77 KB, 1,800 nodes and 100 links): parsing takes 0.23 ms; a walk
over every node from Python 0.3 ms, as nodes are cheap; one CSS query 0.1 ms. lexbor's own text
extraction ignores blocks ("<li>a<li>b" is "ab" or, with a separator, "<b>a</b>b" is "a b"). One
walk that sees where elements start and end gets the text right, and costs less than separate
queries for links, headings and metadata.

Scripting is "enabled", as in browsers: a noscript element is one text node, which is not shown
and does not end the head early.

Bounds: time is linear in the page, and nothing recurses. lexbor itself is quadratic in the depth of
open elements and in the number of attributes of an element, and unbounded where formatting elements
are reconstructed (`guard.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.html import findings as on
from gossamer.parse.html.findings import Findings
from gossamer.parse.html.lines import BREAK, BROKEN, JOINED, OUTSIDE, SPACED
from gossamer.parse.maintext.blocks import Box
from gossamer.parse.maintext.marks import HIDDEN, marks_of
from gossamer.parse.maintext.names import NAMED_CHROME
from gossamer.parse.page import PERMALINK, Rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from selectolax.lexbor import LexborNode

    from gossamer.parse.maintext.blocks import Outline

MAX_BOXES: Final = 200_000
"""Number of boxes after which no more are told apart: honest pages have 300, large ones 20,000."""


def findings(tree: LexborHTMLParser, rules: Rules, *, reveal: bool = False) -> Findings:
    """Collect the text, headings, references and metadata of a page.

    With `reveal`, elements that their attributes hide are part of the outline.
    """
    found = Findings(rules)
    if tree.root is not None:
        walk(tree.root, found, reveal=reveal)
    return found


def outline_of(element: LexborNode) -> Outline:
    """Return the outline of an element, which is shown whatever its attributes."""
    found = Findings(_DEFAULTS)
    walk(element, found)
    return found.lines.outline()


def walk(root: LexborNode, found: Findings, *, reveal: bool = False) -> None:  # noqa: C901, PLR0912, PLR0915  # hot
    """Visit every node in document order, elements at their start and at their end.

    `box` is the number of the innermost box, or OUTSIDE in an element that is not in the outline.
    """
    lines = found.lines
    elements, boxes, pieces, ends = _ELEMENTS, lines.boxes, lines.pieces, lines.ends
    anchors = found.anchors
    ancestors: list[tuple[LexborNode, _Element | None, int]] = []
    box = links = 0
    node: LexborNode | None = root
    while node is not None:
        tag = node.tag_id
        child = None
        if tag == _TEXT:
            if (text := node.text_content) and text != PERMALINK:
                pieces.append(text)
                if links and box >= 0 and not text.isspace():
                    lines.linked.append((len(ends), len(text.strip())))
        elif (element := elements.get(tag, _CUSTOM)) is None:
            child = node.first_child
            if child is not None:
                ancestors.append((node, None, box))
                node = child
                continue
        else:
            kind = element.kind
            around = box
            if kind == _BOX:
                pieces.append(BREAK)
                ends.append(box)
                if element.start is not None:
                    element.start(found, node)
                child = node.first_child
                if child is not None and box >= 0:
                    attributes = node.attributes
                    marks = marks_of(element.name, attributes) if attributes else element.marks
                    if marks == HIDDEN and not reveal and ancestors and element.name != "body":
                        lines.hides = True
                        box = OUTSIDE
                    elif len(boxes) < MAX_BOXES:
                        box = len(boxes)
                        shown = 0 if marks == HIDDEN else marks
                        boxes.append(Box(element.name, around, len(ends), 0, shown))
            elif kind == _ANCHOR:
                attributes = node.attributes
                anchors.append((attributes, len(pieces)))
                found.alt = ""
                child = node.first_child
                around = 0
                if child is not None and box >= 0:
                    href = attributes.get("href")
                    if href and href[0] != "#":
                        around = 1
                        links += 1
                        lines.links.append(len(ends))
            elif kind == _SPAN:
                child = node.first_child
                if child is not None and box >= 0 and boxes[box].tag != "pre":
                    attributes = node.attributes
                    if element is _CUSTOM:
                        attributes["class"] = f"{node.tag} {attributes.get('class') or ''}"
                    marks = marks_of("span", attributes) if attributes else 0
                    if marks == HIDDEN and not reveal and ancestors:
                        lines.hides = True
                        lines.seam(JOINED)
                        box = OUTSIDE
                    elif marks > 0 and marks & NAMED_CHROME and len(boxes) < MAX_BOXES:
                        lines.seam(box)
                        box = len(boxes)
                        boxes.append(Box("span", around, len(ends), 0, marks))
            elif kind == _VOID:
                pieces.append(BREAK)
                ends.append(BROKEN if box >= 0 else OUTSIDE)
            elif kind == _GAP:
                lines.gap(box)
                if element.start is not None:
                    element.start(found, node)
            else:
                if kind == _BUTTON:
                    pieces.append(BREAK)
                    ends.append(SPACED if box >= 0 else OUTSIDE)
                    box = OUTSIDE
                if element.start is not None:
                    element.start(found, node)
                child = node.first_child
            if child is not None:
                ancestors.append((node, element, around))
                node = child
                continue
            if element.end is not None:
                element.end(found)
            if kind == _BUTTON:
                box = around
        while (following := node.next) is None:
            if not ancestors:
                break
            node, element, around = ancestors.pop()
            if element is None:
                continue
            kind = element.kind
            if kind == _BOX:
                if element.end is not None:
                    element.end(found)
                pieces.append(BREAK)
                ends.append(box)
                if box != around:
                    if box >= 0:
                        boxes[box].end = len(ends)
                    box = around
            elif kind == _SPAN:
                if box != around:
                    lines.seam(box)
                    if box >= 0:
                        boxes[box].end = len(ends)
                    box = around
            elif kind == _ANCHOR:
                links -= around
                on.end_anchor(found)
            elif kind == _BUTTON:
                pieces.append(BREAK)
                ends.append(OUTSIDE)
                box = around
            elif element.end is not None:
                element.end(found)
        node = following if ancestors else None  # only comments follow the root
    ends.append(box)
    boxes[0].end = len(ends)


class _Element:
    """How the walk treats an element. `marks` are those of a box without attributes."""

    __slots__ = ("end", "kind", "marks", "name", "start")

    def __init__(
        self,
        kind: int,
        start: Callable[[Findings, LexborNode], None] | None = None,
        end: Callable[[Findings], None] | None = None,
        name: str = "",
        marks: int = 0,
    ) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.name = name
        self.marks = marks

    def named(self, name: str) -> _Element:
        return _Element(self.kind, self.start, self.end, name, marks_of(name, {}))


_PLAIN: Final = 0
"""Kind of elements that are only of interest to `findings.py`."""
_BOX: Final = 1
"""A box, and a block of the visible text."""
_SPAN: Final = 2
"""An inline element that may be a box."""
_VOID: Final = 3
_GAP: Final = 4
"""The content is not shown."""
_ANCHOR: Final = 5
_BUTTON: Final = 6
"""A block of the visible text that is not in the outline."""

_BOXES: Final = """address article aside blockquote body caption center dd details dialog dir div
    dl dt fieldset figcaption figure footer form h4 h5 h6 header hgroup legend li main menu nav
    ol p pre search section summary table tbody td tfoot th thead tr ul"""
_GAPS: Final = """audio canvas datalist input math noembed noframes noscript object select style svg
    template textarea video"""
_CUSTOM: Final = _Element(_SPAN)
"""An element that HTML does not define."""
_BY_NAME: Final = {
    **dict.fromkeys(_BOXES.split(), _Element(_BOX)),
    **dict.fromkeys(_GAPS.split(), _Element(_GAP)),
    **dict.fromkeys(("br", "hr"), _Element(_VOID)),
    "a": _Element(_ANCHOR, end=on.end_anchor),
    "abbr": _Element(_PLAIN, on.start_abbreviation),
    "area": _Element(_PLAIN, on.start_area),
    "base": _Element(_PLAIN, on.start_base),
    "button": _Element(_BUTTON),
    "frame": _Element(_PLAIN, on.start_frame),
    "h1": _Element(_BOX, on.start_h1, on.end_heading(1)),
    "h2": _Element(_BOX, on.start_heading, on.end_heading(2)),
    "h3": _Element(_BOX, on.start_heading, on.end_heading(3)),
    "html": _Element(_PLAIN, on.start_html),
    "iframe": _Element(_GAP, on.start_frame),
    "img": _Element(_PLAIN, on.start_image),
    "link": _Element(_PLAIN, on.start_link_element),
    "meta": _Element(_PLAIN, on.start_meta),
    "script": _Element(_GAP, on.start_script),
    "source": _Element(_PLAIN, on.start_source),
    "span": _Element(_SPAN),
    "time": _Element(_PLAIN, on.start_time, on.end_time),
    "title": _Element(_GAP, on.start_title),
}

_DEFAULTS: Final = Rules()
_KNOWN: Final = 256
"""Tag ids of nodes other than elements and of elements that HTML defines are smaller than this; the
ids of others are addresses."""
_any = LexborHTMLParser("<p>")
_ELEMENTS: Final[dict[int, _Element | None]] = dict.fromkeys(range(_KNOWN)) | {
    _any.create_node(name).tag_id: element.named(name) for name, element in _BY_NAME.items()
}
_TEXT: Final = 2
"""lexbor's LXB_TAG__TEXT."""
