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

Cost: `bench/feeds.py`. On sitemaps five times that of expat or libxml2, 0.11 to 0.15 s of CPU a MB;
the largest that there may be (50,000 URLs, 42 MB) takes 4.7 s, and 260 MB of memory.
"""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING
from urllib.parse import urljoin

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MAX_RECORDS = 100_000
"""Of a document. What follows them is not read."""
MAX_DEPTH = 64
"""Of open elements. What is deeper is text of what is not."""
MAX_NODES = 100_000
"""Of a record, and between two. More are not kept."""
MAX_PREFIXES = 64
MAX_URL_CHARS = 4_096
"""Longer ones are not joined with xml:base."""

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
_ATTRIBUTE = re.compile(
    r"""([^\s=/"'<>]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))""",
)
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});", re.IGNORECASE)
"""With its semicolon, unlike in HTML: a URL with a bare `&copy=` is common in feeds."""
_COMMON = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"))
_NAMED = {"&amp;": "&", "&nbsp;": "\xa0", "&#39;": "'", "&#039;": "'"}
"""The most frequent of the others."""
_CONTROL = re.compile(r"[\0-\x1f\x7f\ud800-\udfff]")

_PREFIXES: Mapping[str, str] = {
    "backend.userland.com/rss2": "",
    "my.netscape.com/rdf/simple/0.9": "",
    "purl.org/rss/1.0": "",
    "www.google.com/schemas/sitemap/0.84": "",
    "www.sitemaps.org/schemas/sitemap/0.9": "",
    "www.w3.org/2005/atom": "atom",
    "purl.org/atom/ns": "atom",
    "purl.org/dc/elements/1.1": "dc",
    "purl.org/dc/terms": "dcterms",
    "purl.org/rss/1.0/modules/content": "content",
    "search.yahoo.com/mrss": "media",
    "www.itunes.com/dtds/podcast-1.0.dtd": "itunes",
    "www.google.com/schemas/sitemap-image/1.1": "image",
    "www.google.com/schemas/sitemap-video/1.1": "video",
    "www.google.com/schemas/sitemap-news/0.9": "news",
    "www.w3.org/1999/xhtml": "xhtml",
    "www.w3.org/1999/02/22-rdf-syntax-ns": "rdf",
}
"""Namespaces (without scheme, case, and what ends them) and the prefixes that they have here,
whatever the document binds. A default namespace that is not here is none; a prefix that is bound
to another one, or to nothing, stands for itself."""


class _Scope:
    """What an element hands down: bound prefixes, the names they make, and xml:base."""

    __slots__ = ("base", "names", "prefixes")

    def __init__(self, prefixes: dict[str, str], base: str) -> None:
        self.prefixes = prefixes
        self.base = base
        self.names: dict[str, str] = {}

    def name(self, tag: str) -> str:
        if (name := self.names.get(tag)) is None:
            prefix, _, local = tag.rpartition(":")
            prefix = self.prefixes.get(prefix, prefix)
            name = self.names[tag] = f"{prefix}:{local}" if prefix else local
        return name

    def below(self, attributes: Mapping[str, str]) -> _Scope:
        prefixes = dict(self.prefixes)
        for attribute, uri in attributes.items():
            kind, _, prefix = attribute.partition(":")
            if kind == "xmlns" and len(prefixes) < MAX_PREFIXES:
                known = uri.strip().lower().partition("://")[2].rstrip("/#")
                prefixes[prefix] = _PREFIXES.get(known, prefix)
        return _Scope(prefixes, _joined(self.base, attributes.get("xml:base", "")))


class Node:
    """An element: its name, in lower case and with the prefix that this module knows it by."""

    __slots__ = ("_raw", "children", "name", "scope", "tag")

    def __init__(self, tag: str, raw: str, scope: _Scope) -> None:
        self.tag = tag
        self._raw = raw
        if raw and ("xmlns" in raw or "xml:base" in raw.lower()):
            scope = scope.below(self.attributes)
        self.scope = scope
        self.name = scope.name(tag)
        self.children: list[Node | str] = []

    @property
    def attributes(self) -> dict[str, str]:
        """By their names in lower case, with the document's own prefixes."""
        return {
            name.lower(): _characters(double or single or bare)
            for name, double, single, bare in _ATTRIBUTE.findall(self._raw)
        }

    @property
    def text(self) -> str:
        """All text within, with white space as it is. Elements within are set off by blanks."""
        children = self.children
        if len(children) == 1 and isinstance(children[0], str):
            return children[0]
        return "".join(child if isinstance(child, str) else f" {child.text} " for child in children)

    def elements(self) -> Iterator[Node]:
        return (child for child in self.children if isinstance(child, Node))

    def first(self) -> dict[str, Node]:
        """Of the children with the same name the first."""
        found: dict[str, Node] = {}
        for child in self.elements():
            found.setdefault(child.name, child)
        return found

    def url(self, reference: str) -> str:
        """Relative to xml:base, where there is one: it may still be relative to the document."""
        return _joined(self.scope.base, reference.strip())


class _Tree:
    """Invariants: the stack begins with the document; it holds a record at `record`, if not 0."""

    def __init__(self, records: frozenset[str]) -> None:
        self._records = records
        self.document = Node("", "", _Scope({}, ""))
        self._stack = [self.document]
        self._record = 0
        self._kept = 0
        self.ended: list[Node] = []
        """Records that are still to be handed over."""

    def add(self, text: str) -> None:
        """White space counts between the elements of a text, not between those of a record."""
        if len(self._stack) - 1 > self._record or not text.isspace():
            self.add_verbatim(_characters(text))

    def add_verbatim(self, text: str) -> None:
        if self._kept < MAX_NODES:
            self._stack[-1].children.append(text)
            self._kept += 1

    def leaf(self, tag: str, raw: str, text: str) -> None:
        """An element with nothing but text."""
        above = self._stack[-1]
        if self._kept >= MAX_NODES and above.scope.name(tag) not in self._records:
            return
        node = Node(tag, raw, above.scope)
        if node.name in self._records:
            self.open(tag, raw)
            self.add(text)
            self.close(tag)
        else:
            node.children.append(_characters(text))
            above.children.append(node)
            self._kept += 1

    def open(self, tag: str, raw: str) -> None:
        above = self._stack[-1]
        full = self._kept >= MAX_NODES or len(self._stack) > MAX_DEPTH
        if full and above.scope.name(tag) not in self._records:
            return
        node = Node(tag, raw, above.scope)
        if node.name in self._records:
            if self._record:
                self._cut(self._record)
            self._record = len(self._stack)
            self._kept = 0
        else:
            above.children.append(node)
            self._kept += 1
        self._stack.append(node)
        if raw.endswith("/"):
            self._cut(len(self._stack) - 1)

    def close(self, tag: str) -> None:
        for depth in range(len(self._stack) - 1, 0, -1):
            if self._stack[depth].tag == tag:
                self._cut(depth)
                break

    def end(self) -> None:
        self._cut(1)

    def _cut(self, depth: int) -> None:
        if depth <= self._record < len(self._stack):
            self.ended.append(self._stack[self._record])
            self._record = self._kept = 0
        del self._stack[depth:]


def read(text: str, records: frozenset[str]) -> Iterator[Node]:
    """Each element of these names as it ends, detached from the rest; then the document.

    A record within a record ends the outer one. Of a document that was cut off there is all but
    the text behind the last tag: half a URL is another URL.
    """
    tree = _Tree(records)
    end = count = 0
    for token in _TOKEN.finditer(text):
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


def _characters(text: str) -> str:
    """Character references resolved, once."""
    if "&" not in text:
        return text
    for reference, character in _COMMON:  # of which escaped HTML is full; they make no other
        text = text.replace(reference, character)
    return _REFERENCE.sub(_character, text)


def _character(reference: re.Match[str]) -> str:
    return _NAMED.get(reference[0]) or unescape(reference[0])


def _joined(base: str, reference: str) -> str:
    if not base or max(len(base), len(reference)) > MAX_URL_CHARS:
        return reference or base
    try:
        return urljoin(base, reference)
    except ValueError:  # brackets that are no IPv6 address
        return reference
