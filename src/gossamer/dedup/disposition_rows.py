"""The rows of `dispositions`: what becomes of each document, and for which pages it stands.

A report counts all documents, by reason. The report of the last harvest is corrected by the rows
that differ, so that no pass over the others is needed.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer.dedup import disposition_layers
from gossamer.engine.engine import engine_errors
from gossamer.tables import DISPOSITIONS
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace

MAX_COPIES = 100
"""Pages that a survivor names; it counts all of them."""
COPIES_PER_HOST = 3
DOCUMENTS, DUPLICATE = "documents", "duplicate_"
"""Names of counts: of all documents, and before each reason."""
_DECIDED = ("disposition", "survivor", "reason", "similarity")
_COPIES = ("copy_count", "version_count", "copies")


def decide_dispositions(pages: DataFrame, fit: DataFrame, dropped: DataFrame | None) -> DataFrame:
    """The rows of pages: of those that are `fit`, some are dropped (`survivor`, `reason`, …).

    `fit` has the `rank` class of pages. No page is dropped if `dropped` is None.
    """
    ranks = fit.select("url", F.col("rank").alias("rank_class"))
    if dropped is None:
        rest = ranks.join(pages.drop("rank_class"), on="url", how="right")
        later = (*_DECIDED[1:], *_COPIES)
        none = {c.name: F.lit(None).cast(c.type) for c in DISPOSITIONS.columns if c.name in later}
        return _finish_rows(rest.withColumns(none))
    rest = pages.drop(*_DECIDED[1:], *_COPIES, "rank_class")
    for joined in (dropped, _list_copies(dropped, pages.select("url", "found_ms")), ranks):
        rest = joined.join(rest, on="url", how="right")
    return _finish_rows(rest)


def _list_copies(dropped: DataFrame, found: DataFrame) -> DataFrame:
    """The columns _COPIES of pages (`url`) that stand for dropped ones. `found`: when these were.

    Copies on other hosts are named by when they were found, and of each host COPIES_PER_HOST before
    further ones of any: a page that somebody copies to many URLs still names the others.
    """
    is_version = F.col("reason") == "version"
    host = host_column(F.col("url"))
    shortest = F.length("url"), F.col("url")
    of_host = Window.partitionBy("survivor", is_version, host).orderBy(*shortest)
    is_own = host == host_column(F.col("survivor"))
    is_further = ~is_own & (F.col("of_host") > COPIES_PER_HOST)
    first_ms = F.when(~is_own, F.col("found_ms"))
    first = Window.partitionBy("survivor").orderBy(
        F.desc(is_version), is_further, F.asc_nulls_first(first_ms), *shortest
    )
    return (
        found.join(dropped, on="url", how="right")
        .withColumn("of_host", F.row_number().over(of_host))
        .withColumn("place", F.row_number().over(first))
        .groupBy(F.col("survivor").alias("url"))
        .agg(
            F.count("*").alias("copy_count"),
            F.count_if(is_version).alias("version_count"),
            F.sort_array(
                F.collect_list(
                    F.when(
                        F.col("place") <= MAX_COPIES,
                        F.struct("place", "url", "reason", "similarity"),
                    )
                )
            ).alias("copies"),
        )
    )


def _finish_rows(rest: DataFrame) -> DataFrame:
    """The rows, with the column `disposition`."""
    fitness = F.when(F.col("survivor").isNotNull(), "dropped_duplicate").otherwise("indexed")
    return rest.select(
        *(name for name in DISPOSITIONS.column_names if name not in {*_COPIES, "disposition"}),
        F.when(F.col("disposition").isin("indexed", "dropped_duplicate"), fitness)
        .otherwise(F.col("disposition"))
        .alias("disposition"),
        *(F.coalesce(name, F.lit(0)).cast("long").alias(name) for name in _COPIES[:2]),
        F.transform(
            "copies",
            lambda copy: F.struct(
                copy["url"].alias("url"),
                copy["reason"].alias("reason"),
                copy["similarity"].alias("similarity"),
            ),
        ).alias("copies"),
    )


def without_unchanged_rows(rows: DataFrame, before: DataFrame) -> DataFrame:
    """The rows that differ from those of the same pages before, or that had none."""
    names = [name for name in DISPOSITIONS.column_names if name != "url"]
    was = before.select("url", F.struct(*names).alias("was"))
    now = was.join(rows, on="url", how="right")
    same = F.lit(True)
    for name in names:
        same &= F.col(name).eqNullSafe(F.col("was")[name])
    return now.where(F.col("was").isNull() | ~same).drop("was")


def count_by_reason(
    work: Workspace, step: str, written: DataFrame, was: DataFrame | None
) -> Mapping[str, int]:
    """The counts for the report of a `step`, whose last report is corrected if there is one.

    `written` are the rows of `dispositions` that differ. `was` has at least the `url` and `reason`
    that these had before; None if there were none.
    """
    reports = (done for done in reversed(work.store.manifest.history) if done.step == step)
    last = None if was is None else next(reports, None)
    found = Counter[str | None]()
    rows = written.select("url", "reason", F.lit(1).alias("more"))
    if last is not None and was is not None:
        replaced = was.join(written.select("url"), on="url", how="left_semi")
        rows = rows.unionByName(replaced.select("url", "reason", F.lit(-1).alias("more")))
        for name, number in last.counts.items():
            if name.startswith(DUPLICATE):
                found[name.removeprefix(DUPLICATE)] = number
        found[None] = last.counts[DOCUMENTS] - found.total()
    elif was is not None:
        every = disposition_layers.read_dispositions(work, anew=False).with_layer(written)
        rows = every.where(lambda layer: layer.select("url", "reason", F.lit(1).alias("more")))
    with engine_errors():
        for row in rows.groupBy("reason").agg(F.sum("more").alias("more")).collect():
            found[row["reason"]] += row["more"]
    named = sorted(reason for reason, number in found.items() if reason and number)
    return {DOCUMENTS: found.total()} | {f"{DUPLICATE}{reason}": found[reason] for reason in named}
