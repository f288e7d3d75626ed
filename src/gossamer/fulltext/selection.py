"""Which documents are indexed: those that the step `dedup` selected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer import lsm
from gossamer.errors import UsageError
from gossamer.page_ranks import with_ranks
from gossamer.tables import DISPOSITIONS, DOCUMENTS
from gossamer.urls import host_column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gossamer.workspace import Workspace


def dispositions(work: Workspace) -> DataFrame:
    """What becomes of each document. Raises UsageError if `dedup` has not run yet."""
    layers = work.store.manifest.layers
    if layers(DOCUMENTS.name) and not layers(DISPOSITIONS.name):
        remedy = f"gossamer dedup {work.root}"
        raise UsageError(work.root, "it is not known yet which pages have equal texts", remedy)
    return lsm.current(work, DISPOSITIONS)


def with_rank(work: Workspace, rows: DataFrame) -> DataFrame:
    """Add `rank` to dispositions: that of the page and of all that it stands for.

    It is null for pages that are not indexed. `rows` must be materialised.
    """
    pages = rows.where("disposition IN ('indexed', 'dropped_duplicate')").select(
        "url",
        host_column(F.col("url")).alias("host"),
        F.coalesce("survivor", "url").alias("indexed"),
    )
    ranks = with_ranks(work, pages).groupBy(F.col("indexed").alias("url"))
    return ranks.agg(F.sum("rank").alias("rank")).join(rows, on="url", how="right")
