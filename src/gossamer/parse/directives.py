"""What a page asks of crawlers: the robots meta element and the X-Robots-Tag header.

There is no standard. The directives are those of the HTML 4 note (noindex, nofollow, none) in
the forms that Google documents: several, separated by commas, in any case; in the header an
agent's name and a colon may stand before those that are meant for it alone. Wishes add up: what
is asked of all and what is asked of us.
"""

from __future__ import annotations

import re
from typing import NamedTuple

VALUED = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))
"""Directives with a value after a colon, which is no agent's name then."""
MAX_CHARS = 4_096
_AGENT = re.compile(r"\s*([\w-]+)\s*")  # and no piece of a date, which has commas and colons too


class Wishes(NamedTuple):
    noindex: bool = False
    nofollow: bool = False

    def __or__(self, other: Wishes) -> Wishes:
        return Wishes(self.noindex or other.noindex, self.nofollow or other.nofollow)


def wishes(content: str) -> Wishes:
    """Of the content of a robots meta element."""
    return _wishes({word.strip() for word in content[:MAX_CHARS].lower().split(",")})


def header_wishes(header: str, agent: str) -> Wishes:
    """Of an X-Robots-Tag header, as far as it concerns us."""
    ours, words = True, set()
    for part in header[:MAX_CHARS].lower().split(","):
        name, colon, rest = part.partition(":")
        if colon and (match := _AGENT.fullmatch(name)) and match[1] not in VALUED:
            ours = match[1] == agent.lower()
            part = rest  # noqa: PLW2901  # what the agent's name stood before
        if ours:
            words.add(part.strip())
    return _wishes(words)


def _wishes(words: set[str]) -> Wishes:
    return Wishes(
        not words.isdisjoint(("noindex", "none")), not words.isdisjoint(("nofollow", "none"))
    )
