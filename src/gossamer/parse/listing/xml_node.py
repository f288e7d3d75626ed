"""XML elements as `xml_reader.py` reads them: names with known prefixes, text, attributes, URLs."""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape
from types import MappingProxyType
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MAX_PREFIXES = 64
MAX_URL_CHARS = 4_096
"""Longest URL that is joined with xml:base."""
MAX_LAYOUT_CHARS = 2_048
"""Longest layout (attributes without their values) that is cached; this length is common."""

_ATTRIBUTE = re.compile(
    r"""(?<![^\s=/"'<>])([^\s=/"'<>]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))"""
)
_REGULAR = re.compile(r"""(?:\s++[^\s=/"'<>]++\s*+=\s*+"|\s*+/?+(?:>|\Z))*+""")
_NAME = re.compile(r"""[^\s=/"]+""")
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});", re.IGNORECASE)
"""A character reference. The semicolon is required, unlike in HTML: `&copy=` is common in URLs."""
_COMMON = (("&lt;", "<"), ("&gt;", ">"), ("&quot;", '"'), ("&apos;", "'"))

_NO_ATTRIBUTES: Mapping[str, str] = MappingProxyType({})
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
"""Namespaces (in lower case, without scheme and trailing slash or #) and our prefixes for them,
whatever prefix the document uses. An unknown default namespace is ignored; a prefix that is unbound
or bound to an unknown namespace is kept, unless it is that of the root (`xml_reader.py`)."""


class Scope:
    """What elements inherit: prefixes, the names of tags that follow from them, and xml:base."""

    __slots__ = ("_prefixes", "base", "names")

    def __init__(self, prefixes: Mapping[str, str], base: str) -> None:
        self._prefixes = prefixes
        self.base = base
        self.names = _Names(prefixes)

    def below(self, attributes: Mapping[str, str]) -> Scope:
        prefixes = dict(self._prefixes)
        for attribute, uri in attributes.items():
            kind, _, prefix = attribute.partition(":")
            if kind == "xmlns" and len(prefixes) < MAX_PREFIXES:
                known = uri.strip().lower().partition("://")[2].rstrip("/#")
                prefixes[prefix] = _PREFIXES.get(known, prefixes.get(prefix, prefix))
        return Scope(prefixes, _joined(self.base, attributes.get("xml:base", "")))


class _Names(dict[str, str]):
    """The name of each tag in lower case with our prefix, computed on first use."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        super().__init__()
        self._prefixes = prefixes

    def __missing__(self, tag: str) -> str:
        prefix, _, local = tag.lower().rpartition(":")
        prefix = self._prefixes.get(prefix, prefix)
        name = self[tag] = f"{prefix}:{local}" if prefix else local
        return name


class Node(Struct, gc=False):
    """An element. It is never part of a reference cycle, so the garbage collector may ignore it."""

    name: str
    """Its name in lower case, with our prefix."""
    attributes: Mapping[str, str]
    """Its attributes by name in lower case, with the document's own prefixes."""
    scope: Scope
    children: list[Node | str]

    @property
    def text(self) -> str:
        """All text inside, with white space as written. Inner elements are set off by blanks."""
        children = self.children
        if len(children) == 1 and isinstance(children[0], str):
            return children[0]
        return "".join(child if isinstance(child, str) else f" {child.text} " for child in children)

    def elements(self) -> Iterator[Node]:
        return (child for child in self.children if isinstance(child, Node))

    def first(self) -> dict[str, Node]:
        """Return the child elements by name; the first, if several have the same name."""
        return {child.name: child for child in reversed(self.children) if isinstance(child, Node)}

    def url(self, reference: str) -> str:
        """Join a URL with xml:base, if there is one. The result may still be a relative URL."""
        base = self.scope.base
        return _joined(base, reference.strip()) if base else reference.strip()


def opened(tag: str, raw: str, scope: Scope) -> Node:
    """Create an element from its tag's name and the rest of the tag, `raw`.

    If it declares prefixes or xml:base, it gets a scope of its own.
    """
    attributes = attributes_of(raw)
    if "xmlns" in raw or "xml:base" in attributes:
        scope = scope.below(attributes)
    return Node(scope.names[tag], attributes, scope, [])


def attributes_of(raw: str) -> Mapping[str, str]:
    if not raw:
        return _NO_ATTRIBUTES
    found = {
        name.lower(): double or single or bare
        for name, double, single, bare in _ATTRIBUTE.findall(raw)
    }
    return {name: characters(text) for name, text in found.items()} if "&" in raw else found


def regular_attributes(raws: Sequence[str]) -> list[Mapping[str, str]] | None:
    """Parse the attributes of many tags at once; None if one of them is irregular.

    None of them may contain a `>`.
    """
    joined = ">".join(raws)
    parts = joined.split('"')
    layout = '"'.join(parts[::2])
    names = _names_of(layout) if len(layout) <= MAX_LAYOUT_CHARS else None
    if names is None or len(names) != len(raws):
        return None
    values = iter(map(characters, parts[1::2]) if "&" in joined else parts[1::2])
    return [dict(zip(each, values, strict=False)) if each else _NO_ATTRIBUTES for each in names]


@lru_cache(maxsize=64)
def _names_of(layout: str) -> list[tuple[str, ...]] | None:
    """Return the names of the attributes of each tag; `layout` is the tags without the values.

    None if a value is not in double quotes, or if an attribute declares a prefix or xml:base.
    """
    if not _REGULAR.fullmatch(layout):
        return None
    names = [tuple(_NAME.findall(tag.lower())) for tag in layout.split(">")]
    if any(name == "xml:base" or name.startswith("xmlns") for each in names for name in each):
        return None
    return names


def characters(text: str) -> str:
    """Resolve character references, once."""
    if "&" not in text:
        return text
    for reference, character in _COMMON:  # escaped HTML is full of them; they create no new ones
        text = text.replace(reference, character)
    return _REFERENCE.sub(_character, text)


def _character(reference: re.Match[str]) -> str:
    return _unescaped(reference[0])


_unescaped = lru_cache(maxsize=256)(unescape)


def _joined(base: str, reference: str) -> str:
    if not base or max(len(base), len(reference)) > MAX_URL_CHARS:
        return reference or base
    try:
        return urljoin(base, reference)
    except ValueError:  # brackets without an IPv6 address
        return reference
