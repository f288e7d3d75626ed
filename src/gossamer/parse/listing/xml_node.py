"""Elements of XML as `xml.py` reads them: names whatever the prefixes, text, attributes, URLs."""

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
"""Longer ones are not joined with xml:base."""
MAX_LAYOUT_CHARS = 2_048
"""Of attributes without their values, for their names to be remembered; so many are common."""

_ATTRIBUTE = re.compile(
    r"""(?<![^\s=/"'<>])([^\s=/"'<>]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++))""",
)
_REGULAR = re.compile(r"""(?:\s++[^\s=/"'<>]++\s*+=\s*+"|\s*+/?+(?:>|\Z))*+""")
_NAME = re.compile(r"""[^\s=/"]+""")
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});", re.IGNORECASE)
"""With its semicolon, unlike in HTML: a URL with a bare `&copy=` is common in feeds."""
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
"""Namespaces (without scheme, case, and what ends them) and the prefixes that they have here,
whatever the document binds. A default namespace that is not here is none; a prefix that is bound
to another one, or to nothing, stands for itself."""


class Scope:
    """What an element hands down: bound prefixes, the names they make, and xml:base."""

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
                prefixes[prefix] = _PREFIXES.get(known, prefix)
        return Scope(prefixes, _joined(self.base, attributes.get("xml:base", "")))


class _Names(dict[str, str]):
    """The name that each tag stands for, found out when it is first asked for."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        super().__init__()
        self._prefixes = prefixes

    def __missing__(self, tag: str) -> str:
        prefix, _, local = tag.lower().rpartition(":")
        prefix = self._prefixes.get(prefix, prefix)
        name = self[tag] = f"{prefix}:{local}" if prefix else local
        return name


class Node(Struct, gc=False):
    """An element. Nothing in it leads back to it, so no garbage collector need look at it."""

    name: str
    """In lower case, with the prefix that this package knows it by."""
    attributes: Mapping[str, str]
    """By their names in lower case, with the document's own prefixes."""
    scope: Scope
    children: list[Node | str]

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
        return {child.name: child for child in reversed(self.children) if isinstance(child, Node)}

    def url(self, reference: str) -> str:
        """Relative to xml:base, where there is one: it may still be relative to the document."""
        base = self.scope.base
        return _joined(base, reference.strip()) if base else reference.strip()


def opened(tag: str, raw: str, scope: Scope) -> Node:
    """An element in a scope, or in one of its own; `raw` is what its tag says behind the name."""
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
    """The same for many at once, none of which has a `>`; None if one of them is irregular."""
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
    """Of each tag in a layout, which is attributes without their values.

    None where one is not in double quotes, or changes what names or URLs within mean.
    """
    if not _REGULAR.fullmatch(layout):
        return None
    names = [tuple(_NAME.findall(tag.lower())) for tag in layout.split(">")]
    if any(name == "xml:base" or name.startswith("xmlns") for each in names for name in each):
        return None
    return names


def characters(text: str) -> str:
    """Character references resolved, once."""
    if "&" not in text:
        return text
    for reference, character in _COMMON:  # of which escaped HTML is full; they make no other
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
    except ValueError:  # brackets that are no IPv6 address
        return reference
