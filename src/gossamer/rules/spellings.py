"""Which spellings of a URL does robots.txt have to allow?

A page has one URL: the normal form of links to it, which learned rules may have rewritten. That URL
is requested, so robots.txt must allow it. But it may not be what pages wrote: the normal form lacks
session ids and tracking parameters, and rules drop further ones. A webmaster who forbids
`/*?sid=` does not expect that a link to `/a?sid=1` leads to `/a`.

So a link keeps its `spelling`, if that differs, and so does the page that it leads to. The fetch
requests a page only if robots.txt allows both. Of several links to a page, this one counts:

    rank  spelling  the link
    0     null      of the page's own host, or a seed, to the page's very URL
    1     a URL     of its own host, in another spelling
    2     "#"       of another host, to the page's very URL
    3     "URL#"    of another host, in another spelling

Each host decides about its own pages: how others spell a page matters only while no page of its
host links to it. And once its host has linked to the very URL of a page, that URL is judged by
itself (RFC 9309 §2.2.2). docs/decisions.md says what it would cost if any other spelling closed it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.web.urls import host_column, host_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import Column

    from gossamer.web.robots_txt import Robots

FOREIGN = "#"
"""Ends a spelling that other hosts have; no URL that is requested contains it."""


def first_forbidden(robots: Robots, agent: str, spellings: Iterable[str | None]) -> str | None:
    """The first of a page's spellings that robots.txt forbids, so that it must not be requested."""
    written = {spelling.removesuffix(FOREIGN): None for spelling in spellings if spelling}
    return next((url for url in written if url and not robots.allows(agent, url)), None)


def spelling_from(src: str, dst: str, spelling: str | None) -> str | None:
    """The spelling of `dst` that a link of the page `src` has."""
    return spelling if host_of(src) == host_of(dst) else f"{spelling or ''}{FOREIGN}"


def plainer(one: str | None, other: str | None) -> str | None:
    """The spelling that counts of two links to a page."""
    return None if one is None or other is None else min(one, other, key=_rank_and_text)


def _rank_and_text(spelling: str) -> tuple[int, str]:
    return (1 if not spelling.endswith(FOREIGN) else 2 if spelling == FOREIGN else 3), spelling


def linked_spelling() -> Column:
    """`spelling_from` of rows of `links`."""
    from pyspark.sql import functions as F

    is_own = host_column(F.col("src")) == host_column(F.col("dst"))
    return F.when(is_own, F.col("spelling")).otherwise(
        F.concat(F.coalesce("spelling", F.lit("")), F.lit(FOREIGN))
    )


def spelling_rank(spelling: Column) -> Column:
    from pyspark.sql import functions as F

    return (
        F.when(spelling.isNull(), 0)
        .when(~F.endswith(spelling, F.lit(FOREIGN)), 1)
        .when(spelling == FOREIGN, 2)
        .otherwise(3)
    )


def plainest(col: Column | str) -> Column:
    """`plainer` of the rows of a group."""
    from pyspark.sql import functions as F

    spelling = F.col(col) if isinstance(col, str) else col
    ranked = F.concat(spelling_rank(spelling).cast("string"), F.coalesce(spelling, F.lit("")))
    least = F.min(ranked)
    return F.when(least != "0", F.substring(least, 2, 1 << 30))


def spelling_after(before: Column, found: Column) -> Column:
    """The spelling of a known page to which a round has found links: the latest of the best rank.

    A site may have changed its links since.
    """
    from pyspark.sql import functions as F

    return F.when(spelling_rank(before) < spelling_rank(found), before).otherwise(found)
