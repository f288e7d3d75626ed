"""When known pages are due.

A row of `pages` contains when its page is due, and `update.interval_days` as of then. If that has
changed since, the due time shifts by the difference, unless the page has a rhythm of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.schedule.due import listing_polls
from gossamer.tables.outcomes import FILTERED, SETTINGS_DECIDE

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from gossamer.state.workspace import Workspace

NEVER_AGAIN = ("gone", "alias")
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


def interval_s(work: Workspace) -> int:
    """The interval after which a page is due again."""
    return int(work.config.update.interval_days * 86_400)


def due_pages(
    known: DataFrame,
    now_ms: int,
    interval_s: int | None = None,
    settings_changed_ms: int = 0,
    *,
    is_endless: bool = True,
) -> DataFrame:
    """The pages that may be fetched now, given the interval that counts now.

    A seed whose outcome depends on settings is due again if the settings have changed since it was
    requested.

    There are few CASEs, since `generate` evaluates all of them for every known page.
    """
    is_due = due_ms(interval_s, is_endless=is_endless) <= now_ms
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
        *RECRAWLED,
        *POLLED,
        *JUDGED,
        F.lit(False).alias("own"),
    )


def drop_waiting_hosts(due: DataFrame, hosts: DataFrame, ready_ms: int) -> DataFrame:
    """Drop the pages of hosts that must not be contacted until after `ready_ms`."""
    waiting = hosts.where(F.col("ready_ms") > ready_ms).select("host")
    return due.join(waiting, on="host", how="left_anti")


def due_ms(interval_s: int | None, *, is_endless: bool = True) -> Column:
    """When a page is due. A page that failed is due after its own wait, whatever the interval.

    `is_endless`: as of a workspace.
    """
    when_ms = F.col("next_fetch_ms")
    if interval_s is not None:
        shifts = (
            (F.col("failures") == 0) & F.col("interval_s").isNotNull() & ~listing_polls.has_rhythm()
        )
        shift_ms = (interval_s - F.col("interval_s")) * 1000
        when_ms += F.when(shifts, shift_ms).otherwise(F.lit(0))
    if is_endless:
        return when_ms
    hurries = listing_polls.has_rhythm() & (F.col("next_fetch_ms") > 0)
    return F.greatest(
        when_ms, F.when(hurries, F.col("fetched_ms") + listing_polls.UNHURRIED_S * 1000)
    )
