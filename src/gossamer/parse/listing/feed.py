"""Feeds: RSS 0.9x to 2.0, RDF (RSS 0.9 and 1.0), Atom, JSON Feed.

Sources: rssboard.org/rss-specification and rss-profile, web.resource.org/rss/1.0/spec, RFC 4287,
RFC 5005 (pages of a feed), jsonfeed.org/version/1.1, purl.org/rss/1.0/modules/content and
rssboard.org/media-rss. We look for the elements of every format in every feed, as feeds mix them.
The tables below list alternatives in order of precedence.

Facts: a guid is the URL of its item unless it is marked otherwise, and is often just a number. URLs
are returned as written, joined with xml:base if there is one; the caller joins them with the
document's URL. `feed_text.py` extracts the texts. The content of entries is not read: their pages
are crawled.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from gossamer.parse.listing.feed_json import parse_json_feed
from gossamer.parse.listing.feed_model import (
    MAX_ENTRIES,
    MAX_LINKS,
    MAX_NAME_CHARS,
    MAX_TEXT_CHARS,
    MAX_TITLE_CHARS,
    Entries,
    Entry,
    Feed,
    FeedLink,
    media_type,
    short_name,
)
from gossamer.parse.listing.feed_text import text_of
from gossamer.parse.listing.xml_reader import fold_xml_text, read_xml_elements
from gossamer.parse.reading.charset import decode
from gossamer.parse.reading.dates import parse_date

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from gossamer.parse.listing.feed_model import Kind
    from gossamer.parse.listing.xml_node import Node


def parse_feed(
    body: bytes,
    declared: str | None = None,
    *,
    announced: bool = False,
    max_entries: int = MAX_ENTRIES,
) -> Feed | None:
    """Parse a feed; None if it is not one. Never raises. `declared` is the header's charset.

    A JSON Feed that was `announced` may lack its version.
    """
    text = decode(body, declared)[0].lstrip("\ufeff \t\r\n")
    if text.startswith("{"):
        return parse_json_feed(text, max_entries, announced=announced)
    return _of_xml(text, max_entries)


_RECORDS = frozenset(("item", "entry", "atom:entry"))
_ROOTS: Mapping[str, Kind] = {
    "rss": "rss",
    "channel": "rss",
    "rdf:rdf": "rdf",
    "rdf": "rdf",
    "feed": "atom",
    "atom:feed": "atom",
}
_LINKS = frozenset(("link", "atom:link"))
_TITLE = ("title", "atom:title", "media:title", "dc:title")
_DESCRIPTION = (
    *("description", "subtitle", "atom:subtitle", "tagline", "atom:tagline", "itunes:summary"),
)
_PUBLISHED = (
    *("pubdate", "atom:published", "published", "dc:date", "dcterms:issued", "atom:issued"),
    *("dcterms:created", "atom:created"),
)
_UPDATED = ("atom:updated", "updated", "dcterms:modified", "atom:modified")
_CHANGED = (*_UPDATED, "lastbuilddate", *_PUBLISHED)
"""Elements with the date of the feed itself, in order of precedence."""
_LANGUAGE = ("language", "dc:language")
_ENCLOSURES = frozenset(("enclosure", "media:content"))
_PAGE_TYPES = frozenset((None, "text/html", "application/xhtml+xml"))
_WEB = ("http://", "https://")


def _of_xml(text: str, max_entries: int) -> Feed | None:
    entries = Entries(max_entries)
    for node in read_xml_elements(text, _RECORDS):
        if node.name:
            if entries.has_room():
                entries.add(_entry(node))
        elif root := next((root for root in node.elements() if root.name in _ROOTS), None):
            return _feed(root, entries)
    return None


def _feed(root: Node, entries: Entries) -> Feed:
    kind = _ROOTS[root.name]
    channel = root.first().get("channel", root)
    first = channel.first()
    return Feed(
        kind=kind,
        title=_text(first, _TITLE, MAX_TITLE_CHARS),
        description=_text(first, _DESCRIPTION, MAX_TEXT_CHARS),
        language=_language(channel, first) or _language(root, {}),
        updated=_date(first, _CHANGED),
        links=tuple(islice(_links(channel), MAX_LINKS)),
        entries=tuple(entries.kept),
        refused=dict(entries.refused),
    )


def _entry(node: Node) -> Entry:
    first = node.first()
    links = list(islice(_links(node), MAX_LINKS))
    enclosures = [link.url for link in links if link.relation == "enclosure"]
    enclosures += islice(_enclosures(node), MAX_LINKS - len(enclosures))
    return Entry(
        url=_alternate(links) or _source(first) or _permalink(node, first),
        title=_text(first, _TITLE, MAX_TITLE_CHARS),
        published=_date(first, _PUBLISHED),
        updated=_date(first, _UPDATED),
        enclosures=tuple(enclosures),
    )


def _links(node: Node) -> Iterator[FeedLink]:
    """Yield the links of a feed or entry. RSS has the URL as text, Atom as an attribute."""
    for link in node.elements():
        if link.name in _LINKS:
            attributes = link.attributes
            if url := link.url(attributes.get("href") or link.text):
                yield FeedLink(
                    url=url,
                    relation=fold_xml_text(attributes.get("rel", "").lower(), MAX_NAME_CHARS)
                    or "alternate",
                    content_type=media_type(attributes.get("type")),
                )


def _enclosures(node: Node) -> Iterator[str]:
    for child in node.elements():
        if child.name == "media:group":
            yield from _enclosures(child)
        elif child.name in _ENCLOSURES and (url := child.url(child.attributes.get("url", ""))):
            yield url


def _alternate(links: list[FeedLink]) -> str | None:
    """Return the URL of the page, in preference to other formats of it (RFC 4287 §4.2.7.2)."""
    found = [link for link in links if link.relation == "alternate"]
    pages = (link for link in found if link.content_type in _PAGE_TYPES)
    return next((link.url for link in (*pages, *found)), None)


def _source(first: Mapping[str, Node]) -> str | None:
    """Return the URL of content that is not in the feed (RFC 4287 §4.1.3.2)."""
    content = first.get("atom:content") or first.get("content")
    source = content and content.attributes.get("src")
    return content.url(source) if content and source else None


def _permalink(node: Node, first: Mapping[str, Node]) -> str | None:
    """Return the item's identifier (rdf:about, guid or id) if that is a URL."""
    if (about := node.attributes.get("rdf:about", "")).startswith(_WEB):
        return about
    for name in ("guid", "atom:id", "id"):
        if (
            (named := first.get(name)) is not None
            and named.text.strip().startswith(_WEB)
            and named.attributes.get("ispermalink", "true").lower() != "false"
        ):
            return named.url(named.text)
    return None


def _text(first: Mapping[str, Node], names: Iterable[str], limit: int) -> str | None:
    """Return the text of the first of these elements that has any."""
    for name in names:
        if (node := first.get(name)) is not None and (text := text_of(node, limit)):
            return text
    return None


def _date(first: Mapping[str, Node], names: Iterable[str]) -> datetime | None:
    dates = (parse_date(first[name].text) for name in names if name in first)
    return next((date for date in dates if date is not None), None)


def _language(node: Node, first: Mapping[str, Node]) -> str | None:
    written = (first[name].text for name in _LANGUAGE if name in first)
    return short_name(next(written, None) or node.attributes.get("xml:lang"))
