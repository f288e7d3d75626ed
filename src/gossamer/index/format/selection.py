"""Which documents are indexed: those that the step `dedup` selected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.engine.engine import engine_errors
from gossamer.errors import UsageError
from gossamer.schedule.order.page_ranks import add_rank
from gossamer.state import lsm
from gossamer.tables import DISPOSITIONS, DOCUMENTS
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace


DECISIVE = (
    *("url", "round", "disposition", "survivor", "reason"),
    *("copy_count", "version_count", "copies"),
)
"""Columns of `dispositions` that decide what the index holds of a page."""


def standing_dispositions(work: Workspace) -> DataFrame:
    """What becomes of each document. Raises UsageError if `dedup` has not run yet."""
    layers = work.store.manifest.layers
    if layers(DOCUMENTS.name) and not layers(DISPOSITIONS.name):
        remedy = f"gossamer dedup {work.root}"
        raise UsageError(work.root, "it is not known yet which pages have equal texts", remedy)
    return lsm.current(work, DISPOSITIONS)


def count_dispositions(work: Workspace) -> dict[str, int]:
    """The number of documents with each disposition. Raises as `standing_dispositions` does."""
    with engine_errors():
        counted = standing_dispositions(work).groupBy("disposition").count().collect()
    return {row["disposition"]: row["count"] for row in counted}


def decisive_rows(work: Workspace, pages: DataFrame | None) -> DataFrame:
    """The columns DECISIVE for pages (`url`), and for those they stand for; None: for all pages.

    `pages` must be materialised.
    """

    def select_rows(layer: DataFrame) -> DataFrame:
        rows = layer.select(*DECISIVE)
        if pages is None:
            return rows
        urls = pages.select("url")
        survivors = urls.withColumnRenamed("url", "survivor")
        standing = rows.where("survivor IS NULL").join(urls, on="url", how="left_semi")
        copies = rows.where("survivor IS NOT NULL")
        return standing.unionByName(copies.join(survivors, on="survivor", how="left_semi"))

    return lsm.newest_rows(
        lsm.layer_frames(work, DISPOSITIONS, some=pages is not None), "url", select_rows
    )


def indexed_pages(work: Workspace) -> DataFrame:
    """The pages that are indexed: `url`, `round`, and `rank`, with those that each stands for."""
    fit = "disposition IN ('indexed', 'dropped_duplicate')"
    pages, count = work.scratch(
        lsm.newest_rows(
            lsm.layer_frames(work, DISPOSITIONS),
            "url",
            lambda layer: layer.where(fit).select(
                "url", "round", "survivor", (F.col("copy_count") > 0).alias("has_copies")
            ),
        ).withColumn("host", host_column(F.col("url")))
    )
    ranked = add_rank(work, pages, count)
    groups = ranked.where("survivor IS NOT NULL OR has_copies")
    sums = groups.groupBy(F.coalesce("survivor", "url").alias("url")).agg(
        F.max(F.when(F.col("survivor").isNull(), F.col("round"))).alias("round"),
        F.sum("rank").alias("rank"),
    )
    alone = ranked.where("survivor IS NULL AND NOT has_copies").select("url", "round", "rank")
    return alone.unionByName(sums)
