"""What a page asks of crawlers: the robots meta element and the X-Robots-Tag header.

There is no standard. The directives are those of the HTML 4 note (noindex, nofollow, none) and of
Google's and Bing's documentation, in any case: several, separated by commas; in the header an
agent's name and a colon may stand before those that are meant for it alone. Wishes add up: what
is asked of all and what is asked of us.

Facts: many separate by blanks or semicolons, and mean it. The date of `unavailable_after` may be
in RFC 850's form, which holds a comma: what follows one and begins with a digit goes on with the
date. `nocache` is Bing's noarchive; `max-snippet:0` is Google's other name for nosnippet.

Trade-off: several header fields are one by the time they come here (RFC 9110 §5.3), so that what
stood in a field of its own after one for an agent is taken for that agent's.
"""

from __future__ import annotations

import re
from datetime import datetime  # noqa: TC003  # msgspec reads the annotations
from typing import TYPE_CHECKING, NamedTuple

from gossamer.parse.dates import parse_date

if TYPE_CHECKING:
    from collections.abc import Iterable

VALUED = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))
"""Directives with a value after a colon, which is no agent's name then."""
MAX_CHARS = 4_096
_AGENT = re.compile(r"\s*([\w-]+)\s*")  # and no piece of a date, which has commas and colons too


class Wishes(NamedTuple):
    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False
    """No copy of the page is to be shown."""
    nosnippet: bool = False
    """No text of the page is to be shown."""
    unavailable_after: datetime | None = None
    """From this instant on, UTC, the page is not to be found."""

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
    """Of the content of a robots meta element."""
    return _wishes(_parts(content))


def header_wishes(header: str, agent: str) -> Wishes:
    """Of an X-Robots-Tag header, as far as it concerns us."""
    ours, concern_us = True, []
    for part in _parts(header):
        name, colon, rest = part.partition(":")
        named = _AGENT.fullmatch(name) if colon else None
        if named is not None and named[1].lower() not in VALUED:
            ours = named[1].lower() == agent.lower()
            part = rest  # noqa: PLW2901  # what the agent's name stood before
        if ours:
            concern_us.append(part)
    return _wishes(concern_us)


def _parts(text: str) -> list[str]:
    """Split at commas, those of dates excepted."""
    parts: list[str] = []
    for part in text[:MAX_CHARS].split(","):
        if parts and part.strip()[:1].isdigit() and "unavailable_after" in parts[-1].lower():
            parts[-1] += f",{part}"
        else:
            parts.append(part)
    return parts


def _wishes(parts: Iterable[str]) -> Wishes:
    words: set[str] = set()
    asked = Wishes()
    for part in parts:
        name, _, value = part.partition(":")
        match name.strip().lower():
            case "unavailable_after":
                asked |= Wishes(unavailable_after=parse_date(value))
            case "max-snippet":
                asked |= Wishes(nosnippet=value.strip() == "0")
            case _:
                words.update(part.lower().replace(";", " ").split())
    return asked | Wishes(
        noindex=not words.isdisjoint(("noindex", "none")),
        nofollow=not words.isdisjoint(("nofollow", "none")),
        noarchive=not words.isdisjoint(("noarchive", "nocache")),
        nosnippet="nosnippet" in words,
    )
