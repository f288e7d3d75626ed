"""JSON Feed 1.0 and 1.1 (jsonfeed.org/version/1.1). Members of a wrong type are as if not there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from gossamer.parse.dates import parse_date
from gossamer.parse.listing.feed_model import (
    MAX_LINKS,
    MAX_TEXT_CHARS,
    MAX_TITLE_CHARS,
    Enclosure,
    Entries,
    Entry,
    Feed,
    FeedLink,
    media_type,
    plain,
    short_name,
)
from gossamer.parse.listing.xml import fold

if TYPE_CHECKING:
    from collections.abc import Iterator

    Json = dict[str, Any]

_LINKS = {"home_page_url": "alternate", "feed_url": "self", "next_url": "next"}


def parse_json_feed(body: bytes, max_entries: int) -> Feed | None:
    """None for what is no JSON Feed; never raises."""
    try:
        feed = msgspec.json.decode(body.removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
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
        author=_author(item),
        summary=plain(_string(item, "summary"), MAX_TEXT_CHARS) or None,
        content=fold(_string(item, "content_text"), MAX_TEXT_CHARS)
        or plain(_string(item, "content_html"), MAX_TEXT_CHARS)
        or None,
        language=short_name(_string(item, "language")),
        enclosures=tuple(_enclosures(item)),
    )


def _links(feed: Json) -> Iterator[FeedLink]:
    for member, relation in _LINKS.items():
        if url := _string(feed, member).strip():
            yield FeedLink(url=url, relation=relation)
    for hub in _objects(feed, "hubs")[:MAX_LINKS]:
        if url := _string(hub, "url").strip():
            yield FeedLink(url=url, relation="hub")


def _enclosures(item: Json) -> Iterator[Enclosure]:
    for attachment in _objects(item, "attachments")[:MAX_LINKS]:
        if url := _string(attachment, "url").strip():
            length = attachment.get("size_in_bytes")
            yield Enclosure(
                url=url,
                content_type=media_type(_string(attachment, "mime_type")),
                length_bytes=length if type(length) is int and 0 <= length < 1 << 63 else None,
            )


def _author(item: Json) -> str | None:
    """Of 1.1 the first, of 1.0 the one."""
    one = item.get("author")
    authors = [*_objects(item, "authors")[:1], *([one] if isinstance(one, dict) else [])]
    names = (fold(_string(author, "name"), MAX_TITLE_CHARS) for author in authors)
    return next((text for text in names if text), None)


def _string(members: Json, key: str) -> str:
    value = members.get(key)
    return value if isinstance(value, str) else ""


def _objects(members: Json, key: str) -> list[Json]:
    value = members.get(key)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
