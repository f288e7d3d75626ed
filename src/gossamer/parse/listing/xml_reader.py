"""A lenient XML reader for feeds and sitemaps: it finds every element, whatever is broken.

Facts: many feeds are not well-formed. They have a bare `&`, HTML's entities without a DTD, white
space before the declaration, unescaped HTML, or a truncated end. expat stops at the first of these.
libxml2's recovery drops what it cannot read, takes an end tag for the end of whatever is open, so
that everything that follows sinks into the broken item, and stops at a superfluous end tag. An HTML
parser makes `<link>` empty and CDATA a comment. And all XML parsers expand entities, which hostile
files use to read local files, or to turn a kilobyte into gigabytes.

Decision: a tokenizer of our own. It resolves character references, and entities that the document
declares within bounds (`xml_entities.py`); nothing is loaded. A prefix of the root element that is
bound to no namespace we know stands for none. An end tag closes the innermost element of its
name, and everything open inside it; one that closes nothing is ignored. Everything that is not
markup is text. For well-formed documents the elements are those that expat reports. Time is linear:
each alternative of the one regular expression is possessive or runs to the end of the text.

Records with only leaf elements, which most sitemaps and many feeds consist of, are split in one
step, in two thirds of the time. Cost: sitemaps take two to four times as long as
with expat alone; the largest one allowed (50,000 URLs in six languages, 47 MB) takes 2 to 2.5 s,
and 260 MB of memory.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gossamer.parse.listing.xml_node import Node, Scope, characters, opened, regular_attributes
from gossamer.parse.reading.xml_entities import PROLOG_CHARS, expand_entities

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_RECORDS = 100_000
"""Records read per document."""
MAX_DEPTH = 64
"""Depth of open elements. The text of deeper ones is added to the deepest allowed element."""
MAX_NODES = 100_000
"""Nodes kept of one record, and between two records."""
MAX_FLAT_CHARS = 32_768
"""Size of a record with only leaf elements that is read in one step."""
MAX_NOT_FLAT = 16
"""After this many records in a row that cannot be read in one step, we stop trying: the records of
a document are all alike."""

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
"""A leaf element (text or nothing inside) as programs write it. `_TOKEN` would find the same."""
_ROOT_PREFIX = re.compile(
    r"(?:[\ufeff\s]++|<!--.*?-->|<\?.*?\?>|<!(?!--)[^<>]*+>)*+"
    r"<([^\s<>/:!?]{1,40}+):(?:urlset|sitemapindex|rss|feed)(?=[\s/>])",
    re.DOTALL | re.IGNORECASE,
)
_CONTROL = re.compile(r"[\0-\x1f\x7f\ud800-\udfff]")


class _Tree:
    """The open elements, and the finished records.

    Invariants: the stack begins with the document; if `_record` is not 0, it is the place in the
    stack of the record that is open.
    """

    def __init__(self, records: frozenset[str], prefixes: Mapping[str, str]) -> None:
        """`prefixes`: those that stand for none, whatever namespace they are bound to."""
        self._records = records
        self.document = opened("", "", Scope(prefixes, ""))
        self._stack = [self.document]
        self._tags = [""]
        self._record = 0
        self._kept = 0
        self._not_flat = 0
        self._looked_at = 0
        self.ended: list[Node] = []
        """Finished records that are not yielded yet."""

    def add(self, text: str) -> None:
        """Add text. White space directly inside a record is ignored."""
        if len(self._stack) - 1 > self._record or not text.isspace():
            self.add_verbatim(characters(text))

    def add_verbatim(self, text: str) -> None:
        if self._kept < MAX_NODES:
            self._stack[-1].children.append(text)
            self._kept += 1

    def leaf(self, tag: str, raw: str, text: str) -> None:
        """Add an element that contains only text."""
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
        """Read an element whose tag ends at `start` in one step, if it is a record of leaves.

        Return where it ends, or None if it has to be read element by element.
        """
        above = self._stack[-1]
        if self._not_flat >= MAX_NOT_FLAT or start < self._looked_at:  # no text is split twice
            return None
        if above.scope.names[tag] not in self._records:
            return None
        closing = f"</{tag}>"
        stop = text.find(closing, start, start + MAX_FLAT_CHARS)
        node = opened(tag, raw, above.scope)
        if stop < 0 or not _fill_xml_node(node, text[start:stop], self._records):
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


def _fill_xml_node(node: Node, text: str, records: frozenset[str]) -> bool:
    """Add the leaves in `text` to `node`. False, without changes, if there is anything else."""
    pieces = _LEAF.split(text)
    attributes = regular_attributes(pieces[2::4])
    if attributes is None or "".join(pieces[::4]).strip():
        return False
    scope = node.scope
    names = list(map(scope.names.__getitem__, pieces[1::4]))
    if not records.isdisjoint(names):
        return False
    node.children = [
        Node(name, own, scope, [] if leaf is None else [characters(leaf)])
        for name, own, leaf in zip(names, attributes, pieces[3::4], strict=True)
    ]
    return True


def read_xml_elements(text: str, records: frozenset[str]) -> Iterator[Node]:
    """Yield each element with one of these names when it ends, detached; then the document.

    A record inside a record ends the outer one. Of a truncated document, everything is read except
    the text after the last tag, since half a URL is another URL.
    """
    text = expand_entities(text)
    root = _ROOT_PREFIX.match(text, 0, PROLOG_CHARS)
    tree = _Tree(records, {root[1].lower(): ""} if root else {})
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


def fold_xml_text(text: str, limit: int) -> str:
    """Return up to `limit` characters with white space folded and control characters removed."""
    text = " ".join(text[: 2 * limit].split())
    return (text if text.isprintable() else _CONTROL.sub("", text))[:limit]
