"""Why pages have left the index: another one stands for them, they have moved, or they are gone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.index.changes.log_layers import DUPLICATE, GONE, MOVED
from gossamer.state import lsm, unread
from gossamer.tables import ALIASES, DISPOSITIONS, GATHERED, PAGES, RESPONSES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace


def explained(work: Workspace, left: DataFrame) -> DataFrame:
    """Rows of `changes` for the pages (`url`, materialised) that have left the index."""
    decided = lsm.rows_for_some(
        work, DISPOSITIONS, left, ["disposition", "survivor", "reason"]
    ).withColumnRenamed("reason", "why")
    states = lsm.rows_for_some(work, PAGES, left, ["status", "outcome"])
    found = decided.join(left, on="url", how="right")
    found, _ = work.scratch(states.join(found, on="url", how="right"))
    is_copy = F.col("disposition") == "dropped_duplicate"
    has_moved = ~is_copy & F.col("target").isNotNull()
    return (
        _targets(work, found)
        .join(found, on="url", how="right")
        .select(
            "url",
            F.when(is_copy, DUPLICATE).when(has_moved, MOVED).otherwise(GONE).alias("change"),
            F.when(is_copy, F.col("survivor"))
            .when(has_moved, F.col("target"))
            .otherwise(F.lit(None).cast("string"))
            .alias("other"),
            F.when(is_copy, F.col("why"))
            .when(F.col("disposition") == "dropped_status", F.coalesce("outcome", "status"))
            .otherwise(F.regexp_replace("disposition", "^dropped_", ""))
            .alias("reason"),
            F.lit(None).cast("int").alias("round"),
            F.lit(None).cast("long").alias("content"),
        )
    )


def _targets(work: Workspace, found: DataFrame) -> DataFrame:
    """Where pages have moved to: `url`, `target`, by redirects and by rules for URLs."""
    redirected, moved = work.scratch(found.where("status = 'redirected'").select("url"))
    renamed, others = work.scratch(found.where("status = 'alias'").select("url"))
    targets = work.engine.read([], "url string, target string")
    if moved:
        targets = targets.unionByName(_redirects(work, redirected))
    if others and work.store.manifest.layers(ALIASES.name):
        rows = lsm.rows_for_some(work, ALIASES, renamed, ["target", "active"])
        targets = targets.unionByName(rows.where("active").select("url", "target"))
    return targets


def _redirects(work: Workspace, redirected: DataFrame) -> DataFrame:
    """The targets of pages that redirect, as answered since the last harvest."""
    layers = work.store.manifest.layers(RESPONSES.name)
    read = unread.read_until(work, GATHERED)
    new = layers if read is None else unread.newer(layers, read)
    paths = [f"{work.root}/{file.path}" for layer in new for file in layer.files]
    rows = (
        work.engine.read_some(paths, RESPONSES.ddl)
        .where("outcome = 'redirect' AND redirect_url IS NOT NULL")
        .select("url", "round", F.col("redirect_url").alias("target"))
        .join(redirected, on="url", how="left_semi")
    )
    last = rows.groupBy("url").agg(F.max("round").alias("round"))
    return last.join(rows, on=["url", "round"], how="inner").select("url", "target")
