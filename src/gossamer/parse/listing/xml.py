"""XML as it is met in feeds and sitemaps: every element, whatever is broken around it.

Facts: many feeds are not well-formed. They have a bare `&`, HTML's entities without a DTD, white
space before the declaration, HTML that nobody escaped, an end that was cut off. expat stops at the
first of these. libxml2's recovery drops what it cannot read, takes an end tag for the end of
whatever is open, so that all that follows sinks into the broken item, and stops at an end tag too
many. An HTML parser makes `<link>` empty and CDATA a comment. And all XML parsers know entities,
which hostile files use to read local ones, or to grow a kilobyte to gigabytes.

Decision: a tokenizer of our own. It has no entities but characters: a document type is skipped,
so there is nothing to expand and nothing to load. An end tag closes the innermost element of its
name, and what is open in it; one that closes nothing is ignored. What is no markup is text. Where
a document is well-formed the elements are those that expat sees. Time is linear: each alternative
of the one regular expression is possessive or runs to the end of the text.

Records of nothing but leaves, of which most sitemaps and many feeds consist, are split at once, in
two thirds of the time. Cost: `bench/feeds.py`. On sitemaps two to four times that of expat alone;
the largest that there may be (50,000 URLs in six languages, 47 MB) takes 2 to 2.5 s, and 260 MB of
memory.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gossamer.parse.listing.xml_node import Node, Scope, characters, opened, regular_attributes

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_RECORDS = 100_000
"""Of a document. What follows them is not read."""
MAX_DEPTH = 64
"""Of open elements. What is deeper is text of what is not."""
MAX_NODES = 100_000
"""Of a record, and between two. More are not kept."""
MAX_FLAT_CHARS = 32_768
"""Of a record that is read at once."""
MAX_NOT_FLAT = 16
"""Records in a row. After them none is taken for flat: those of a document are all of a kind."""

_TOKEN = re.compile(
    r"""<(?:
      (?P<name>/?[a-z_:\x80-\U0010ffff][^\s<>/="']*+)
        (?P<attributes>(?:[^<>"']++|"[^"<]*+"|'[^'<]*+')*+|[^<>]*+)>
        (?:(?P<leaf>[^<]*+)</(?P=name)\s*+>)?+
    | !\[CDATA\[(?P<cdata>.*?)(?:\]\]>|\Z)
    | !--.*?(?:-->|\Z)
    | ![a-z][^<>[]*+(?:>|\[.*?(?:\]\s*+>|\Z))
    | \?[^>]*+>
    )""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
_LEAF = re.compile(
    r"""<([a-zA-Z_:\x80-\U0010ffff][^\s<>/="']*+)
        ((?:[^<>"']*+"[^"<>]*+")*+[^<>"']*+)>
        (?:([^<]*+)</\1>|(?<=/>))""",
    re.VERBOSE,
)
"""An element with nothing but text, or nothing at all, as programs write it: where `_TOKEN` would
find the same."""
_CONTROL = re.compile(r"[\0-\x1f\x7f\ud800-\udfff]")


class _Tree:
    """Invariants: the stack begins with the document; it holds a record at `record`, if not 0."""

    def __init__(self, records: frozenset[str]) -> None:
        self._records = records
        self.document = opened("", "", Scope({}, ""))
        self._stack = [self.document]
        self._tags = [""]
        self._record = 0
        self._kept = 0
        self._not_flat = 0
        self._looked_at = 0
        self.ended: list[Node] = []
        """Records that are still to be handed over."""

    def add(self, text: str) -> None:
        """White space counts between the elements of a text, not between those of a record."""
        if len(self._stack) - 1 > self._record or not text.isspace():
            self.add_verbatim(characters(text))

    def add_verbatim(self, text: str) -> None:
        if self._kept < MAX_NODES:
            self._stack[-1].children.append(text)
            self._kept += 1

    def leaf(self, tag: str, raw: str, text: str) -> None:
        """An element with nothing but text."""
        above = self._stack[-1]
        if self._kept >= MAX_NODES and above.scope.names[tag] not in self._records:
            return
        node = opened(tag, raw, above.scope)
        if node.name in self._records:
            self.open(tag, raw)
            self.add(text)
            self.close(tag)
        else:
            node.children.append(characters(text))
            above.children.append(node)
            self._kept += 1

    def flat(self, tag: str, raw: str, text: str, start: int) -> int | None:
        """Take an element whose tag ends at `start`, if it is a record of nothing but leaves.

        Returns where it ends; None where it is still to be read.
        """
        above = self._stack[-1]
        if self._not_flat >= MAX_NOT_FLAT or start < self._looked_at:  # nothing is split twice
            return None
        if above.scope.names[tag] not in self._records:
            return None
        closing = f"</{tag}>"
        stop = text.find(closing, start, start + MAX_FLAT_CHARS)
        node = opened(tag, raw, above.scope)
        if stop < 0 or not _fill(node, text[start:stop], self._records):
            self._not_flat += 1
            self._looked_at = stop
            return None
        self._not_flat = 0
        if self._record:
            self._cut(self._record)
        self._kept = 0
        self.ended.append(node)
        return stop + len(closing)

    def open(self, tag: str, raw: str) -> None:
        above = self._stack[-1]
        full = self._kept >= MAX_NODES or len(self._stack) > MAX_DEPTH
        if full and above.scope.names[tag] not in self._records:
            return
        node = opened(tag, raw, above.scope)
        if node.name in self._records:
            if self._record:
                self._cut(self._record)
            self._record = len(self._stack)
            self._kept = 0
        else:
            above.children.append(node)
            self._kept += 1
        self._stack.append(node)
        self._tags.append(tag)
        if raw.endswith("/"):
            self._cut(len(self._stack) - 1)

    def close(self, tag: str) -> None:
        for depth in range(len(self._stack) - 1, 0, -1):
            if self._tags[depth] == tag:
                self._cut(depth)
                break

    def end(self) -> None:
        self._cut(1)

    def _cut(self, depth: int) -> None:
        if depth <= self._record < len(self._stack):
            self.ended.append(self._stack[self._record])
            self._record = self._kept = 0
        del self._stack[depth:], self._tags[depth:]


def _fill(node: Node, text: str, records: frozenset[str]) -> bool:
    """Whether all within is white space and leaves that are no records; then they are added."""
    pieces = _LEAF.split(text)
    attributes = regular_attributes(pieces[2::4])
    if attributes is None or "".join(pieces[::4]).strip():
        return False
    scope = node.scope
    names = list(map(scope.names.__getitem__, pieces[1::4]))
    if not records.isdisjoint(names):
        return False
    node.children = [
        Node(name, said, scope, [] if leaf is None else [characters(leaf)])
        for name, said, leaf in zip(names, attributes, pieces[3::4], strict=True)
    ]
    return True


def read(text: str, records: frozenset[str]) -> Iterator[Node]:
    """Each element of these names as it ends, detached from the rest; then the document.

    A record within a record ends the outer one. Of a document that was cut off there is all but
    the text behind the last tag: half a URL is another URL.
    """
    tree = _Tree(records)
    end = count = 0
    while token := _TOKEN.search(text, end):
        start, after = token.span()
        if start > end:
            tree.add(text[end:start])
        end = after
        kind = token.lastgroup
        if kind is None:
            continue
        name, attributes, leaf, cdata = token.groups()
        if leaf is not None:
            tree.leaf(name.lower(), attributes, leaf)
        elif name is None:
            tree.add_verbatim(cdata)
        elif name[0] == "/":
            tree.close(name[1:].lower())
        elif flat := tree.flat(name, attributes, text, after):
            end = flat
        else:
            tree.open(name.lower(), attributes)
        if tree.ended:
            yield from tree.ended
            count += len(tree.ended)
            tree.ended.clear()
            if count >= MAX_RECORDS:
                break
    tree.end()
    yield from tree.ended
    yield tree.document


def fold(text: str, limit: int) -> str:
    """White space folded, control characters left out, cut at a number of characters."""
    text = " ".join(text[: 2 * limit].split())
    return (text if text.isprintable() else _CONTROL.sub("", text))[:limit]
