"""The dataset documents as what may be found, once.

A page may be found when its newest document was parsed and does not forbid it, the page is still
there (status `fetched`), and no better page has the same body: of equals the one of the highest
rank stays, then of the shortest URL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer import states
from gossamer.tables import PAGES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gossamer.workspace import Workspace

NEWEST = ("outcome", "noindex", "unavailable_after_ms", "digest")
"""Columns that decide on a document; those of its newest round count."""


def fates(work: Workspace) -> DataFrame:
    """`fate` of the crawl as it is now."""
    known = states.current(work, PAGES)
    return fate(work.read("documents"), known, work.read("ranks"), work.now_ms())


def fate(documents: DataFrame, known: DataFrame, ranks: DataFrame, now_ms: int) -> DataFrame:
    """Per URL that has a document: its newest `round`, its `rank`, and its `fate`.

    Fates: `indexed`, and the reasons of those left out: `dropped_status` (the page is gone,
    redirects or may not be fetched any more), `dropped_outcome` (no text), `dropped_noindex`,
    `dropped_unavailable` (the page asked to be gone by now), `dropped_duplicate`.
    """
    newest = documents.groupBy("url").agg(
        *(F.max_by(name, "round").alias(name) for name in NEWEST),
        F.max("round").alias("round"),
    )
    left_out = (
        F.when(F.coalesce("status", F.lit("")) != "fetched", "dropped_status")
        .when(F.col("outcome") != "parsed", "dropped_outcome")
        .when(F.col("noindex"), "dropped_noindex")
        .when(F.col("unavailable_after_ms") <= now_ms, "dropped_unavailable")
    )
    equals = Window.partitionBy("left_out", F.coalesce("digest", "url")).orderBy(
        F.desc_nulls_last("rank"), F.length("url"), "url"
    )
    return (
        newest.join(known.select("url", "status"), on="url", how="left")
        .join(ranks, on="url", how="left")
        .withColumn("left_out", left_out)
        .withColumn("place", F.row_number().over(equals))
        .select(
            "url",
            "round",
            "rank",
            F.when(F.col("left_out").isNotNull(), F.col("left_out"))
            .when(F.col("place") > 1, "dropped_duplicate")
            .otherwise("indexed")
            .alias("fate"),
        )
    )
