"""Microdata (§5 of HTML): the items of a page, as nodes like those of JSON-LD.

Only properties that are read later are kept: the text of an article is marked as `articleBody`, and
copying it would be wasted. We deviate from the standard where pages do: an attribute `content` is
the value of any element; for a link that is marked as an author, the name is its text, not its
address; `itemref` is not followed.

Bounds: MAX_NODES elements; MAX_CLIMB ancestors in which each looks for its item; MAX_TEXT_CHARS of
text, as properties can be nested.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from selectolax.lexbor import LexborHTMLParser, LexborNode

    from gossamer.parse.html.jsonld import Thing

MAX_NODES = 300
MAX_CLIMB = 32
MAX_TEXT_CHARS = 200_000
MAX_VALUES = 20
"""Values kept per property of an item."""

_NODES = "[itemprop],[itemscope]:not([itemprop])"
"""No element matches both: selectolax returns an element once per selector that it matches."""
_DATES = frozenset(["dateCreated", "dateModified", "datePublished", "uploadDate"])
_TEXTS = frozenset(
    ["author", "creator", "description", "familyName", "givenName", "headline", "name", "publisher"]
)
_ADDRESSES = frozenset(["contentUrl", "image", "mainEntityOfPage", "thumbnailUrl", "url"])
_WANTED = _TEXTS | _DATES | _ADDRESSES


def read_microdata(tree: LexborHTMLParser) -> list[Thing]:
    """Return the items in document order.

    The last one has no type and holds the properties outside any item. Dates among these are left
    out if they differ, since they are those of teasers.
    """
    items: dict[int, Thing] = {}
    outside: Thing = {}
    left = MAX_TEXT_CHARS
    for node in tree.css(_NODES)[:MAX_NODES]:
        attributes = node.attributes
        names = _WANTED.intersection((attributes.get("itemprop") or "").split())
        value: str | Thing | None = None
        if "itemscope" in attributes:
            value = items[node.mem_id] = {"@type": (attributes.get("itemtype") or "").split()}
        if not names:
            continue
        if value is None:
            value = _attribute_value(attributes, names)
        if value is None and left > 0:
            text = node.text()
            left -= len(text)
            value = text
        owner = _owner(node, items)
        for name in names:
            values = (outside if owner is None else owner).setdefault(name, [])
            if value and len(values) < MAX_VALUES:
                values.append(value)
    for name in _DATES.intersection(outside):
        if any(value != outside[name][0] for value in outside[name]):
            del outside[name]
    return [*items.values(), outside] if outside else list(items.values())


def _owner(node: LexborNode, items: Mapping[int, Thing]) -> Thing | None:
    for _ in range(MAX_CLIMB):
        above = node.parent
        if above is None:
            return None
        if (item := items.get(above.mem_id)) is not None:
            return item
        node = above
    return None


def _attribute_value(attributes: Mapping[str, str | None], names: frozenset[str]) -> str | None:
    if (content := attributes.get("content")) is not None:
        return content
    if names <= _ADDRESSES:
        return attributes.get("href") or attributes.get("src") or attributes.get("data-src") or ""
    if names <= _DATES:  # as before HTML 5 added time elements: <abbr title=2024-05-01>May</abbr>
        return attributes.get("datetime") or attributes.get("title")
    return None
