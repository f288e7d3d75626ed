"""When known pages are due, and when the next one will be.

A row of `pages` contains when its page is due, and `update.interval_days` as of then. If that has
changed since, the due time shifts by the difference.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer import lsm
from gossamer.outcomes import FILTERED, SETTINGS_DECIDE
from gossamer.tables import HOSTS, PAGES

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from gossamer.workspace import Workspace

NEVER_AGAIN = ("gone", "alias")
"""Statuses of pages that are never due, besides those that the filters refuse."""
RECRAWLED = ("fetched_ms", "failures", "changes", "watched_days")
"""Columns on which the gain of a visit depends (recrawl.py), besides `stored_ms`."""
POLLED = ("source", "found_ms", "interval_s")
"""Columns on which it depends whether a page comes before others (polling.py), besides these."""


def is_refused() -> Column:
    """Whether the filters refuse a page, since `refilter`."""
    refused = (F.col("status") == "excluded") & (F.col("outcome") == FILTERED)
    return F.coalesce(refused, F.lit(False))


def is_never_due() -> Column:
    return F.col("status").isin(*NEVER_AGAIN) | is_refused()


def interval_s(work: Workspace) -> int:
    """The interval after which a page is due again."""
    return int(work.config.update.interval_days * 86_400)


def patience_ms(work: Workspace) -> int:
    """How long a round waits for a host that must not be contacted yet."""
    return int(work.config.fetch.max_delay_s * 1000)


def due_pages(
    known: DataFrame, now_ms: int, interval_s: int | None = None, settings_changed_ms: int = 0
) -> DataFrame:
    """The pages that may be fetched now, given the interval that counts now.

    A seed whose outcome depends on settings is due again if the settings have changed since it was
    requested.
    """
    on_time = ~is_never_due() & (due_ms(interval_s) <= now_ms)
    asked_ms = F.coalesce("fetched_ms", F.col("next_fetch_ms") - F.col("interval_s") * 1000)
    reconsidered = (
        (F.col("source") == "seed")
        & F.coalesce(F.col("outcome").isin(*SETTINGS_DECIDE), F.lit(False))
        & (asked_ms < settings_changed_ms)
    )
    return known.where(on_time | reconsidered).select(
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
        *RECRAWLED,
        *POLLED,
        F.lit(False).alias("own"),
    )


def of_ready_hosts(due: DataFrame, hosts: DataFrame, ready_ms: int) -> DataFrame:
    """Drop the pages of hosts that must not be contacted until after `ready_ms`."""
    waiting = hosts.where(F.col("ready_ms") > ready_ms).select("host")
    return due.join(waiting, on="host", how="left_anti")


def next_due_ms(work: Workspace, after_ms: int = 0) -> int | None:
    """When the first page is due after some moment; None if none ever is.

    A page of a host that must not be contacted is due when a round would wait for that host. So
    `due_times` cannot tell; to read only the pages of its next slot took 1.5 times the CPU of this
    pass, which takes 0.25 s per million pages.
    """
    waiting = lsm.current(work, PAGES).where(~is_never_due())
    when_ms = due_ms(interval_s(work))
    if work.store.manifest.layers(HOSTS.name):
        hosts = lsm.current(work, HOSTS).select("host", "ready_ms")
        waiting = waiting.join(hosts, on="host", how="left")
        when_ms = F.greatest(when_ms, F.col("ready_ms") - patience_ms(work))
    found: int | None = (
        waiting.select(when_ms.alias("due_ms"))
        .where(F.col("due_ms") > after_ms)
        .agg(F.min("due_ms"))
        .collect()[0][0]
    )
    return found


def due_ms(interval_s: int | None) -> Column:
    """When a page is due. A page that failed is due after its own wait, whatever the interval."""
    changed_ms = (F.lit(interval_s) - F.col("interval_s")) * 1000
    shift = F.when(F.col("failures") == 0, F.coalesce(changed_ms, F.lit(0))).otherwise(F.lit(0))
    return F.col("next_fetch_ms") + shift
