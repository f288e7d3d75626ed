"""Which spellings of a URL does robots.txt have to allow?

A page has one URL: the normal form of links to it, which learned rules may have rewritten. That URL
is requested, so robots.txt must allow it. But it may not be what pages wrote: the normal form lacks
session ids and tracking parameters, and rules drop further ones. A webmaster who forbids
`/*?sid=` does not expect that a link to `/a?sid=1` leads to `/a`.

So a link keeps its `spelling`, if that differs, and so does the page that it leads to. The fetch
requests a page only if robots.txt allows both. As soon as a link has the page's URL itself, no
spelling is kept: the page was written about, and each URL is judged by itself (RFC 9309 §2.2.2).
If any other spelling could close a page, everybody could close the pages of a site that forbids
`/*utm_source=`, by a link with that parameter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import Column

    from gossamer.web.robots_txt import Robots


def first_forbidden(robots: Robots, agent: str, spellings: Iterable[str | None]) -> str | None:
    """The first of a page's spellings that robots.txt forbids, so that it must not be requested."""
    written = (spelling for spelling in spellings if spelling is not None)
    return next((spelling for spelling in written if not robots.allows(agent, spelling)), None)


def plainer(one: str | None, other: str | None) -> str | None:
    """The spelling that is kept of two links to a page; None is the page's URL."""
    return None if one is None or other is None else min(one, other)


def plainest(col: Column | str) -> Column:
    """`plainer` of the rows of a group."""
    from pyspark.sql import functions as F

    return F.when(F.count(col) == F.count("*"), F.min(col))
