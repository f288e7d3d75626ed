"""dedup: documents, pages, ranks → dispositions. Which page stands for those with its content?

    documents.py    which documents can be found at all
    versions.py     the newest version of a manual stands for the older ones
    mirrors.py      which hosts are mirrors of another
    equal.py        one page stands for all with an equal text
    near.py         … and for those with nearly the same text
    similar.py      which texts are similar: compared once, and remembered
    candidates.py   which texts may be similar: those whose sketches agree in a band
    estimates.py    how similar two documents are, by their sketches
    verified.py     … and by all their words
    survivors.py    the rule by which one of several pages survives

Reads documents, pages, ranks, host_ranks, sketched and similar; replaces dispositions and mirrors,
and adds to sketched and similar. Each page that is dropped names the page that survives in its
place, the reason and the similarity. As all of this is decided again in each harvest, the next best
page takes the place of a survivor that is gone or has changed.

Cost: passes over the URLs and hashes of all documents; texts are compared once (similar.py).
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from gossamer.dedup import documents, equal, mirrors, near, versions
from gossamer.engine import engine_errors
from gossamer.monitor import clear
from gossamer.tables import DISPOSITIONS, MIRRORS

if TYPE_CHECKING:
    from gossamer.store import StepReport
    from gossamer.workspace import Draft, Workspace

MAX_COPIES = 100
"""Pages that a survivor names; it counts all of them."""


def run(work: Workspace) -> StepReport:
    clear(work.root, "dedup")
    with work.step("dedup", work.round) as draft:
        judged = documents.judged(work)
        fit = judged.where("left_out IS NULL")
        dropped = _dropped(work, draft, fit)
        with engine_errors():
            for row in dropped.groupBy("reason").count().collect():
                draft.counts[f"duplicate_{row['reason']}"] = row["count"]
        layer = work.write(dispositions(judged, dropped), DISPOSITIONS.name, work.round)
        draft.replace[DISPOSITIONS.name] = (layer,) if layer.files else ()
        draft.counts["documents"] = layer.rows
    return draft.done


def _dropped(work: Workspace, draft: Draft, fit: DataFrame) -> DataFrame:
    """The pages that others stand for: `url`, `survivor`, `reason`, `similarity`."""
    none = work.engine.read([], "url string, survivor string, reason string, similarity double")
    stages = [none]
    if work.config.dedup.versions:
        old, number = work.scratch(versions.older(work, fit))
        if number:
            stages.append(old)
            fit, _ = work.scratch(_without(fit, old))
    shared, _ = work.scratch(equal.shared(fit))
    found, number = mirrors.mirrors(work, fit, shared)
    draft.counts["mirror_hosts"] = number
    draft.replace[MIRRORS.name] = (work.write(found, MIRRORS.name, work.round),) if number else ()
    if number:
        fit, _ = work.scratch(mirrors.with_originals(fit, found))
        shared, _ = work.scratch(equal.shared(fit))
    stages.append(work.scratch(equal.one_per_text(shared))[0])
    if work.config.dedup.similarity < 1:
        standing, _ = work.scratch(_without(fit.where("text_hash IS NOT NULL"), stages[-1]))
        stages.append(work.scratch(near.one_per_group(work, draft, standing))[0])
    return _resolved(work, [stage.select(none.columns) for stage in stages])


def _without(pages: DataFrame, dropped: DataFrame) -> DataFrame:
    return pages.join(dropped.select("url"), on="url", how="left_anti")


def _resolved(work: Workspace, stages: list[DataFrame]) -> DataFrame:
    """All dropped pages, with the survivor that is found in the end.

    A survivor of one stage may be dropped in a later one: an old version stands behind a new one,
    of which there is a better copy. Where a path has several versions, each is a step. Chains end,
    since each step leads to a newer version or to a later stage, and each pass halves them.
    """
    dropped, _ = work.scratch(reduce(DataFrame.unionByName, stages))
    while True:
        after = dropped.select(F.col("url").alias("survivor"), F.col("survivor").alias("next"))
        ended = dropped.join(after, on="survivor", how="left_anti")
        chained, count = work.scratch(
            after.join(dropped, on="survivor", how="inner").select(
                "url", F.col("next").alias("survivor"), "reason", "similarity"
            )
        )
        if not count:
            return dropped
        dropped, _ = work.scratch(ended.unionByName(chained))


def dispositions(judged: DataFrame, dropped: DataFrame) -> DataFrame:
    """The rows of `dispositions`: what becomes of each document."""
    is_version = F.col("reason") == "version"
    first = Window.partitionBy("survivor").orderBy(F.desc(is_version), F.length("url"), "url")
    place = F.row_number().over(first)
    copies = (
        dropped.join(judged.select("url", "rank"), on="url", how="inner")
        .withColumn("place", place)
        .groupBy(F.col("survivor").alias("url"))
        .agg(
            F.count("*").alias("copy_count"),
            F.count_if(is_version).alias("version_count"),
            F.sum("rank").alias("more_rank"),
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
    rows = dropped.join(judged, on="url", how="right")
    return copies.join(rows, on="url", how="right").select(
        "url",
        "round",
        (F.col("rank") + F.coalesce("more_rank", F.lit(0.0))).alias("rank"),
        F.coalesce(
            "left_out", F.when(F.col("survivor").isNotNull(), "dropped_duplicate"), F.lit("indexed")
        ).alias("disposition"),
        "survivor",
        "reason",
        "similarity",
        *(
            F.coalesce(name, F.lit(0)).cast("long").alias(name)
            for name in ("copy_count", "version_count")
        ),
        F.transform(
            "copies",
            lambda copy: F.struct(
                copy["url"].alias("url"),
                copy["reason"].alias("reason"),
                copy["similarity"].alias("similarity"),
            ),
        ).alias("copies"),
    )
