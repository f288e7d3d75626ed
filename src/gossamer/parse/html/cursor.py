"""Where a walk is in the tree of a page, and what it does to lines and boxes.

The kinds of nodes (`elements.py`) call its methods. A walk in C (`native/texts/walk.c`) keeps
box and link itself while it treats elements that are plain, and gives them back with each of the
others: see `enter`, `leave` and `finish`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from gossamer.parse.html.findings import end_anchor
from gossamer.parse.html.lines import BREAK, OUTSIDE
from gossamer.parse.maintext.blocks import Box
from gossamer.parse.maintext.marks import UNQUOTED
from gossamer.parse.parsed_page import PERMALINK

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborNode

    from gossamer.parse.html.findings import Findings

MAX_BOXES: Final = 200_000
"""Number of boxes after which no more are told apart: honest pages have 300, large ones 20,000."""
MAX_CLIMB: Final = 64
"""Ancestors of a heading among which one may ask not to be quoted."""
MAX_BUTTON_DEPTH: Final = 6
"""Ancestors of a heading among which one may be a button."""


class Cursor:
    """Where the walk is in the tree, and the lists to which it adds what it finds."""

    def __init__(self, found: Findings, root: LexborNode, *, reveal: bool) -> None:
        """With `reveal`, elements that their attributes hide are part of the outline."""
        self.found = found
        self.lines = found.lines
        self.pieces, self.ends, self.boxes = self.lines.pieces, self.lines.ends, self.lines.boxes
        self.box = 0
        """Number of the innermost box; OUTSIDE in an element that is not in the outline."""
        self.ruby = 0
        """The number of the first piece of text whose reading comes next."""
        self.in_link = False
        """Whether an open anchor leads to another page."""
        self.buttons: dict[int, int] = {}
        """The box around each button, by lexbor's address of that."""
        self._root: int = root.mem_id
        self._reveal = reveal

    def enter(
        self, kind: Node, node: LexborNode, box: int, in_link: bool, opened: list[Any]
    ) -> bool:
        """Enter an element in a walk in C. Returns whether the walk should visit its children.

        `box` and `in_link` are the cursor's own, which are only kept there. `opened` are boxes that
        it has opened meanwhile: tag, parent, first line and marks of each.
        """
        self._add_boxes(opened)
        self.box, self.in_link = box, in_link
        return kind.enter(self, node) is not None

    def leave(self, kind: Node, node: LexborNode, around: int, box: int, opened: list[Any]) -> None:
        """Leave such an element."""
        self._add_boxes(opened)
        self.box = box
        kind.leave(self, node, around)

    def finish(self, box: int, opened: list[Any], closed: list[int]) -> None:
        """End a walk in C. `closed` are boxes and the lines at which they end, in turn."""
        self._add_boxes(opened)
        self.box = box
        for place in range(0, len(closed), 2):
            self.boxes[closed[place]].end = closed[place + 1]

    def _add_boxes(self, opened: list[Any]) -> None:
        if opened:
            for at in range(0, len(opened), 4):
                tag, parent, start = opened[at], opened[at + 1], opened[at + 2]
                self.boxes.append(Box(tag, parent, start, 0, opened[at + 3]))
            opened.clear()

    def end_anchor(self) -> None:
        end_anchor(self.found)

    def add_text(self, text: str | None) -> None:
        """Add the text of a text node."""
        if text and text != PERMALINK:
            self.pieces.append(text)
            if self.in_link and self.box >= 0 and not text.isspace():
                self.lines.linked.append((len(self.ends), len(text.strip())))

    def end_line(self, end: int) -> None:
        """End a line of the visible text. `end` says what that means to the outline."""
        self.pieces.append(BREAK)
        self.ends.append(end)

    def open_box(self, tag: str, marks: int) -> None:
        """Begin a box within the present one."""
        boxes = self.boxes
        if len(boxes) < MAX_BOXES:
            boxes.append(Box(tag, self.box, len(self.ends), 0, marks))
            self.box = len(boxes) - 1

    def close_box(self, around: int) -> None:
        """End the innermost box, unless it is the one around the present element."""
        if self.box != around and self.box >= 0:
            self.boxes[self.box].end = len(self.ends)

    def hide(self, node: LexborNode, marks: int) -> bool:
        """Leave an element out of the outline, and return True, unless it is the root.

        `marks` say why: HIDDEN or UNQUOTED.
        """
        if marks == UNQUOTED:
            self.lines.has_unquoted = True
        if self._reveal or node.mem_id == self._root:
            return False
        self.lines.hides = True
        self.box = OUTSIDE
        return True

    def is_unquoted(self, node: LexborNode) -> bool:
        """Whether an element around a node asks not to be quoted (`data-nosnippet`)."""
        return self.lines.has_unquoted and any(
            "data-nosnippet" in around.attrs for around in self._around(node, MAX_CLIMB)
        )

    def box_of_button(self, node: LexborNode) -> int:
        """Return the box around the button that contains an element, or OUTSIDE."""
        if self.buttons:
            for around in self._around(node, MAX_BUTTON_DEPTH):
                if around.mem_id in self.buttons:
                    return self.buttons[around.mem_id]
        return OUTSIDE

    def _around(self, node: LexborNode, most: int) -> Iterator[LexborNode]:
        """Yield the elements around a node, at most so many, up to the root of the walk."""
        for _ in range(most):
            around = None if node.mem_id == self._root else node.parent
            if around is None:
                return
            yield around
            node = around


class Node:
    """Visits the children only: comments, and the elements that mean nothing to the walk."""

    def enter(self, cursor: Cursor, node: LexborNode) -> LexborNode | None:  # noqa: ARG002
        return node.first_child

    def leave(self, cursor: Cursor, node: LexborNode, around: int) -> None:
        pass

    def plain_marks(self, classes: str) -> int | None:  # noqa: ARG002
        """Return the marks of an element that has no attributes, or only these classes.

        None if they make it an element that the walk in C does not know.
        """
        return None
