"""A feed, its links and its entries, for all formats of feeds."""

from __future__ import annotations

from collections import Counter
from datetime import datetime  # noqa: TC003  # msgspec reads annotations
from typing import Literal

from msgspec import Struct

from gossamer.parse.listing.xml_reader import fold_xml_text

MAX_ENTRIES = 10_000
MAX_TITLE_CHARS = 1_000
MAX_TEXT_CHARS = 20_000
"""Length of a feed's description."""
MAX_LINKS = 100
"""Links of a feed, and enclosures of an entry."""
MAX_NAME_CHARS = 100
"""Length of a language, relation or media type."""

Kind = Literal["rss", "rdf", "atom", "json"]
Refusal = Literal["no_url", "too_many"]


class FeedLink(Struct, frozen=True, kw_only=True):
    """A link of the feed itself. `relation` is alternate (its site), self, next, hub and so on."""

    url: str
    relation: str = "alternate"
    content_type: str | None = None


class Entry(Struct, frozen=True, kw_only=True):
    """An entry of a feed. Its title is folded and without markup; dates are in UTC."""

    url: str | None = None
    """None if the entry has only enclosures."""
    title: str | None = None
    published: datetime | None = None
    updated: datetime | None = None
    enclosures: tuple[str, ...] = ()
    """URLs of files that belong to the entry: an episode of a podcast, an image."""


class Feed(Struct, frozen=True, kw_only=True):
    kind: Kind
    title: str | None = None
    description: str | None = None
    language: str | None = None
    updated: datetime | None = None
    links: tuple[FeedLink, ...] = ()
    entries: tuple[Entry, ...] = ()
    refused: dict[Refusal, int] = {}
    """Number of entries that are left out, by reason."""


class Entries:
    """Collects up to `most` entries, and counts the others by reason."""

    def __init__(self, most: int) -> None:
        self.kept: list[Entry] = []
        self.refused: Counter[Refusal] = Counter()
        self._most = most

    def has_room(self) -> bool:
        """Whether another entry may be added. If not, it is counted as left out."""
        if len(self.kept) < self._most:
            return True
        self.refused["too_many"] += 1
        return False

    def add(self, entry: Entry) -> None:
        if entry.url or entry.enclosures:
            self.kept.append(entry)
        else:
            self.refused["no_url"] += 1


def short_name(text: str | None) -> str | None:
    """Fold and shorten a language, relation or type; None if it is empty."""
    return fold_xml_text(text or "", MAX_NAME_CHARS) or None


def media_type(text: str | None) -> str | None:
    """Return a media type in lower case, without parameters."""
    return short_name((text or "").partition(";")[0].lower())
