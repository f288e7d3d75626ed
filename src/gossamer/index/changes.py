"""Which documents must be added, replaced or removed to bring the index up to date.

The dataset `indexed` lists what the index holds: for each page the round of its document, a number
that changes if all documents are made again (`inputs.oldest`), the part it is in (shard and
language), hashes of its anchors and of the pages that it stands for, and its static rank. A page is
written again if any of them differs. The static rank is PageRank times the number of pages: 1 for
an average page. It moves a little for all pages in every round, so it only counts as a difference
if its logarithm, which is what the ranking uses (search/ranking.py), has moved by DRIFT.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer import inputs, lsm
from gossamer.fulltext.analysis import OTHER, STEMMERS
from gossamer.fulltext.layout import FIRST
from gossamer.tables import INLINKS
from gossamer.urls import host_column

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from gossamer.workspace import Workspace

DRIFT = 0.5
"""A change of log2(1 + static_rank). With a weight of 0.5 it changes the score by a quarter of a
point, to which words contribute about ten."""

MIN_TIERED = 50_000
"""Pages from which an index has a first tier; smaller ones are as fast without."""
STAYS = 0.7
"""A page leaves the first tier below this share of the static rank that admits it. So few pages
change tiers when ranks move a little."""

KEPT, ADDED, REPLACED, REMOVED = "kept", "added", "replaced", "removed"


def with_anchors(work: Workspace, pages: DataFrame, dispositions: DataFrame) -> DataFrame:
    """`pages` with their `anchors`: the first `index.anchors` texts of links that are not empty.

    Links to a page come before links to others, which it stands for: first those with the same
    content, then older versions. So a page is also found by what links call its versions, such as
    `3.9 docs`, and they replace no other anchor.
    """
    most = work.config.index.anchors
    inlinks = lsm.current(work, INLINKS).select(F.col("dst").alias("url"), "sources")
    texts = F.filter(F.col("sources.anchor"), lambda anchor: F.length(anchor) > 0)
    own = inlinks.select("url", F.slice(texts, 1, most).alias("anchors"))
    in_turn = F.col("reason") == "version", "url", "number"
    place = F.row_number().over(Window.partitionBy("survivor").orderBy(*in_turn))
    of_copies = (
        dispositions.where("disposition = 'dropped_duplicate'")
        .select("url", "survivor", "reason")
        .join(inlinks, on="url", how="inner")
        .select(
            *("url", "survivor", "reason"),
            F.posexplode("sources.anchor").alias("number", "anchor"),
        )
        .where("anchor <> ''")
        .withColumn("place", place)
        .where(F.col("place") <= most)
        .groupBy(F.col("survivor").alias("url"))
        .agg(F.sort_array(F.collect_list(F.struct("place", "anchor"))).alias("copies"))
        .select("url", F.col("copies.anchor").alias("more"))
    )
    both = F.concat("anchors", "more")
    return (
        pages.join(own, on="url", how="left")
        .join(of_copies, on="url", how="left")
        .withColumn("anchors", F.slice(F.coalesce(both, "anchors", "more"), 1, most))
        .drop("more")
    )


def with_copies(pages: DataFrame, dispositions: DataFrame) -> DataFrame:
    """`pages` with what the index holds of the pages that they stand for.

    That is the number of `copies`, and of older `versions`, and the sorted `copy_hosts`. They are
    null for pages that stand for no other.
    """
    hosts = F.transform("copies.url", host_column)
    standing = dispositions.where("copy_count > 0").select(
        "url",
        (F.col("copy_count") - F.col("version_count")).alias("copies"),
        F.col("version_count").alias("versions"),
        F.sort_array(F.array_distinct(hosts)).alias("copy_hosts"),
    )
    # The hash table is built from the left side of a join.
    return standing.join(pages, on="url", how="right")


def desired_rows(work: Workspace, dispositions: DataFrame, mean_rank: float) -> DataFrame:
    """The rows that `indexed` should have; `mean_rank` is the mean of their ranks."""
    chosen = dispositions.where("disposition = 'indexed'")
    made = inputs.oldest(work.store.manifest.layers("documents"))
    documents = (
        work.read("documents")
        .select("url", "round", "host", "language")
        .join(chosen.select("url", "round", "rank"), on=["url", "round"], how="inner")
    )
    # Sail's xxhash64 fails on a constant column, which the anchors are if there are no links.
    anchor_texts = F.concat("url", F.coalesce(F.array_join("anchors", "\n"), F.lit("")))
    documents = documents.join(host_language(documents), on="host", how="left")
    numbers = (F.col(name).cast("string") for name in ("copies", "versions"))
    copies = F.concat_ws(" ", "url", *numbers, F.array_join("copy_hosts", " "))
    return with_copies(with_anchors(work, documents, dispositions), dispositions).select(
        "url",
        "round",
        F.lit(made).cast("long").alias("source"),
        F.expr(f"1 + pmod(xxhash64(url), {work.config.index.shards})").cast("int").alias("shard"),
        index_language(F.coalesce("language", "host_language")).alias("index_language"),
        F.xxhash64(anchor_texts).alias("anchors"),
        F.xxhash64(copies).alias("copies"),
        (F.col("rank") / mean_rank).alias("static_rank"),
    )


def host_language(documents: DataFrame) -> DataFrame:
    """The language of most pages of each host, for its pages without a detected language."""
    return (
        documents.where(F.col("language").isNotNull())
        .groupBy("host", "language")
        .agg(F.count("*").alias("pages"))
        .groupBy("host")
        .agg(F.max_by("language", F.struct("pages", "language")).alias("host_language"))
    )


def index_language(language: Column) -> Column:
    """The language of the index for pages in a language (fulltext/analysis.py)."""
    known = F.when(language.isin("nb", "nn"), "no").otherwise(language)
    return F.when(known.isin(*STEMMERS), known).otherwise(OTHER)


def popular(dispositions: DataFrame, pages: int, mean_rank: float, share: float) -> float | None:
    """The static rank above which a page is in the first tier; None if there is no first tier.

    There is none either if the ranks are too similar to select the best `share` of the pages.
    """
    if pages < MIN_TIERED or not share:
        return None
    found = dispositions.where("disposition = 'indexed'")
    row = found.agg(F.expr(f"percentile_approx(rank, {1 - share})").alias("rank")).first()
    rank: float | None = row["rank"] if row else None
    if not rank:
        return None
    above = found.where(F.col("rank") > rank).limit(1).count()
    return rank / mean_rank if above else None


def changes(new: DataFrame, old: DataFrame, popular: float | None) -> DataFrame:
    """Per URL of `new` or `old`, its `change`, and its columns of both (`old_…` for the old ones).

    Pages above the static rank `popular` go to the first tier and stay while they are near it.
    """
    names = [name for name in old.columns if name != "url"]
    before = old.select("url", *(F.col(name).alias(f"old_{name}") for name in names))
    joined = new.join(before, on="url", how="full_outer")
    if popular is not None:
        stays = (F.col("old_shard") == FIRST) & (F.col("static_rank") > STAYS * popular)
        first = (F.col("static_rank") > popular) | F.coalesce(stays, F.lit(False))
        joined = joined.withColumn("shard", F.when(first, FIRST).otherwise(F.col("shard")))
    differs = F.lit(False)
    for name in ("round", "source", "shard", "index_language", "anchors", "copies"):
        differs |= F.col(name) != F.col(f"old_{name}")
    drift = F.abs(F.log2(F.col("static_rank") + 1) - F.log2(F.col("old_static_rank") + 1))
    return joined.withColumn(
        "change",
        F.when(F.col("old_round").isNull(), ADDED)
        .when(F.col("round").isNull(), REMOVED)
        .when(differs | (drift >= DRIFT), REPLACED)
        .otherwise(KEPT),
    )
