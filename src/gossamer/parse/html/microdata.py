"""Microdata (§5 of HTML): the items of a page, as the same nodes that JSON-LD gives.

Only the properties that are read later are taken: the text of articles is marked as `articleBody`,
and would be copied for nothing. Deviations from the standard, which follow use: an attribute
`content` is the value of any element; the text of a link that is marked as an author, not
its address, names the author; `itemref` is not followed.

Bounds: MAX_NODES elements, each of which looks MAX_CLIMB elements up for the item that it belongs
to, and MAX_TEXT_CHARS of text, as properties may hold each other.
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
"""Of one property of an item."""

_NODES = "[itemprop],[itemscope]:not([itemprop])"
"""Each once: what two selectors of a list match, selectolax gives twice."""
_DATES = frozenset(["dateCreated", "dateModified", "datePublished", "uploadDate"])
_TEXTS = frozenset(
    ["author", "creator", "description", "familyName", "givenName", "headline", "name", "publisher"]
)
_ADDRESSES = frozenset(["contentUrl", "image", "mainEntityOfPage", "thumbnailUrl", "url"])
_WANTED = _TEXTS | _DATES | _ADDRESSES


def read_microdata(tree: LexborHTMLParser) -> list[Thing]:
    """The items in document order; last, without a type, the properties outside of any.

    Dates outside of items are left out where they differ: such are those of teasers.
    """
    items: dict[int, Thing] = {}
    homeless: Thing = {}
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
            values = (homeless if owner is None else owner).setdefault(name, [])
            if value and len(values) < MAX_VALUES:
                values.append(value)
    for name in _DATES.intersection(homeless):
        if any(value != homeless[name][0] for value in homeless[name]):
            del homeless[name]
    return [*items.values(), homeless] if homeless else list(items.values())


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
    if names <= _DATES:  # before HTML 5 had time: <abbr title=2024-05-01>May</abbr>
        return attributes.get("datetime") or attributes.get("title")
    return None
