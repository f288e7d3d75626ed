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
are reconstructed (`guarded_parser.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import selectolax
from selectolax.lexbor import LexborHTMLParser

from gossamer.native import TEXT_DEFINITIONS, native_text
from gossamer.parse.html.cursor import Cursor
from gossamer.parse.html.elements import CUSTOM, KINDS, PLAIN, TEXT
from gossamer.parse.html.findings import Findings
from gossamer.parse.html.shown_dates import keep_own_dates
from gossamer.parse.parsed_page import Rules

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from gossamer.parse.html.cursor import Node
    from gossamer.parse.html.elements import Plain
    from gossamer.parse.maintext.blocks import Outline

_DEFAULTS: Final = Rules()


def findings(tree: LexborHTMLParser, rules: Rules, *, reveal: bool = False) -> Findings:
    """Collect the text, headings, references and metadata of a page.

    With `reveal`, elements that their attributes hide are part of the outline.
    """
    found = Findings(rules)
    if tree.root is not None:
        walk(tree.root, found, reveal=reveal)
        if not reveal:
            keep_own_dates(found)
    return found


def outline_of(element: LexborNode) -> Outline:
    """Return the outline of an element, which is shown whatever its attributes."""
    found = Findings(_DEFAULTS)
    walk(element, found)
    return found.lines.outline()


def walk(root: LexborNode, found: Findings, *, reveal: bool = False) -> None:
    """Visit every node in document order, elements at their start and at their end."""
    cursor = Cursor(found, root, reveal=reveal)
    if READS_TREE:
        visit_nodes(root, cursor, KINDS, PLAIN)
    else:
        TEXT_DEFINITIONS["visit_nodes"](root, cursor, KINDS, PLAIN)
    cursor.ends.append(cursor.box)
    cursor.boxes[0].end = len(cursor.ends)


@native_text
def visit_nodes(
    root: LexborNode,
    cursor: Cursor,
    kinds: list[Node],
    plain: list[Plain],  # noqa: ARG001  # for the one in C
) -> None:
    ancestors: list[tuple[LexborNode, Node, int, bool]] = []
    node = root
    tag = root.tag_id
    while True:
        if tag == TEXT:
            cursor.add_text(node.text_content)
            following = node.next
        else:
            kind = kinds[tag] if tag < CUSTOM else kinds[CUSTOM]
            box, in_link = cursor.box, cursor.in_link
            child = kind.enter(cursor, node)
            if child is None:
                following = node.next
            elif (tag := child.tag_id) != TEXT:
                ancestors.append((node, kind, box, in_link))
                node = child
                continue
            else:
                cursor.add_text(child.text_content)
                following = child.next
                if following is None:  # as of most elements
                    kind.leave(cursor, node, box)
                    cursor.box, cursor.in_link = box, in_link
                    following = node.next
                else:
                    ancestors.append((node, kind, box, in_link))
        while following is None and ancestors:
            node, kind, box, in_link = ancestors.pop()
            kind.leave(cursor, node, box)
            cursor.box, cursor.in_link = box, in_link
            following = node.next
        if following is None or not ancestors:  # only comments follow the root
            break
        node = following
        tag = node.tag_id


@native_text
def can_read_tree(
    link: LexborNode,  # noqa: ARG001
    parser: LexborHTMLParser,  # noqa: ARG001
    at: int,  # noqa: ARG001
    parent: int,  # noqa: ARG001
    following: int,  # noqa: ARG001
    text: int,  # noqa: ARG001
) -> bool:
    """Whether the function in C can read lexbor's tree: a known one is as it expects it to be.

    `link` is `<a href=h rel=r class=c id=i>text</a>`, and the numbers are the addresses of the node
    and of those around it.
    """
    return False


def _reads_tree() -> bool:
    if selectolax.__version__ not in READ_VERSIONS:
        return False
    tree = LexborHTMLParser("<p><a href=h rel=r class=c id=i>text</a><b>")
    link = tree.css("a")[0]
    nodes = (link, link.parent, link.next, link.first_child)
    return can_read_tree(link, tree, *[node.mem_id for node in nodes if node is not None])


READ_VERSIONS: Final = frozenset(("1.0.2",))
"""Versions of selectolax whose structures `native/texts/tree.h` declares."""
READS_TREE: Final = _reads_tree()
"""Whether the walk is in C."""
