"""Which documents are indexed: one per page and per body.

A page is indexed if its newest document was parsed and does not forbid it, the page still exists
(status `fetched`), and no better page has the same body. Of pages with equal bodies, the one with
the highest rank is indexed; of equal ranks, the one with the shortest URL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer import lsm
from gossamer.page_ranks import with_ranks
from gossamer.tables import PAGES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gossamer.workspace import Workspace

NEWEST = ("outcome", "noindex", "unavailable_after_ms", "digest")
"""Columns of `documents` that the decision needs, from the newest round of each URL."""


def dispositions(work: Workspace) -> DataFrame:
    """The `disposition` of every document of the crawl, as the manifest lists it now."""
    newest = (
        work.read("documents")
        .groupBy("url")
        .agg(
            *(F.max_by(name, "round").alias(name) for name in NEWEST),
            F.max("round").alias("round"),
        )
    )
    known = lsm.current(work, PAGES).select("url", "host", "status")
    ranked = with_ranks(work, newest.join(known, on="url", how="left"))
    return disposition(ranked, work.now_ms())


def disposition(newest: DataFrame, now_ms: int) -> DataFrame:
    """Per URL that has a document: its newest `round`, its `rank`, and its `disposition`.

    `newest` has the columns NEWEST of that document, its round, and the rank and status of its
    page. Dispositions are `indexed` and the reasons for leaving a page out: `dropped_status` (it is
    gone, redirects or may no longer be fetched), `dropped_outcome` (it has no text),
    `dropped_noindex`, `dropped_unavailable` (its `unavailable_after` has passed),
    `dropped_duplicate`.
    """
    left_out = (
        F.when(F.coalesce("status", F.lit("")) != "fetched", "dropped_status")
        .when(F.col("outcome") != "parsed", "dropped_outcome")
        .when(F.col("noindex"), "dropped_noindex")
        .when(F.col("unavailable_after_ms") <= now_ms, "dropped_unavailable")
    )
    equals = Window.partitionBy("left_out", F.coalesce("digest", "url")).orderBy(
        F.desc("rank"), F.length("url"), "url"
    )
    return (
        newest.withColumn("left_out", left_out)
        .withColumn("place", F.row_number().over(equals))
        .select(
            "url",
            "round",
            "rank",
            F.when(F.col("left_out").isNotNull(), F.col("left_out"))
            .when(F.col("place") > 1, "dropped_duplicate")
            .otherwise("indexed")
            .alias("disposition"),
        )
    )
