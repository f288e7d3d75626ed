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

A listing also dates pages that are known and stored, and each visit tells how many of them have a
newer date than before. Let δ of these dates a day be true, by what visits to pages of its host have
found (change_habits.py). Visits each T days leave the changes unknown for T/2 days, δ·T/2 page-days
a day, and cost 1/T requests a day, each of which would keep some other page fresh for a while: it
is taken for a quarter of `update.interval_days`, I. The sum is least with T = √(I/2δ), after which
a listing is due, if not before. The column `date_rate` holds δ, an average in which each visit
counts for DATES_SHARE of what is new. With I = 30, 15 true dates a day lead to a visit a day.

A feed or sitemap is due after `update.feed_interval_s` at the earliest. A feed that is a seed, or
one link away from a seed and announced by its own site, is due after
`update.feed_longest_interval_s` at the latest: a user who names a site wants to know soon when it
breaks a long silence. A seed that lists other people's feeds has no say about them.

A hub, any other page in which a visit found something new, is due when its rhythm says so or its
text has probably changed (change_rates.py), whichever is earlier, but not before HUB_S: what finds
new URLs at each visit may be a trap. No wait is longer than `update.interval_days`.

Of pages that are due, those with a rhythm come first, and before them what they have just announced
(`is_news`). A link that several pages list is found in that which is visited first, and the others
are asked more rarely.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.schedule.due.change_rates import PRIOR_TRUTH, credible_ms
from gossamer.tables.fetching import RHYTHM_S

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from gossamer.config import UpdateConfig

DAY_S = 86_400
LAST_FINDS = 8
PRIOR_FINDS = 0.5
DATES_SHARE, LEAST_DAYS = 1 / 4, 1 / DAY_S
HUB_S = 300
FIRST_WAITS_S = {"feed": 60, "sitemap": 3_600}
"""Seconds from the first visit of a listing to the second, by its kind."""
FOUND = ("found", "found_dates")
"""The numbers of new pages, and of newer dates of stored ones, that a visit of a page lists."""
UNHURRIED_S = 3_600
ENTRY = "entry"
"""The source of a page that a listing announced as new."""
NEWS_MS = DAY_S * 1000
"""An entry is new if it was published or changed within this time, or if its listing was visited
before. Its page comes first within the same time."""
AHEAD = 2.0**40
"""The factor by which the score of a page with a rhythm grows. That of news grows twice by it."""


def kind_of_document() -> Column:
    """What a document is, as in `pages`: page, feed or sitemap; null if it could not be parsed."""
    is_sitemap = F.col("content_type").isin("application/x-sitemap+xml", "text/plain")
    listing = F.when(F.coalesce(is_sitemap, F.lit(False)), "sitemap").otherwise("feed")
    outcome = F.col("outcome")
    return F.when(outcome == "listing", listing).when(outcome == "parsed", "page")


def is_news(now_ms: int) -> Column:
    """Whether a link announces a new page."""
    is_recent = F.coalesce(F.col("dated_ms") >= now_ms - NEWS_MS, F.lit(False))
    return (F.col("relation") == "entry") & (~F.col("first") | is_recent)


def count_listed(links: DataFrame, known: DataFrame) -> DataFrame:
    """What visited pages list: `url`, and the columns FOUND, unless these are 0.

    `links`: those of pages that were visited before. `known`: the old rows of all pages that they
    lead to and that were known before.
    """
    before = known.select(F.col("url").alias("dst"), "stored_ms", F.col("dated_ms").alias("old_ms"))
    is_dated = F.col("stored_ms").isNotNull() & (F.col("dated_ms") > F.col("old_ms"))
    counts = {"found": F.col("stored").isNull(), "found_dates": is_dated}
    before = before.withColumn("stored", F.lit(True))
    both = links.join(before, on="dst", how="left")
    sums = [F.count_if(F.coalesce(each, F.lit(False))).alias(n) for n, each in counts.items()]
    listed = both.groupBy(F.col("src").alias("url")).agg(*sums)
    return listed.where((F.col("found") > 0) | (F.col("found_dates") > 0))


def polled_links(links: DataFrame, now_ms: int) -> DataFrame:
    """The links in which a visit may have found something new: `src`, `dst` and `dated_ms`."""
    followed = ~F.col("first") & ~F.col("nofollow") & (F.col("relation") != "redirect")
    return links.where(followed).select("src", "dst", credible_ms(now_ms).alias("dated_ms"))


def learn_finds() -> dict[str, Column]:
    """What is known of listings after a round: `finds`, `finding_days` and `date_rate`.

    From the columns of change_rates.visit_columns, and FOUND.
    """
    finds, days = F.coalesce("finds", F.lit(0.0)), F.coalesce("finding_days", F.lit(0.0))
    more = finds + F.coalesce("found", F.lit(0))
    kept = F.least(F.lit(1.0), LAST_FINDS / F.greatest(more, F.lit(LAST_FINDS)))
    is_visit = F.col("is_visit")
    rate = F.coalesce("date_rate", F.lit(0.0))
    true = F.coalesce("true_share", F.lit(PRIOR_TRUTH)) * F.coalesce("found_dates", F.lit(0))
    of_visit = true / F.greatest(F.col("visit_days"), F.lit(LEAST_DAYS))
    rate_now = rate + F.when(rate > 0, F.lit(DATES_SHARE)).otherwise(F.lit(1.0)) * (of_visit - rate)
    return {
        "date_rate": F.when(is_visit, rate_now).otherwise(rate),
        "finds": F.when(is_visit, more * kept).otherwise(finds),
        "finding_days": F.when(is_visit, (days + F.col("visit_days")) * kept).otherwise(days),
    }


def wait_s(config: UpdateConfig) -> Column:
    """The seconds from an answer until a visit probably finds something new; null: no rhythm.

    It follows from the columns of `learn_finds`, and `kind`. In this time, a new page appears with
    the probability 1/2; after a first visit, it is that of FIRST_WAITS_S.
    """
    if not config.feed_interval_s:
        return F.lit(None).cast("double")
    usual_s = config.interval_days * DAY_S
    finds, days, kind = F.col("finds"), F.col("finding_days"), F.col("kind")
    is_hub = (kind == "page") & (finds > 0)
    rate = F.col("date_rate")
    of_dates_s = F.when(rate > 0, F.sqrt(config.interval_days / 2 / rate) * DAY_S)
    prior_days = F.lit(0.0)
    for listing, first_s in FIRST_WAITS_S.items():
        first_days = PRIOR_FINDS * min(first_s, usual_s) / DAY_S / math.log(2)
        prior_days = F.when(kind == listing, first_days).otherwise(prior_days)
    none_yet = (days + prior_days) / PRIOR_FINDS
    each_days = F.when(finds > 0, days / finds).otherwise(none_yet)
    least_s = F.when(is_hub, HUB_S).otherwise(config.feed_interval_s)
    of_finds_s = math.log(2) * DAY_S * each_days
    is_announced = (F.col("depth") == 1) & F.col("announced")
    is_watched = (kind == "feed") & ((F.col("depth") == 0) | is_announced)
    longest_s = F.when(is_watched, F.lit(config.feed_longest_interval_s))
    hoped_s = F.least(of_finds_s, of_dates_s, longest_s)
    wait = F.least(F.lit(usual_s), F.greatest(least_s, hoped_s))
    return F.when(is_hub | kind.isin(*FIRST_WAITS_S), wait)


def rhythm_factor(now_ms: int) -> Column:
    """The factor of a due page's score, by which those with a rhythm and news come first."""
    is_new = (F.col("source") == ENTRY) & F.col("fetched_ms").isNull()
    is_news = is_new & (F.col("found_ms") >= now_ms - NEWS_MS)
    return F.when(is_news, AHEAD * AHEAD).when(has_rhythm(), AHEAD).otherwise(1.0)


def has_rhythm() -> Column:
    """Whether one of `pages` waits by its rhythm, and not by `update.interval_days`."""
    return F.col("interval_s").eqNullSafe(RHYTHM_S)
