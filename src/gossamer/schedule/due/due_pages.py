"""When known pages are due.

A row of `pages` contains when its page is due, and `update.interval_days` as of then. If that has
changed since, the due time shifts by the difference, unless the page has a rhythm of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.schedule.due import listing_polls
from gossamer.state import credible_times
from gossamer.tables.outcomes import FILTERED, SETTINGS_DECIDE

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from gossamer.config import UpdateConfig

NEVER_AGAIN = ("alias",)
"""Statuses of pages that are never due, besides those that the filters refuse."""
RECRAWLED = ("fetched_ms", "failures", "rate", "doubt", "recall")
"""Columns on which the gain of a visit depends (change_rates.py), besides `stored_ms`."""
POLLED = ("source", "found_ms", "interval_s")
"""What else it depends on whether a page comes before others (see listing_polls.py)."""
JUDGED = ("fit", "judged_links", "fit_links")
"""Columns on which the promise of a page depends (fit_prediction.py)."""


def is_refused() -> Column:
    """Whether the filters refuse a page, since `refilter`."""
    return F.col("status").eqNullSafe("excluded") & F.col("outcome").eqNullSafe(FILTERED)


def is_never_due() -> Column:
    return F.col("status").isin(*NEVER_AGAIN) | is_refused()


def interval_s(config: UpdateConfig) -> int:
    """The interval after which a page is due again."""
    return int(config.interval_days * 86_400)


def due_pages(
    known: DataFrame,
    now_ms: int,
    config: UpdateConfig,
    settings_changed_ms: int = 0,
    *,
    is_endless: bool = True,
) -> DataFrame:
    """The pages that may be fetched now, by the settings that count now.

    A seed whose outcome depends on settings is due again if the settings have changed since it was
    requested.

    There are few CASEs, since `generate` evaluates all of them for every known page.
    """
    is_due = (due_ms(config, is_endless=is_endless) <= now_ms) | ~is_credible(now_ms, config)
    asked_ms = F.coalesce("fetched_ms", F.col("next_fetch_ms") - F.col("interval_s") * 1000)
    reconsidered = (
        (F.col("source") == "seed")
        & F.col("outcome").isNotNull()
        & F.col("outcome").isin(*SETTINGS_DECIDE)
        & (asked_ms < settings_changed_ms)
    )
    wanted = (~is_never_due() & is_due) | reconsidered
    return known.where(wanted).select(
        "url",
        "host",
        "depth",
        "hops",
        "inlinks",
        "cash",
        "history",
        "fetches",
        F.col("fetched_ms").isNotNull().alias("asked"),
        "etag",
        "last_modified",
        "digest",
        "stored_ms",
        "headers",
        "spelling",
        "announced",
        *RECRAWLED,
        *POLLED,
        *JUDGED,
        F.lit(False).alias("own"),
    )


def drop_waiting_hosts(due: DataFrame, hosts: DataFrame, now_ms: int, by_ms: int) -> DataFrame:
    """Drop the pages of hosts that must not be contacted until after `by_ms`."""
    contacted_ms = F.coalesce("contacted_ms", F.lit(0))
    waits = credible_times.host_waits(F.col("ready_ms"), contacted_ms, now_ms, by_ms)
    return due.join(hosts.where(waits).select("host"), on="host", how="left_anti")


def is_credible(now_ms: int, config: UpdateConfig) -> Column:
    """Whether the due time of a page is believed; if not, the page is due now.

    Null for a page that was never requested, unless its due time is not believed.
    """
    longest_s = credible_times.longest_page_wait_s(config)
    times = F.col("next_fetch_ms"), F.col("fetched_ms")
    believed: Column = credible_times.is_credible_wait(*times, now_ms, longest_s)
    return believed


def due_ms(config: UpdateConfig, *, is_endless: bool = True) -> Column:
    """When a page is due. A page that failed is due after its own wait, whatever the interval.

    `is_endless`: as of a workspace.
    """
    shifts = (
        (F.col("failures") == 0) & F.col("interval_s").isNotNull() & ~listing_polls.has_rhythm()
    )
    shift_ms = (interval_s(config) - F.col("interval_s")) * 1000
    when_ms = F.col("next_fetch_ms") + F.when(shifts, shift_ms).otherwise(F.lit(0))
    if is_endless:
        return when_ms
    hurries = listing_polls.has_rhythm() & (F.col("next_fetch_ms") > 0)
    return F.greatest(
        when_ms, F.when(hurries, F.col("fetched_ms") + listing_polls.UNHURRIED_S * 1000)
    )
