"""Directives for crawlers: the robots meta element and the X-Robots-Tag header.

There is no standard. The directives are those of the HTML 4 note (noindex, nofollow, none) and of
Google's and Bing's documentation. They are case-insensitive and separated by commas. In the header,
an agent's name and a colon may precede directives meant only for that agent. We obey both those for
everybody and those for us.

Facts: many sites separate directives by blanks or semicolons. The date of `unavailable_after` may
be in the format of RFC 850, which contains a comma: a part that begins with a digit continues the
date. `nocache` is Bing's noarchive; `max-snippet:0` is Google's other name for nosnippet.

Trade-off: several header fields arrive here as one (RFC 9110 §5.3). Directives for everybody that
had a field of their own, after a field for one agent, are therefore taken for that agent's.
"""

from __future__ import annotations

import re
from datetime import datetime  # noqa: TC003  # msgspec reads the annotations
from typing import TYPE_CHECKING, NamedTuple

from gossamer.parse.reading.dates import parse_date

if TYPE_CHECKING:
    from collections.abc import Iterable

VALUED = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))
"""Directives with a value after a colon: what is before the colon is not an agent's name."""
MAX_CHARS = 4_096
_AGENT = re.compile(r"\s*([\w-]+)\s*")  # does not match part of a date, which may have colons, too


class Wishes(NamedTuple):
    """The directives for crawlers that apply to a page."""

    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False
    """Do not show a copy of the page."""
    nosnippet: bool = False
    """Do not show text of the page."""
    unavailable_after: datetime | None = None
    """Remove the page from search results after this instant (UTC)."""

    def __or__(self, other: Wishes) -> Wishes:
        ends = [end for end in (self.unavailable_after, other.unavailable_after) if end is not None]
        return Wishes(
            self.noindex or other.noindex,
            self.nofollow or other.nofollow,
            self.noarchive or other.noarchive,
            self.nosnippet or other.nosnippet,
            min(ends, default=None),
        )


def wishes(content: str) -> Wishes:
    """Return the directives in the content of a robots meta element."""
    return _wishes(_parts(content))


def header_wishes(header: str, agent: str) -> Wishes:
    """Return the directives in an X-Robots-Tag header that are for everybody or for `agent`."""
    is_for_us, for_us = True, []
    for part in _parts(header):
        name, colon, rest = part.partition(":")
        named = _AGENT.fullmatch(name) if colon else None
        if named is not None and named[1].lower() not in VALUED:
            is_for_us = named[1].lower() == agent.lower()
            part = rest  # noqa: PLW2901  # without the agent's name
        if is_for_us:
            for_us.append(part)
    return _wishes(for_us)


def _parts(text: str) -> list[str]:
    """Split at commas, except those within dates."""
    parts: list[str] = []
    for part in text[:MAX_CHARS].split(","):
        if parts and part.strip()[:1].isdigit() and "unavailable_after" in parts[-1].lower():
            parts[-1] += f",{part}"
        else:
            parts.append(part)
    return parts


def _wishes(parts: Iterable[str]) -> Wishes:
    words: set[str] = set()
    valued = Wishes()
    for part in parts:
        name, _, value = part.partition(":")
        match name.strip().lower():
            case "unavailable_after":
                valued |= Wishes(unavailable_after=parse_date(value))
            case "max-snippet":
                valued |= Wishes(nosnippet=value.strip() == "0")
            case _:
                words.update(part.lower().replace(";", " ").split())
    return valued | Wishes(
        noindex=not words.isdisjoint(("noindex", "none")),
        nofollow=not words.isdisjoint(("nofollow", "none")),
        noarchive=not words.isdisjoint(("noarchive", "nocache")),
        nosnippet="nosnippet" in words,
    )
