"""Which pages a harvest has added to the index, changed in it, and removed from it.

A page has changed if its title, description, language or main text has: not if only its rank, its
anchors or the bytes around its text have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.index.changes import departures, log_layers
from gossamer.index.indexed_rows import ADDED, REMOVED, REPLACED
from gossamer.tables import CHANGES, DOCUMENTS, FORGOTTEN_CHANGES, INDEXED

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from gossamer.state.workspace import Draft, Workspace
    from gossamer.storage.store import Layer

CONTENT = ("title", "description", "language", "main_text")


def record_changes(
    work: Workspace, draft: Draft, compared: DataFrame, indexed: Layer, *, anew: bool
) -> None:
    """Draft the changes that this harvest makes.

    `compared`: the rows of `compare_with_indexed`. `indexed`: what the index holds afterwards.
    `anew`: nothing is known of what it held before, so that all pages are compared.
    """
    is_lost = any(work.store.damaged(table.name) for table in (CHANGES, FORGOTTEN_CHANGES))
    is_first = is_lost or not log_layers.are_recorded(work)
    if anew or is_first:
        paths = [f"{work.root}/{file.path}" for file in indexed.files]
        wanted = work.engine.read(paths, INDEXED.ddl).select("url", "round")
        nothing = work.engine.read([], log_layers.PRESENT_DDL)
        before = nothing if is_first else log_layers.present_pages(work)
    else:
        looked, number = work.scratch(_looked_at(compared))
        if not number:
            return
        wanted = looked.where(F.col("change") != REMOVED).select("url", "round")
        before = log_layers.present_pages(work, looked.select("url"))
    log_layers.draft_changes(work, draft, _changes(work, wanted, before), is_first=is_first)


def _looked_at(compared: DataFrame) -> DataFrame:
    """The pages that came, that left, or that have another document."""
    is_other = F.col("change") == REPLACED
    is_other &= (F.col("round") != F.col("old_round")) | (F.col("source") != F.col("old_source"))
    chosen = compared.where(F.col("change").isin(ADDED, REMOVED) | is_other)
    return chosen.select("url", "round", "change")


def _changes(work: Workspace, wanted: DataFrame, before: DataFrame) -> DataFrame:
    """The rows of `changes` that lead from the pages `before` (`was`) to those that are `wanted`.

    No row of either has a null as its hash of contents.
    """
    documents = work.engine.read_some(work.paths(DOCUMENTS.name), DOCUMENTS.ddl)
    now = wanted.join(
        documents.select("url", "round", _content().alias("content")), on=["url", "round"]
    )
    both, _ = work.scratch(before.join(now, on="url", how="full_outer"))
    stays = both.where("content IS NOT NULL AND (was IS NULL OR was <> content)").select(
        "url",
        F.when(F.col("was").isNull(), log_layers.ADDED)
        .otherwise(log_layers.CHANGED)
        .alias("change"),
        F.lit(None).cast("string").alias("other"),
        F.lit(None).cast("string").alias("reason"),
        "round",
        "content",
    )
    left, number = work.scratch(both.where("content IS NULL").select("url"), "url string")
    if number:
        stays = stays.unionByName(departures.explained(work, left))
    return stays.select(
        F.lit(work.store.manifest.version).cast("long").alias("harvest"),
        F.xxhash64("url").alias("place"),
        "*",
        F.lit(work.now_ms()).cast("long").alias("at_ms"),
    )


def _content() -> Column:
    return F.xxhash64(F.concat_ws("\n", *(F.coalesce(name, F.lit("")) for name in CONTENT)))
