"""JSON Feed 1.0 and 1.1 (jsonfeed.org/version/1.1). Members of the wrong type are ignored.

Of a feed that is cut off or broken, the members and items are read that came whole before that.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
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
_SPACE = re.compile(r"[ \t\r\n]*+")
_LIST = re.compile(r"\[[ \t\r\n]*+")
_COLON = re.compile(r"[ \t\r\n]*+:[ \t\r\n]*+")
_COMMA = re.compile(r"[ \t\r\n]*+,[ \t\r\n]*+")
_DECODER = json.JSONDecoder(strict=False)  # control characters in strings are common


def parse_json_feed(text: str, max_entries: int, *, announced: bool) -> Feed | None:
    """Parse a JSON Feed; None if it is not one. Never raises.

    Its version may be missing if it was `announced` as a feed, or is cut off before that.
    """
    is_whole = True
    try:
        feed = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        feed, is_whole = dict(_whole_members(text)), False
    if not isinstance(feed, dict):
        return None
    may_lack_version = announced or (not is_whole and "version" not in feed)
    if "jsonfeed.org/version" not in _string(feed, "version") and not (
        may_lack_version and _objects(feed, "items")
    ):
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


def _whole_members(text: str) -> Iterator[tuple[str, Any]]:
    """Yield the members of an object that are whole, and of a broken list its whole elements."""
    with suppress(ValueError, RecursionError):
        place = _past(_SPACE, text, 1)
        while isinstance((found := _DECODER.raw_decode(text, place))[0], str):
            name, place = found[0], _past(_COLON, text, found[1])
            try:
                value, place = _DECODER.raw_decode(text, place)
            except (ValueError, RecursionError):
                yield name, list(_whole_elements(text, place))
                return
            yield name, value
            place = _past(_COMMA, text, place)


def _whole_elements(text: str, place: int) -> Iterator[Any]:
    with suppress(ValueError, RecursionError):
        place = _past(_LIST, text, place)
        while True:
            value, place = _DECODER.raw_decode(text, place)
            yield value
            place = _past(_COMMA, text, place)


def _past(pattern: re.Pattern[str], text: str, place: int) -> int:
    """Return where something ends that stands at this place. Raises ValueError if it does not."""
    if (found := pattern.match(text, place)) is None:
        raise ValueError(place)
    return found.end()


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
    if not isinstance(value, str):
        return ""
    return value if value.isascii() else value.encode("utf-8", "ignore").decode()  # no surrogates


def _objects(members: Json, key: str) -> list[Json]:
    value = members.get(key)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
