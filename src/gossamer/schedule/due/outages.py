"""Which failures are those of a host that is away? Its pages stay as they are, for a while.

A page that answers 404 may have been removed, or all pages of its host answer so after a failed
deployment. What else the host answers tells one from the other:

    removed    the host has answered with another page in the same round, or since this page failed
               before
    away       it has answered with none, and several pages failed, or its home page

A single page that fails, after its host has answered, is taken for removed: if the next one fails,
too, the host is away. The column `away_ms` of `hosts` says since when no page was answered. A page
of a host that is away keeps its status, and so its place in the index, until `update.away_days`
have passed. Afterwards, and if it is removed, it is gone from the try `max_tries` of its outcome
on (tables/outcomes.py).

What a server refuses (401, 403 and others of 4xx) or calls gone (410) is no outage, whatever else
the host answers.

A page that failed is asked for again without end. Each wait is twice the one before, so a page that
was away is found again within the time that it was away, at most. The longest wait is that of pages
that never change, and `update.interval_days` for what leads to other pages: seeds, home pages,
feeds and sitemaps.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.state import credible_times, lsm
from gossamer.tables import HOSTS
from gossamer.tables.outcomes import FAILED, HEARD, OUTCOMES

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from gossamer.config import UpdateConfig
    from gossamer.state.workspace import Workspace

AWAY_DDL = "url string, away_ms long"
GONE = 410
"""RFC 9110 §15.5.11: the server knows that it will not come back."""
HOME = r"^[a-z][a-z0-9+.-]*://[^/]*/$"
MAX_DOUBLINGS = 30


def pages_of_away_hosts(work: Workspace, answers: DataFrame) -> tuple[DataFrame, int]:
    """The pages that have failed in a round because their host is away, and their number.

    Rows of AWAY_DDL, materialised: since when the host is away.
    """
    nothing = work.engine.read([], AWAY_DDL), 0
    if not _may_have_failed(work):
        return nothing
    outages = [name for name in FAILED if not OUTCOMES[name].refuses]
    is_outage = F.col("outcome").isin(*outages) & ~F.col("http_status").eqNullSafe(GONE)
    failed = F.col("outcome").isin(*FAILED)
    of_hosts = answers.groupBy("host").agg(
        F.count_if(F.col("outcome").isin(*HEARD)).alias("heard"),
        F.count_if(failed).alias("failed"),
        F.min(F.when(failed, F.col("fetched_ms"))).alias("first_ms"),
    )
    silent, count = work.scratch(of_hosts.where("heard = 0 AND failed > 0"))
    if not count:
        return nothing
    known = lsm.rows_for(work, HOSTS, silent.select("host")).select("host", "away_ms")
    since = silent.join(known, on="host", how="left").withColumn(
        "away_ms", F.least("away_ms", "first_ms")
    )
    pages = answers.where(is_outage).select("url", "host", "fetched_ms")
    is_first = (F.col("failed") == 1) & (F.col("away_ms") == F.col("fetched_ms"))
    lasts_ms = int(work.config.update.away_days * credible_times.DAY_S * 1000)
    is_kept = (~is_first | F.col("url").rlike(HOME)) & (
        F.col("fetched_ms") < F.col("away_ms") + lasts_ms
    )
    return work.scratch(
        pages.join(since, on="host", how="inner").where(is_kept).select("url", "away_ms"), AWAY_DDL
    )


def is_kept() -> Column:
    """Whether a failed page keeps its status, from its old row and `r_away_ms`.

    Its host may have answered since it failed before.
    """
    failed_before = F.coalesce(F.col("failures") > 0, F.lit(False))
    has_answered = failed_before & (F.col("r_away_ms") > F.col("fetched_ms"))
    is_away = F.col("r_away_ms").isNotNull() & ~has_answered
    return F.col("stored_ms").isNotNull() & is_away


def retry_wait_s(config: UpdateConfig) -> Column:
    """The seconds until a page that failed is asked for again, after `tries` failures in a row."""
    usual_s = int(config.interval_days * credible_times.DAY_S)
    leads_on = (
        (F.col("source") == "seed")
        | F.col("kind").isin("feed", "sitemap")
        | F.col("url").rlike(HOME)
    )
    longest_s = F.when(F.coalesce(leads_on, F.lit(False)), usual_s).otherwise(
        int(credible_times.longest_page_wait_s(config))
    )
    doublings = F.least(F.col("tries") - 1, F.lit(MAX_DOUBLINGS))
    doubled_s = F.col("o_retry_wait_s") * F.pow(F.lit(2), doublings)
    within_s = F.greatest("o_retry_wait_s", F.least(doubled_s, longest_s))
    return F.greatest(within_s, F.coalesce("r_retry_after_s", F.lit(0))).cast("long")


def _may_have_failed(work: Workspace) -> bool:
    """Whether any page of the newest round has failed, as far as the report of its fetch says."""
    for done in reversed(work.store.manifest.history):
        if (done.step, done.round) == ("fetch", work.round):
            return not done.counts.keys().isdisjoint(FAILED)
    return True
