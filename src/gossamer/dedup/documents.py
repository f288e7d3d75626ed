"""Which documents can be found at all: the newest of each page that exists and does not forbid it.

Reasons against it are `dropped_status` (the page is gone, redirects or may no longer be fetched),
`dropped_outcome` (it has no text), `dropped_noindex` and `dropped_unavailable` (its
`unavailable_after` has passed).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer import domains, lsm
from gossamer.page_ranks import with_ranks
from gossamer.tables import DOCUMENTS, PAGES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gossamer.workspace import Workspace

NEWEST = ("outcome", "noindex", "unavailable_after_ms", "digest", "text_hash", "canonical", "title")
"""Columns of `documents` that the decisions need, from the newest round of each URL."""


def judged(work: Workspace) -> DataFrame:
    """Per URL that has a document, materialised: the columns of `without_unfit`."""
    values = (F.max_by(name, "round").alias(name) for name in NEWEST)
    newest = work.read("documents").groupBy("url").agg(*values, F.max("round").alias("round"))
    known = lsm.current(work, PAGES).select("url", "host", "status", "found_ms")
    ranked = with_ranks(work, newest.join(known, on="url", how="left"))
    rows, _ = work.scratch(without_unfit(_scoped(work, ranked), work.now_ms()))
    return rows


def _scoped(work: Workspace, ranked: DataFrame) -> DataFrame:
    """Add `scope`: within it, one page stands for another."""
    if work.config.dedup.scope == "crawl":
        return ranked.withColumn("scope", F.lit(""))
    ranked, _ = work.scratch(ranked)
    hosts = domains.with_domains(work, ranked.select("host").where("host IS NOT NULL").distinct())
    return hosts.withColumnRenamed("domain", "scope").join(ranked, on="host", how="right")


def without_unfit(newest: DataFrame, now_ms: int) -> DataFrame:
    """Per URL what decides about its document, and why it is `left_out`; null if it is fit.

    `newest` has the columns NEWEST of that document, its round, its scope, and the rank, status and
    `found_ms` of its page and the rank of its host. Documents of the same `text` are equal; those
    with a `text_hash` may be similar.
    """
    left_out = (
        F.when(F.coalesce("status", F.lit("")) != "fetched", "dropped_status")
        .when(F.col("outcome") != "parsed", "dropped_outcome")
        .when(F.col("noindex"), "dropped_noindex")
        .when(F.col("unavailable_after_ms") <= now_ms, "dropped_unavailable")
    )
    text = F.coalesce(F.col("text_hash").cast("string"), "digest", "url")
    return newest.select(
        "url",
        "round",
        "rank",
        "host_rank",
        "found_ms",
        "title",
        "scope",
        F.concat_ws(" ", F.coalesce("scope", F.lit("")), text).alias("text"),
        F.col("text_hash").isNull().alias("by_body"),
        "text_hash",
        F.when(F.col("canonical") != F.col("url"), F.col("canonical")).alias("canonical"),
        F.lit(False).alias("is_mirrored"),
        left_out.alias("left_out"),
    )


def of_documents(work: Workspace, wanted: DataFrame, column: str) -> DataFrame:
    """`text` of `wanted` (materialised), with a column of the document with this `url` and `round`.

    Only the files of these rounds are read.
    """
    rounds = [row["round"] for row in wanted.select("round").distinct().collect()]
    paths = [path for round_ in rounds for path in work.paths(DOCUMENTS.name, round_)]
    rows = work.engine.read(paths, DOCUMENTS.ddl).select("url", "round", column)
    return wanted.join(rows, on=["url", "round"], how="inner").select("text", column)
