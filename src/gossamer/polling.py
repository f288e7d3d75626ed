"""When does a page list something new? Feeds, sitemaps and hubs are polled at rhythms of their own.

What makes a visit to such a page worthwhile are new pages that it links to, and it tells how many
there are. Two columns of `pages` hold what visits have found:

    finds         A   new pages in the last visits, LAST_FINDS at most
    finding_days  B   days within which they appeared

A visit after I days that finds k new pages adds k to A and I to B. Above LAST_FINDS, both shrink by
the same factor: older finds are forgotten, so that the rhythm follows the hours of the day, but
silence is not, so that a page that lists nothing new is asked ever more rarely.

If new pages come by chance at A/B per day, one has come with the probability 1/2 after ln 2 · B/A.
After this time, the page is due. As a visit then finds 0.7 new pages on average, three requests in
ten are in vain where each find is fetched. As long as no visit has found anything, A is taken to be
PRIOR_FINDS, and B longer: so that a feed is due a minute after its first visit, and a sitemap,
which may be large and one of thousands, an hour after it.

A feed or sitemap is due after `update.listing_seconds` at the earliest. A hub, any other page in
which a visit found something new, is due when its rhythm says so or its text has probably changed
(recrawl.py), whichever is earlier, but not before HUB_S: what finds new URLs at each visit may be a
trap. No wait is longer than `update.interval_days`.

Of pages that are due, those with a rhythm come first, and before them what they have just announced
(`is_news`). A link that several pages list is found in that which is visited first, and the others
are asked more rarely.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.tables.fetching import RHYTHM_S

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from gossamer.config import UpdateConfig

DAY_S = 86_400
LAST_FINDS = 8
PRIOR_FINDS = 0.5
HUB_S = 300
FIRST_WAITS_S = {"feed": 60, "sitemap": 3_600}
"""Seconds from the first visit of a listing to the second, by its kind."""
UNHURRIED_S = 3_600
ENTRY = "entry"
"""The source of a page that a listing announced as new."""
NEWS_MS = DAY_S * 1000
"""An entry is new if it was published or changed within this time, or if its listing was visited
before. Its page comes first within the same time."""
AHEAD = 2.0**40
"""The factor by which the score of a page with a rhythm grows. That of news grows twice by it."""


def kind() -> Column:
    """What a document is, as in `pages`: page, feed or sitemap; null if it could not be parsed."""
    is_sitemap = F.col("content_type").isin("application/x-sitemap+xml", "text/plain")
    listing = F.when(F.coalesce(is_sitemap, F.lit(False)), "sitemap").otherwise("feed")
    outcome = F.col("outcome")
    return F.when(outcome == "listing", listing).when(outcome == "parsed", "page")


def is_news(now_ms: int) -> Column:
    """Whether a link announces a new page."""
    is_recent = F.coalesce(F.col("dated_ms") >= now_ms - NEWS_MS, F.lit(False))
    return (F.col("relation") == "entry") & (~F.col("first") | is_recent)


def found(links: DataFrame, known: DataFrame) -> DataFrame:
    """How many new pages each visited page links to: `url` and `found`.

    `links`: those of pages that were visited before. `known`: all pages that they lead to and that
    were known before, by `url`.
    """
    unknown = links.join(known, links["dst"] == known["url"], how="left_anti")
    return unknown.groupBy(F.col("src").alias("url")).agg(F.count("*").alias("found"))


def of_known_pages(links: DataFrame) -> DataFrame:
    """The links in which a visit may have found something new: `src` and `dst`."""
    followed = ~F.col("first") & ~F.col("nofollow") & (F.col("relation") != "redirect")
    return links.where(followed).select("src", "dst")


def learned() -> dict[str, Column]:
    """The columns `finds` and `finding_days` after a round.

    From those of recrawl.visits, and `found`.
    """
    finds, days = F.coalesce("finds", F.lit(0.0)), F.coalesce("finding_days", F.lit(0.0))
    more = finds + F.coalesce("found", F.lit(0))
    kept = F.least(F.lit(1.0), LAST_FINDS / F.greatest(more, F.lit(LAST_FINDS)))
    is_visit = F.col("is_visit")
    return {
        "finds": F.when(is_visit, more * kept).otherwise(finds),
        "finding_days": F.when(is_visit, (days + F.col("visit_days")) * kept).otherwise(days),
    }


def wait_s(config: UpdateConfig) -> Column:
    """The seconds from an answer until a visit probably finds something new; null: no rhythm.

    Of the columns of `learned`, and `kind`. In this time, a new page appears with the probability
    1/2; after a first visit, it is that of FIRST_WAITS_S.
    """
    if not config.listing_seconds:
        return F.lit(None).cast("double")
    usual_s = config.interval_days * DAY_S
    finds, days, kind = F.col("finds"), F.col("finding_days"), F.col("kind")
    is_hub = (kind == "page") & (finds > 0)
    prior_days = F.lit(0.0)
    for listing, first_s in FIRST_WAITS_S.items():
        first_days = PRIOR_FINDS * min(first_s, usual_s) / DAY_S / math.log(2)
        prior_days = F.when(kind == listing, first_days).otherwise(prior_days)
    none_yet = (days + prior_days) / PRIOR_FINDS
    each_days = F.when(finds > 0, days / finds).otherwise(none_yet)
    least_s = F.when(is_hub, HUB_S).otherwise(config.listing_seconds)
    wait = F.greatest(least_s, math.log(2) * DAY_S * each_days)
    return F.when(is_hub | kind.isin(*FIRST_WAITS_S), F.least(F.lit(usual_s), wait))


def ahead(now_ms: int) -> Column:
    """The factor of a due page's score, by which those with a rhythm and news come first."""
    is_new = (F.col("source") == ENTRY) & F.col("fetched_ms").isNull()
    is_news = is_new & (F.col("found_ms") >= now_ms - NEWS_MS)
    return F.when(is_news, AHEAD * AHEAD).when(has_rhythm(), AHEAD).otherwise(1.0)


def has_rhythm() -> Column:
    """Whether one of `pages` waits by its rhythm, and not by `update.interval_days`."""
    return F.col("interval_s").eqNullSafe(RHYTHM_S)
