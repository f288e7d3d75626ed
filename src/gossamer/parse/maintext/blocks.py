"""A page as blocks of text in boxes, from which the main text is selected.

Facts (selectolax 1.0, 123 pages of 206 KB and 2,100 nodes): a walk over all nodes costs 0.45 ms,
reading the attributes of all of them 0.25 ms more. One CSS query costs 0.1 ms, one of twelve
`[class*=…]` 0.5 ms. So attributes are read during the walk, and classes are judged word by word.

A *block* is the text between two boundaries of block elements, or between two pairs of `br`. A
*box* is a block element, or a span whose class marks it as boilerplate. Both are numbered in
document order. The blocks of a box are a range, so sums over boxes are differences of prefix sums.

Bounds: time is linear in the page, and nothing recurses.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.maintext.names import (
    BESIDE,
    DIALOG,
    MAX_NAME_CHARS,
    NAMED_BODY,
    NAMED_CHROME,
    judge,
)
from gossamer.parse.page import PERMALINK

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

CHROME = 16
"""Mark of boxes whose element or ARIA role is boilerplate: nav, footer, a complementary region."""
BODY = 32
"""Mark of boxes that are schema.org's articleBody."""
ARTICLE = 64
"""Mark of boxes whose element or role is an article, or main."""

HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
CELLS = frozenset(("dd", "dt", "li", "td", "th"))
"""Items of lists and cells of tables. A paragraph directly inside one gets its tag."""

MAX_BOXES = 200_000
"""Number of boxes at which the walk stops: honest pages have 300, and large ones 20,000."""

HIDDEN = -1
"""In place of marks: the element is not shown."""


class Block:
    """The text between two block boundaries.

    `chars` is its length; characters count twice in scripts of syllables (CJK). `link_chars` is the
    part inside links, and `links` the number of links that begin in it.
    """

    __slots__ = ("box", "chars", "link_chars", "links", "tag", "text")

    def __init__(self, text: str, link_chars: int, links: int, box: int, tag: str) -> None:
        chars = len(text)
        if not text.isascii() and len(text.encode(errors="replace")) > _WIDE_BYTES * chars:
            chars *= 2
            link_chars *= 2
        self.text = text
        self.chars = chars
        self.link_chars = min(link_chars, chars)
        self.links = links
        self.box = box
        self.tag = tag


class Box:
    """A block element with blocks `start` to `end`, which are also among those of its parent."""

    __slots__ = ("end", "marks", "parent", "start", "tag")

    def __init__(self, tag: str, parent: int, start: int, marks: int) -> None:
        self.tag = tag
        self.parent = parent
        self.start = start
        self.end = start
        self.marks = marks


class Outline:
    """The blocks and boxes of a tree. Box 0 is the whole page.

    With `reveal`, elements that their attributes hide are included.
    """

    __slots__ = ("_link_chars", "_links", "_pieces", "blocks", "boxes")

    def __init__(self, root: LexborNode, *, reveal: bool = False) -> None:
        self.blocks: list[Block] = []
        self.boxes: list[Box] = [Box("html", 0, 0, 0)]
        self._pieces: list[str] = []
        self._link_chars = self._links = 0
        box = self._walk(root, reveal)
        if self._pieces:
            self._flush(box)
        while box:  # the walk was cut short
            self.boxes[box].end = len(self.blocks)
            box = self.boxes[box].parent
        self.boxes[0].end = len(self.blocks)

    def _walk(self, root: LexborNode, reveal: bool) -> int:  # noqa: C901, PLR0912, PLR0915  # hot
        """Visit every node in document order; return the box that is open at the end."""
        blocks, boxes, pieces, kinds = self.blocks, self.boxes, self._pieces, _KINDS
        ancestors: list[tuple[LexborNode, int]] = []
        add = pieces.append
        box = links = 0
        node = root
        while True:
            tag = node.tag_id
            child = None
            if tag == _TEXT:
                text = node.text_content
                if text and text != PERMALINK and not text.isspace():
                    add(text)
                    if links:
                        self._link_chars += len(text.strip())
                elif pieces:
                    add(" ")
            elif not (kind := kinds.get(tag, _INLINE) if tag < _FIRST_CUSTOM else "span") or (
                kind == "span" and boxes[box].tag == "pre"  # syntax highlighting
            ):
                child = node.first_child
                opened = _NOTHING
            elif kind in _VOIDS:
                if pieces:
                    add(kind)
            elif (child := node.first_child) is None:
                if pieces and kind in _BOXES:
                    self._flush(box)
            elif kind == "a":
                href = node.attributes.get("href")
                opened = _NOTHING
                if href and href[0] != "#":
                    opened = _LINK
                    links += 1
                    self._links += 1
            elif kind == "span" and boxes[box].tag == "pre":
                opened = _NOTHING  # a syntax highlighter's classes: "comment", "meta", "tag"
            else:
                attributes = node.attributes
                if tag >= _FIRST_CUSTOM:
                    attributes["class"] = f"{node.tag} {attributes.get('class') or ''}"
                marks = _marks(kind, attributes) if attributes else _MARKS.get(kind, 0)
                opened = _NOTHING
                if marks == HIDDEN and ancestors and not reveal:  # the root is always shown
                    child = None
                    if pieces and kind in _BOXES:
                        self._flush(box)
                elif kind in _BOXES or marks & NAMED_CHROME:
                    if pieces:
                        self._flush(box)
                    opened = box
                    box = len(boxes)
                    if box > MAX_BOXES:
                        return opened
                    boxes.append(Box(kind, opened, len(blocks), max(marks, 0)))
            if child is not None:
                ancestors.append((node, opened))
                node = child
                continue
            while (following := node.next) is None:
                if not ancestors:
                    return box
                node, opened = ancestors.pop()
                if opened == _LINK:
                    links -= 1
                elif opened != _NOTHING:
                    if pieces:
                        self._flush(box)
                    boxes[box].end = len(blocks)
                    box = opened
            if not ancestors:
                return box  # only comments follow the root
            node = following

    def _flush(self, box: int) -> None:
        """End a block; several `br` in a row split it into several blocks."""
        raw, link_chars, links = "".join(self._pieces), self._link_chars, self._links
        self._pieces.clear()
        self._link_chars = self._links = 0
        tag = self.boxes[box].tag
        if tag == "p" and (parent := self.boxes[self.boxes[box].parent].tag) in CELLS:
            tag = parent
        if _BREAK not in raw:
            self.blocks.append(Block(" ".join(raw.split()), link_chars, links, box, tag))
            return
        parts = [" ".join(part.replace(_BREAK, " ").split()) for part in _BREAKS_2.split(raw)]
        total = sum(map(len, parts))
        for part in parts:
            if part:
                share = len(part) / total
                linked = int(link_chars * share)
                self.blocks.append(Block(part, linked, round(links * share), box, tag))


def _marks(kind: str, attributes: dict[str, str | None]) -> int:
    """Return the marks of an element by its name and attributes, or HIDDEN."""
    marks = _MARKS.get(kind, 0)
    if not _TELLING.isdisjoint(attributes):
        style = attributes.get("style")
        if (style and _INVISIBLE.search(style)) or "hidden" in attributes:
            return HIDDEN
        marks |= _ROLES.get(attributes.get("role") or "", 0)
        if attributes.get("aria-hidden") == "true":
            marks |= CHROME
        if attributes.get("itemprop") == "articleBody":
            marks |= BODY
    classes = attributes.get("class") or ""
    identity = "" if kind in _SLUGGED else attributes.get("id") or ""
    if len(classes) + len(identity) > MAX_NAME_CHARS:
        classes, identity = classes[:MAX_NAME_CHARS], identity[:MAX_NAME_CHARS]
    if kind == "span" and classes == _HIGHLIGHTED:
        classes = ""
    if classes or identity:
        named = judge(classes, identity)
        if marks & BESIDE and named & NAMED_CHROME and not named & BESIDE:
            marks &= ~BESIDE
        if kind == "blockquote":  # named for the network from which it is embedded
            named &= NAMED_BODY
        marks |= named
    return marks


_TELLING = frozenset(("aria-hidden", "hidden", "itemprop", "role", "style"))
"""Attributes other than class and id that set marks; most elements have none of them."""
_INVISIBLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_SLUGGED = HEADINGS | {"dd", "dt", "li", "p", "section"}
"""Elements whose id is a link target made of their own words."""
_HIGHLIGHTED = "comment"
"""A syntax highlighter's class for a comment, in code outside `pre`, where each line is a box."""
_ROLES = {
    "alert": CHROME,
    "alertdialog": CHROME | DIALOG,
    "article": ARTICLE,
    "banner": CHROME,
    "complementary": CHROME | BESIDE,
    "contentinfo": CHROME,
    "dialog": CHROME | DIALOG,
    "form": CHROME,
    "main": ARTICLE,
    "menu": CHROME,
    "menubar": CHROME,
    "navigation": CHROME,
    "search": CHROME,
    "tablist": CHROME,
    "toolbar": CHROME,
}
_MARKS = {
    "article": ARTICLE,
    "aside": CHROME | BESIDE,
    "dialog": CHROME | DIALOG,
    "fieldset": CHROME,
    "footer": CHROME,
    "form": CHROME,
    "main": ARTICLE,
    "menu": CHROME,
    "nav": CHROME,
    "search": CHROME,
}
"""Marks of elements by name, whatever their attributes."""

_INLINE, _GAP, _BREAK = "", " ", "\0"
"""Kinds of elements that are not boxes: in the text they become nothing, a space, or a line break.

No text node contains a NUL (§13.2.5 of HTML).
"""
_VOIDS = frozenset((_GAP, _BREAK))
_BREAKS_2 = re.compile(r"\0(?:\s*\0)+")
_NOTHING, _LINK = -1, -2
"""In place of a box's number, for elements that are not boxes."""
_WIDE_BYTES = 2.2
"""UTF-8 bytes per character above which a text counts as written in syllables (CJK)."""

_BOX_NAMES = """
    a address article aside blockquote body caption center dd details dialog dir div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup html legend li main menu nav ol p
    pre search section span summary table tbody td tfoot th thead tr ul
"""
"""`a` is not a box, but is counted; `span` is one only if its class marks it as boilerplate."""
_HIDDEN = """
    audio button canvas datalist head iframe input math noembed noframes noscript object option
    script select style svg template textarea title video
"""


def _kinds() -> dict[int, str]:
    kinds = {name: name for name in _BOX_NAMES.split()}
    kinds |= dict.fromkeys(_HIDDEN.split(), _GAP) | dict.fromkeys(("br", "hr"), _BREAK)
    any_tree = LexborHTMLParser("<p>")
    return {any_tree.create_node(name).tag_id: kind for name, kind in kinds.items()}


_KINDS = _kinds()
_BOXES = frozenset(_BOX_NAMES.split()) - {"a", "span"}
_TEXT = 2
"""lexbor's LXB_TAG__TEXT."""
_FIRST_CUSTOM = 1 << 16
"""Smallest tag id of an element that HTML does not define: the address of its name."""
