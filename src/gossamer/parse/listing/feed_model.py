"""What feeds of all formats say: a feed, its links, its entries. And how their texts are read."""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime  # noqa: TC003  # msgspec reads annotations
from typing import Literal

from msgspec import Struct
from selectolax.lexbor import LexborHTMLParser

from gossamer.parse.listing.xml import fold

MAX_ENTRIES = 10_000
MAX_TITLE_CHARS = 1_000
MAX_TEXT_CHARS = 20_000
"""Of a summary, and of the content."""
MAX_MARKUP_CHARS = 100_000
"""Of the HTML that a text is taken from."""
MAX_LINKS = 100
"""Of a feed, and enclosures of an entry."""
MAX_NAME_CHARS = 100
"""Of a language, a relation, a type."""

Kind = Literal["rss", "rdf", "atom", "json"]
Refusal = Literal["no_url", "too_many"]

_MARKUP = re.compile(r"<[a-z!/]|&[#a-z]", re.IGNORECASE)
_BLOCK = re.compile(
    r"(?=</?(?:p|div|br|li|[uod]l|d[dt]|h\d|t[rdh]|table|blockquote|figure|pre|hr)\b)",
    re.IGNORECASE,
)
_HIDDEN = ["script", "style", "template", "noscript", "iframe"]


class FeedLink(Struct, frozen=True, kw_only=True):
    """A link of the feed itself: alternate (its site), self, next, prev-archive, hub, ..."""

    url: str
    relation: str = "alternate"
    content_type: str | None = None


class Enclosure(Struct, frozen=True, kw_only=True):
    """A file that belongs to an entry: an episode of a podcast, a picture."""

    url: str
    content_type: str | None = None
    length_bytes: int | None = None


class Entry(Struct, frozen=True, kw_only=True):
    """Texts are without markup and with white space folded. Dates are in UTC."""

    url: str | None = None
    """None where there are enclosures only."""
    title: str | None = None
    published: datetime | None = None
    updated: datetime | None = None
    author: str | None = None
    summary: str | None = None
    content: str | None = None
    language: str | None = None
    enclosures: tuple[Enclosure, ...] = ()


class Feed(Struct, frozen=True, kw_only=True):
    kind: Kind
    title: str | None = None
    description: str | None = None
    language: str | None = None
    updated: datetime | None = None
    links: tuple[FeedLink, ...] = ()
    entries: tuple[Entry, ...] = ()
    refused: dict[Refusal, int] = {}
    """Entries that are not there, by reason."""


class Entries:
    """Those that are kept, up to a number, and those that are not, by reason."""

    def __init__(self, most: int) -> None:
        self.kept: list[Entry] = []
        self.refused: Counter[Refusal] = Counter()
        self._most = most

    def has_room(self) -> bool:
        """Counts, where there is none, the entry that this was asked for."""
        if len(self.kept) < self._most:
            return True
        self.refused["too_many"] += 1
        return False

    def add(self, entry: Entry) -> None:
        if entry.url or entry.enclosures:
            self.kept.append(entry)
        else:
            self.refused["no_url"] += 1


def plain(markup: str, limit: int) -> str:
    """The visible text of what may be HTML, up to a number of characters."""
    if not _MARKUP.search(markup):
        return fold(markup, limit)
    parser = LexborHTMLParser(_BLOCK.sub(" ", markup[:MAX_MARKUP_CHARS]))
    parser.strip_tags(_HIDDEN)
    return fold(parser.body.text() if parser.body else "", limit)


def short_name(text: str | None) -> str | None:
    """A language, a relation, a type: short."""
    return fold(text or "", MAX_NAME_CHARS) or None


def media_type(text: str | None) -> str | None:
    """Without parameters, in lower case."""
    return short_name((text or "").partition(";")[0].lower())
