"""Feeds as Atom (RFC 4287) and as JSON Feed 1.1 (jsonfeed.org).

The id of an entry is the URL of its page, so a page that changes is the same entry with a newer
date. Nothing else in a feed depends on the time at which it is made.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.sax.saxutils import escape, quoteattr

import msgspec

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.serve.feeds.newest_matches import FeedEntry

ATOM, JSON = "application/atom+xml", "application/feed+json"
NAME = "Gossamer"
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 does not allow (section 2.2)."""
_MIN_MS, _MAX_MS = -62_135_596_800_000, 253_402_300_799_000
"""The years 1 to 9999, which RFC 3339 can express."""


class FeedHead(NamedTuple):
    """A feed's title, its own address in this format, and that of the page with its results.

    `name` is its address without a format, which is its id.
    """

    title: str
    name: str
    own: str
    results: str


def encode_atom(head: FeedHead, entries: Sequence[FeedEntry]) -> bytes:
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<feed xmlns="http://www.w3.org/2005/Atom">',
        f"<id>{_xml(head.name)}</id>",
        f"<title>{_xml(head.title)}</title>",
        f"<updated>{_date(newest_ms(entries))}</updated>",
        f'<link rel="self" type="{ATOM}" href={_attribute(head.own)}/>',
        f'<link rel="alternate" type="text/html" href={_attribute(head.results)}/>',
        f"<author><name>{NAME}</name></author>",
        f"<generator>{NAME}</generator>",
    ]
    for entry in entries:
        language = f" xml:lang={_attribute(entry.language)}" if entry.language else ""
        lines += [
            f"<entry{language}>",
            f"<id>{_xml(entry.url)}</id>",
            f"<title>{_xml(entry.title)}</title>",
            f'<link rel="alternate" href={_attribute(entry.url)}/>',
            f"<updated>{_date(entry.updated_ms)}</updated>",
        ]
        if is_date(entry.published_ms):
            lines.append(f"<published>{_date(entry.published_ms or 0)}</published>")
        lines += [f'<summary type="html">{_xml(entry.snippet)}</summary>', "</entry>"]
    return "\n".join([*lines, "</feed>\n"]).encode("utf-8", "replace")


def encode_json(head: FeedHead, entries: Sequence[FeedEntry]) -> bytes:
    feed: dict[str, Any] = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": head.title,
        "home_page_url": head.results,
        "feed_url": head.own,
        "authors": [{"name": NAME}],
        "items": [_item(entry) for entry in entries],
    }
    return msgspec.json.encode(feed)


def newest_ms(entries: Sequence[FeedEntry]) -> int:
    """When the feed changed last; 0 if it has no entry."""
    return max((entry.updated_ms for entry in entries), default=0)


def is_date(time_ms: int | None) -> bool:
    return time_ms is not None and _MIN_MS <= time_ms <= _MAX_MS


def _item(entry: FeedEntry) -> dict[str, Any]:
    item = {
        "id": entry.url,
        "url": entry.url,
        "title": entry.title,
        "content_html": entry.snippet,
        "date_modified": _date(entry.updated_ms),
    }
    if is_date(entry.published_ms):
        item["date_published"] = _date(entry.published_ms or 0)
    return item | ({"language": entry.language} if entry.language else {})


def _date(time_ms: int) -> str:
    """A time as RFC 3339 has it."""
    within = min(max(time_ms, _MIN_MS), _MAX_MS)
    moment = datetime.fromtimestamp(within // 1000, UTC).replace(microsecond=within % 1000 * 1000)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _xml(text: str) -> str:
    return escape(_NO_XML.sub("\ufffd", text))


def _attribute(text: str) -> str:
    return quoteattr(_NO_XML.sub("\ufffd", text))
