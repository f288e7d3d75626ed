"""A page as blocks of text in boxes: what is decided upon.

Facts (selectolax 1.0, 123 pages of 206 KB and 2,100 nodes): a walk over all nodes costs 0.45 ms,
reading the attributes of all of them 0.25 ms more. One CSS query costs 0.1 ms, one of twelve
`[class*=…]` 0.5 ms. So the attributes are read while walking, and classes judged by word.

A *block* is text between two boundaries of block elements, or between two `br`. A *box* is a block
element (or a span whose class says that it is no part of the sentence). Both are numbered in
document order; the blocks of a box are a range, so sums over boxes are differences of prefix sums.

Bounds: linear in the page, and no recursion.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.maintext.names import BESIDE, DIALOG, MAX_NAME_CHARS, NAMED_CHROME, judge
from gossamer.parse.page import PERMALINK

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

CHROME = 16
"""By element or ARIA role no part of an article: nav, footer, a complementary region."""
BODY = 32
"""schema.org's articleBody."""
ARTICLE = 64
"""By element or role an article, or what is main."""

HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
CELLS = frozenset(("dd", "dt", "li", "td", "th"))
"""Of lists and tables. A paragraph that is in one is taken as one."""

MAX_BOXES = 200_000
"""Where the walk ends: honest pages have 300, and large ones 20,000."""

HIDDEN = -1
"""Not shown, and nothing else is said of it."""


class Block:
    """`chars` counts what is written, twice where a character is a syllable (CJK).

    `links` counts those that begin in it.
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
    """Blocks `start` to `end`, which its parent has among its own."""

    __slots__ = ("end", "marks", "parent", "start", "tag")

    def __init__(self, tag: str, parent: int, start: int, marks: int) -> None:
        self.tag = tag
        self.parent = parent
        self.start = start
        self.end = start
        self.marks = marks


class Outline:
    """The blocks and boxes of a tree. Box 0 is the whole page.

    `reveal`: with what the attributes of elements hide.
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
        while box:  # where the walk was cut short
            self.boxes[box].end = len(self.blocks)
            box = self.boxes[box].parent
        self.boxes[0].end = len(self.blocks)

    def _walk(self, root: LexborNode, reveal: bool) -> int:  # noqa: C901, PLR0912, PLR0915  # one hot loop
        """Visit every node in document order; the box that is open at the end."""
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
                kind == "span" and boxes[box].tag == "pre"  # the colours of code
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
                opened = _NOTHING  # its class is that of a highlighter: "comment", "meta", "tag"
            else:
                attributes = node.attributes
                if tag >= _FIRST_CUSTOM:
                    attributes["class"] = f"{node.tag} {attributes.get('class') or ''}"
                marks = _marks(kind, attributes) if attributes else _MARKS.get(kind, 0)
                opened = _NOTHING
                if marks == HIDDEN and ancestors and not reveal:  # the root is what is asked for
                    child = None
                    if pieces and kind in _BOXES:
                        self._flush(box)
                elif kind in _BOXES or marks & NAMED_CHROME:
                    if pieces:
                        self._flush(box)
                    opened = box
                    box = len(boxes)
                    if box > MAX_BOXES:
                        return opened  # enough is enough
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
                return box  # what follows the root are comments
            node = following

    def _flush(self, box: int) -> None:
        """End a block; at two breaks in a row, too."""
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
    """What the attributes of an element tell."""
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
        marks |= named
    return marks


_TELLING = frozenset(("aria-hidden", "hidden", "itemprop", "role", "style"))
"""Of the attributes, beside names; most elements have none of them."""
_INVISIBLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_SLUGGED = HEADINGS | {"dd", "dt", "li", "p", "section"}
"""What is a link target by its own words."""
_HIGHLIGHTED = "comment"
"""Of code, where it is not in a `pre`: each line is a box."""
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
"""Of elements, whatever their attributes."""

_INLINE, _GAP, _BREAK = "", " ", "\0"
"""Kinds of elements that are no boxes: their place is nothing, a space, or the end of a line.

No text node holds a NUL (§13.2.5 of HTML).
"""
_VOIDS = frozenset((_GAP, _BREAK))
_BREAKS_2 = re.compile(r"\0(?:\s*\0)+")
_NOTHING, _LINK = -1, -2
"""What is opened by an element that is no box."""
_WIDE_BYTES = 2.2
"""UTF-8 bytes a character from which on the script is taken as one of syllables."""

_BOX_NAMES = """
    a address article aside blockquote body caption center dd details dialog dir div dl dt fieldset
    figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup html legend li main menu nav ol p
    pre search section span summary table tbody td tfoot th thead tr ul
"""
"""a is none, but looked at; span is one where it is named as chrome."""
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
"""Elements that HTML does not know have the address of their name as id."""
