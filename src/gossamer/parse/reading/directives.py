"""Directives for crawlers: the robots meta element and the X-Robots-Tag header.

There is no standard. The directives are those of the HTML 4 note (noindex, nofollow, none) and of
Google's and Bing's documentation, and noai and noimageai, which DeviantArt began. They are
case-insensitive and separated by commas. In the header, an agent's name and a colon may precede
directives meant only for that agent, up to the end of the header field. We obey both those for
everybody and those for us, and those of several fields add up.

Facts: many sites separate directives by blanks or semicolons, put them in quotes, repeat the name
of the header in its value, or write `no-index`. The date of `unavailable_after` may be in the
format of RFC 850, which contains a comma: a part that begins with a digit continues the date.
`nocache` is Bing's noarchive; `max-snippet:0` is Google's other name for nosnippet.

What is ambiguous is read as the webmaster's wish: of directives that contradict each other, the
more restrictive one holds, and a directive that stands where an agent's name is expected
(`noindex: true`) is that directive.
"""

from __future__ import annotations

import re
from datetime import datetime  # noqa: TC003  # msgspec reads the annotations
from typing import TYPE_CHECKING, NamedTuple

from gossamer.parse.reading.dates import parse_date
from gossamer.web.publisher_wishes import statement

if TYPE_CHECKING:
    from collections.abc import Iterable

UNAVAILABLE_AFTER = "unavailable_after"
DIRECTIVES = frozenset(
    (
        *("all", "index", "follow", "noindex", "nofollow", "none"),
        *("noarchive", "nocache", "nosnippet", "noimageindex", "notranslate", "indexifembedded"),
        *("noai", "noimageai"),
        *(UNAVAILABLE_AFTER, "max-snippet", "max-image-preview", "max-video-preview"),
    )
)
"""What is before a colon is an agent's name, unless it is one of these."""
EVERYBODY = frozenset(("*", "robots", "x-robots-tag"))
"""Names before a colon that stand for all agents."""
MAX_CHARS = 4_096
# Does not match part of a date, which may have colons, too.
_AGENT = re.compile(r"""[\s"']*([\w*-]+)(?:/[\w.]*)?\s*""")
_SPLIT_NO = re.compile(r"\bno[ _-](?=(?:index|follow|archive|cache|snippet|ai|imageai)\b)")
_VALUED = re.compile(r"(max-(?:snippet|image-preview|video-preview))\s*[:=]\s*([\w-]+)")
"""Directives with a value, which may be `none`."""
_WORD = re.compile(r"[\w-]+")


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
    noai: bool = False
    """Do not give the text of the page to AI."""
    noimageai: bool = False
    """Do not give its images to AI."""

    def __or__(self, other: Wishes) -> Wishes:
        ends = [end for end in (self.unavailable_after, other.unavailable_after) if end is not None]
        return Wishes(
            self.noindex or other.noindex,
            self.nofollow or other.nofollow,
            self.noarchive or other.noarchive,
            self.nosnippet or other.nosnippet,
            min(ends, default=None),
            self.noai or other.noai,
            self.noimageai or other.noimageai,
        )

    def statements(self, source: str, field: str) -> list[str]:
        """What they say about uses of the page, as `web/publisher_wishes.py` reads it."""
        said = ("noai",) * self.noai + ("noimageai",) * self.noimageai
        return [statement(source, field, word) for word in said]


def wishes(content: str) -> Wishes:
    """Return the directives in the content of a robots meta element."""
    return _wishes(_parts(content[:MAX_CHARS]))


def header_wishes(header: str, agent: str) -> Wishes:
    """Return the directives in X-Robots-Tag headers that are for everybody or for `agent`.

    Several header fields are separated by line ends.
    """
    for_us: list[str] = []
    for field in header[:MAX_CHARS].split("\n"):
        is_for_us = True
        for part in _parts(field):
            name, colon, rest = part.partition(":")
            named = _AGENT.fullmatch(name) if colon else None
            if named is not None and named[1].lower() not in DIRECTIVES:
                is_for_us = named[1].lower() in {agent.lower(), *EVERYBODY}
                part = rest  # noqa: PLW2901  # without the agent's name
            if is_for_us:
                for_us.append(part)
    return _wishes(for_us)


def _parts(text: str) -> list[str]:
    """Split at commas and semicolons, except those within dates."""
    parts: list[str] = []
    for part in text.replace(";", ",").split(","):
        if parts and part.strip()[:1].isdigit() and UNAVAILABLE_AFTER in parts[-1].lower():
            parts[-1] += f",{part}"
        else:
            parts.append(part)
    return parts


def _wishes(parts: Iterable[str]) -> Wishes:
    words: set[str] = set()
    valued = Wishes()
    for part in parts:
        name, _, value = part.partition(":")
        if name.strip(" \t\"'").lower() == UNAVAILABLE_AFTER:
            valued |= Wishes(unavailable_after=parse_date(value.strip(" \t\"'")))
        text = _SPLIT_NO.sub("no", part.lower())
        valued |= Wishes(nosnippet=("max-snippet", "0") in _VALUED.findall(text))
        words.update(_WORD.findall(_VALUED.sub(" ", text)))
    return valued | Wishes(
        noindex=not words.isdisjoint(("noindex", "none")),
        nofollow=not words.isdisjoint(("nofollow", "none")),
        noarchive=not words.isdisjoint(("noarchive", "nocache")),
        nosnippet="nosnippet" in words,
        noai="noai" in words,
        noimageai="noimageai" in words,
    )
