"""Which pages have the same text? Their main texts and titles have the same words (`text_hash`).

Pages without a text are equal if their bodies are. One text under many URLs of a host is probably
no page at all, but what a server answers for pages that do not exist (a soft 404), or for all pages
of a parked domain. The reason says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer.dedup.survivors import CLEAR_CLASSES, add_standing, survivor_order

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SOFT_404_PAGES = 20
"""URLs of a host from which their one text is taken for a soft 404."""


def pages_with_shared_texts(fit: DataFrame) -> DataFrame:
    """The pages whose text another page has, too."""
    texts = fit.groupBy("text").agg(F.count("*").alias("pages")).where("pages > 1").select("text")
    return fit.join(texts, on="text", how="left_semi")


def equal_duplicates(fit: DataFrame) -> DataFrame:
    """The pages that another one with an equal text stands for, as in `near_duplicates`.

    Reasons: `canonical`, `mirror`, `text`, `body` and `soft_404`. `fit` must be materialised, and
    have the columns of `add_owners`.
    """
    copies = fit.where("canonical IS NOT NULL").select(
        F.col("url").alias("copy"), "text", F.col("canonical").alias("url"), "rank", "first_ms"
    )
    originals = fit.where("canonical IS NULL").select("url", "text")
    agreed = copies.join(originals, on=["url", "text"], how="inner")
    everything = (Window.unboundedPreceding, Window.unboundedFollowing)
    of_host = Window.partitionBy("text", "host").rowsBetween(*everything)
    placed = _mark_copies(add_standing(fit, agreed))
    chosen = placed.withColumn(
        "survivor", F.first("url").over(Window.partitionBy("text").orderBy(*survivor_order()))
    ).withColumn("alike", F.count("*").over(of_host))
    named = F.when(F.col("is_mirrored"), "mirror").otherwise("canonical")
    reason = (
        F.when(F.col("alike") >= SOFT_404_PAGES, "soft_404")
        .when(F.col("canonical") == F.col("survivor"), named)
        .when(F.col("by_body"), "body")
        .otherwise("text")
    )
    return chosen.where(F.col("survivor") != F.col("url")).select(
        "url", "survivor", reason.alias("reason"), F.lit(1.0).alias("similarity")
    )


def _mark_copies(placed: DataFrame) -> DataFrame:
    """Add `is_copy`: whether another domain had the text before, and is not clearly outranked."""
    everything = (Window.unboundedPreceding, Window.unboundedFollowing)
    of_owner = Window.partitionBy("text", "domain").rowsBetween(*everything)
    of_text = Window.partitionBy("text").rowsBetween(*everything)
    stands = F.col("yields") == 0
    owned = placed.withColumns(
        {
            "owner_ms": F.min(F.when(stands, F.col("first_ms"))).over(of_owner),
            "owner_voters": F.max(F.when(stands, F.col("voters"))).over(of_owner),
        }
    )
    clear = F.max("owner_voters").over(of_text) - CLEAR_CLASSES
    contends = owned.withColumn("contends", F.col("owner_voters") > clear)
    first_ms = F.min(F.when(F.col("contends"), F.col("owner_ms"))).over(of_text)
    is_copy = ~F.col("contends") | (F.col("owner_ms") > first_ms)
    return contends.withColumn("is_copy", F.coalesce(is_copy, F.lit(False)))
