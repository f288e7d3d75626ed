"""What of the pages that may be found is not in the index as it is: documents come, change and go.

The dataset `indexed` says what the index holds: of each page the round of its document and a hash
of the files that it came from (another one, where that round was parsed again), the index it is in
(shard and language), a hash of its anchors, and its merit. A page is written again where one of
them differs. Merit is PageRank times the number of pages, 1 for an average page: it moves a little
with every round, and for all pages, so it only counts where its weight in the ranking (the
logarithm, see serve/ranking.py) has moved by DRIFT.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import xxhash
from pyspark.sql import functions as F

from gossamer.index.analysis import OTHER, STEMMERS
from gossamer.index.layout import FIRST

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from gossamer.workspace import Workspace

DRIFT = 0.5
"""Of log2(1 + merit): with the weight of 0.5 a quarter of a point, where words give ten."""

MIN_TIERED = 50_000
"""Pages from which on an index has tiers: fewer are searched as fast without."""
STAYS = 0.7
"""Of the merit that makes a page popular: so few change tiers when ranks move a little."""

KEPT, ADDED, REPLACED, REMOVED = "kept", "added", "replaced", "removed"


def anchors(work: Workspace) -> DataFrame:
    """By `url` the words of links that lead there: the first that have some."""
    said = F.filter(F.col("sources.anchor"), lambda anchor: F.length(anchor) > 0)
    first = F.slice(said, 1, work.config.index.anchors)
    return work.read("inlinks").select(F.col("dst").alias("url"), first.alias("anchors"))


def wanted(work: Workspace, fates: DataFrame, pages: int) -> DataFrame:
    """What the index shall hold: rows of the dataset `indexed`. `pages` of the fates are found."""
    chosen = fates.where("fate = 'indexed'")
    documents = (
        work.read("documents")
        .select("url", "round", "host", "language")
        .join(chosen, on=["url", "round"], how="inner")
    )
    # Sail's xxhash64 fails on a column that is constant, as where nobody links to anybody.
    said = F.concat("url", F.coalesce(F.array_join("anchors", "\n"), F.lit("")))
    return (
        documents.join(spoken(documents), on="host", how="left")
        .join(anchors(work), on="url", how="left")
        .join(sources(work), on="round", how="inner")
        .select(
            "url",
            "round",
            "source",
            F.expr(f"1 + pmod(xxhash64(url), {work.config.index.shards})")
            .cast("int")
            .alias("shard"),
            tongue(F.coalesce("language", "spoken")).alias("tongue"),
            F.xxhash64(said).alias("anchors"),
            (F.coalesce("rank", F.lit(0.0)) * pages).alias("merit"),
        )
    )


def sources(work: Workspace) -> DataFrame:
    """By `round` a hash of the files that hold its documents."""
    paths: dict[int, list[str]] = defaultdict(list)
    for layer in work.store.manifest.layers("documents"):
        paths[layer.round] += [file.path for file in layer.files]
    rows = [
        (round_, xxhash.xxh3_64_intdigest("\n".join(sorted(held)).encode()) >> 1)
        for round_, held in paths.items()
    ]
    return work.engine.spark.createDataFrame(rows, "round int, source long")


def spoken(documents: DataFrame) -> DataFrame:
    """The language `spoken` by most pages of each host: that of its pages too short to tell."""
    return (
        documents.where(F.col("language").isNotNull())
        .groupBy("host", "language")
        .agg(F.count("*").alias("pages"))
        .groupBy("host")
        .agg(F.max_by("language", F.struct("pages", "language")).alias("spoken"))
    )


def tongue(language: Column) -> Column:
    """Whose index a page of this language is in (analysis.py)."""
    known = F.when(language.isin("nb", "nn"), "no").otherwise(language)
    return F.when(known.isin(*STEMMERS), known).otherwise(OTHER)


def popular(fates: DataFrame, pages: int, share: float) -> float | None:
    """The merit that makes a page one of the first tier. None: there is no such tier.

    Where ranks do not tell so few pages from the others, there is none, too.
    """
    if pages < MIN_TIERED or not share:
        return None
    found = fates.where("fate = 'indexed'")
    row = found.agg(F.expr(f"percentile_approx(rank, {1 - share})").alias("rank")).first()
    rank: float | None = row["rank"] if row else None
    if not rank:
        return None
    above = found.where(F.col("rank") > rank).limit(1).count()
    return rank * pages if above else None


def changes(new: DataFrame, old: DataFrame, popular: float | None) -> DataFrame:
    """Per URL of either its `change`, and its columns in both (`old_…` of the old ones).

    Pages above the merit `popular` are of the first tier, and stay while they are near it.
    """
    names = [name for name in old.columns if name != "url"]
    before = old.select("url", *(F.col(name).alias(f"old_{name}") for name in names))
    joined = new.join(before, on="url", how="full_outer")
    if popular is not None:
        stays = (F.col("old_shard") == FIRST) & (F.col("merit") > STAYS * popular)
        first = (F.col("merit") > popular) | F.coalesce(stays, F.lit(False))
        joined = joined.withColumn("shard", F.when(first, FIRST).otherwise(F.col("shard")))
    differs = F.lit(False)
    for name in ("round", "source", "shard", "tongue", "anchors"):
        differs |= F.col(name) != F.col(f"old_{name}")
    drift = F.abs(F.log2(F.col("merit") + 1) - F.log2(F.col("old_merit") + 1))
    return joined.withColumn(
        "change",
        F.when(F.col("old_round").isNull(), ADDED)
        .when(F.col("round").isNull(), REMOVED)
        .when(differs | (drift >= DRIFT), REPLACED)
        .otherwise(KEPT),
    )
