"""Which hosts are mirrors of another? Those whose paths and contents agree with it.

A host is a mirror of another if most paths that both have lead to equal texts (Bharat and Broder,
"Mirror, mirror on the Web: a study of host pairs with replicated content", WWW8, 1999). Candidates
are hosts that have several equal texts at equal paths. Of all hosts that have such a page, the one
with the highest rank, which others link to most, is taken for the original. So there is one pair
per page, and never all pairs of many hosts.

A page of a mirror yields to the page at the same path of the original, as if it named that page as
its canonical one (survivors.py). So it is dropped only if the two have the same content, and what a
mirror alone has is found there.

Cost: joins of the pages whose text others have, too, and of all pages of the hosts in question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer.urls import host_column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gossamer.workspace import Workspace

MIN_TEXTS = 5
"""Texts that two hosts must have in common. Parked hosts have one under all paths."""
MOSTLY = 0.8
"""Share of the common paths at which the texts must be equal."""
COMMON = 0.5
"""Share of the paths of the smaller host that both must have."""


def mirrors(work: Workspace, fit: DataFrame, shared: DataFrame) -> tuple[DataFrame, int]:
    """The rows of the dataset `mirrors`, materialised, and their number.

    `fit`: all pages. `shared`: those whose text another page has, too. Both must be materialised.
    """
    best = Window.partitionBy("text", "path").orderBy(
        F.desc("host_rank"), F.length("host"), F.col("host")
    )
    pairs = (
        _with_paths(shared)
        .select("host", "path", "text", F.first("host").over(best).alias("mirror_of"))
        .where(F.col("host") != F.col("mirror_of"))
        .distinct()
        .groupBy("host", "mirror_of")
        .agg(F.count("*").alias("agreeing"), F.count_distinct("text").alias("texts"))
        .where(F.col("texts") >= MIN_TEXTS)
        .drop("texts")
    )
    most = F.row_number().over(
        Window.partitionBy("host").orderBy(F.desc("agreeing"), F.col("mirror_of"))
    )
    pairs, count = work.scratch(pairs.withColumn("number", most).where("number = 1").drop("number"))
    if not count:
        return pairs.select("*", *(F.lit(0).cast("long").alias(name) for name in _COUNTS)), 0
    hosts = pairs.select(F.explode(F.array("host", "mirror_of")).alias("host")).distinct()
    pages = _with_paths(fit).select("host", "path").join(hosts, on="host", how="left_semi")
    paths, _ = work.scratch(pages.distinct())
    sizes = paths.groupBy("host").agg(F.count("*").alias("pages"))
    common = (
        pairs.select("host", "mirror_of")
        .join(paths, on="host", how="inner")
        .join(paths.withColumnRenamed("host", "mirror_of"), on=["mirror_of", "path"], how="inner")
        .groupBy("host", "mirror_of")
        .agg(F.count("*").alias("shared_paths"))
    )
    compared = (
        pairs.join(common, on=["host", "mirror_of"], how="inner")
        .join(sizes, on="host", how="inner")
        .join(
            sizes.select(
                F.col("host").alias("mirror_of"), F.col("pages").alias("pages_of_original")
            ),
            on="mirror_of",
            how="inner",
        )
    )
    smaller = F.least("pages", "pages_of_original")
    return work.scratch(
        compared.where(
            (F.col("agreeing") >= F.col("shared_paths") * MOSTLY)
            & (F.col("shared_paths") >= smaller * COMMON)
        ).select("host", "mirror_of", "agreeing", *_COUNTS)
    )


_COUNTS = ("shared_paths", "pages", "pages_of_original")


def with_originals(fit: DataFrame, found: DataFrame) -> DataFrame:
    """`fit` with the pages of originals as canonical ones of pages that name none.

    The column `is_mirrored` tells them. `found` are rows of `mirrors`.
    """
    placed = _with_paths(fit)
    originals = (
        placed.where("canonical IS NULL")
        .join(found.select(F.col("mirror_of").alias("host")).distinct(), on="host", how="left_semi")
        .groupBy(F.col("host").alias("mirror_of"), "path")
        .agg(F.min("url").alias("original"))
    )
    pages = (
        found.select("host", "mirror_of")
        .join(placed.where("canonical IS NULL").select("url", "host", "path"), on="host")
        .join(originals, on=["mirror_of", "path"], how="inner")
        .select("url", "original")
    )
    return pages.join(fit, on="url", how="right").select(
        *(name for name in fit.columns if name not in {"canonical", "is_mirrored"}),
        F.coalesce("canonical", "original").alias("canonical"),
        F.col("original").isNotNull().alias("is_mirrored"),
    )


def _with_paths(pages: DataFrame) -> DataFrame:
    origin = F.substring_index("url", "/", 3)
    path = F.substring(F.col("url"), F.length(origin) + 1, F.length("url"))
    return pages.withColumns({"host": host_column(F.col("url")), "path": path})
