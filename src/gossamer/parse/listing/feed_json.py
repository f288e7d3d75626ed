"""JSON Feed 1.0 and 1.1 (jsonfeed.org/version/1.1). Members of the wrong type are ignored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from gossamer.parse.listing.feed_model import (
    MAX_LINKS,
    MAX_TEXT_CHARS,
    MAX_TITLE_CHARS,
    Entries,
    Entry,
    Feed,
    FeedLink,
    short_name,
)
from gossamer.parse.listing.feed_text import plain
from gossamer.parse.reading.dates import parse_date

if TYPE_CHECKING:
    from collections.abc import Iterator

    Json = dict[str, Any]

_LINKS = {"home_page_url": "alternate", "feed_url": "self", "next_url": "next"}


def parse_json_feed(text: str, max_entries: int) -> Feed | None:
    """Parse a JSON Feed; None if it is not one. Never raises."""
    try:
        feed = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    if not isinstance(feed, dict) or "jsonfeed.org/version" not in _string(feed, "version"):
        return None
    entries = Entries(max_entries)
    for item in _objects(feed, "items"):
        if entries.has_room():
            entries.add(_entry(item))
    return Feed(
        kind="json",
        title=plain(_string(feed, "title"), MAX_TITLE_CHARS) or None,
        description=plain(_string(feed, "description"), MAX_TEXT_CHARS) or None,
        language=short_name(_string(feed, "language")),
        links=tuple(_links(feed)),
        entries=tuple(entries.kept),
        refused=dict(entries.refused),
    )


def _entry(item: Json) -> Entry:
    return Entry(
        url=_string(item, "url").strip() or _string(item, "external_url").strip() or None,
        title=plain(_string(item, "title"), MAX_TITLE_CHARS) or None,
        published=parse_date(_string(item, "date_published")),
        updated=parse_date(_string(item, "date_modified")),
        enclosures=tuple(_enclosures(item)),
    )


def _links(feed: Json) -> Iterator[FeedLink]:
    for member, relation in _LINKS.items():
        if url := _string(feed, member).strip():
            yield FeedLink(url=url, relation=relation)
    for hub in _objects(feed, "hubs")[:MAX_LINKS]:
        if url := _string(hub, "url").strip():
            yield FeedLink(url=url, relation="hub")


def _enclosures(item: Json) -> Iterator[str]:
    for attachment in _objects(item, "attachments")[:MAX_LINKS]:
        if url := _string(attachment, "url").strip():
            yield url


def _string(members: Json, key: str) -> str:
    value = members.get(key)
    return value if isinstance(value, str) else ""


def _objects(members: Json, key: str) -> list[Json]:
    value = members.get(key)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
