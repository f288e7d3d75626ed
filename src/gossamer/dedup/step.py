"""The step `dedup`: decide again what has changed, and which pages stand for others."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import msgspec
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from gossamer.dedup import (
    affected,
    decided,
    documents,
    equal,
    known,
    mirrors,
    near,
    similar,
    versions,
)
from gossamer.state import lsm, unread
from gossamer.state.heartbeats import clear
from gossamer.tables import (
    DISPOSITIONS,
    DOCUMENTS,
    JUDGED,
    MIRRORS,
    OWN_TEXTS,
    PAGES,
    SHARED_PLACES,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.dedup.known import Known
    from gossamer.dedup.mirrors import Mirrors
    from gossamer.dedup.similar import Similarities
    from gossamer.state.workspace import Draft, Workspace
    from gossamer.storage.store import StepReport

STEP = "dedup"
RULES = 3
"""Raised with each change of the rules in this package: all pages are judged again."""
INPUTS = (DOCUMENTS, PAGES, OWN_TEXTS)
STORED = (DISPOSITIONS, MIRRORS, SHARED_PLACES)
"""Datasets without which all pages are judged again."""
FEW = 100_000
"""New rows up to which two queries run at once (`Workspace.both`)."""


def run(work: Workspace) -> StepReport:
    clear(work.root, STEP)
    with work.step(STEP, work.round) as draft:
        forgotten = similar.outdated(work)
        damaged = any(work.store.damaged(table.name) for table in STORED)
        since = unread.unread_inputs(
            work, JUDGED, INPUTS, _settings(work), anew=forgotten or damaged
        )
        before = known.stored(work, anew=since.anew)

        def judged() -> tuple[DataFrame, DataFrame, Known, Mirrors]:
            fresh, replaced = documents.changed(work, since, before)
            now = before.with_layer(fresh)
            return fresh, replaced, now, mirrors.mirrors(work, now, fresh, anew=since.anew)

        new_rows = sum(layer.rows for layers in since.layers.values() for layer in layers)
        of_other_ranks, (fresh, replaced, now, found) = work.both(
            new_rows,
            lambda: None if since.anew else affected.of_other_ranks(work, before),
            judged,
            FEW,
        )
        draft.counts["mirror_hosts"] = found.hosts
        nearby, families = fresh, None
        if of_other_ranks is not None:
            seeds = fresh.select(*affected.KEYS).unionByName(replaced.select(*affected.KEYS))
            seeds = seeds.unionByName(of_other_ranks)
            if found.hosts or work.store.manifest.layers(MIRRORS.name):
                seeds, _ = work.scratch(seeds.unionByName(_of_other_mirrors(work, now, found.rows)))
            nearby, families = _with_families(work, now, fresh, seeds)
        if since.anew and work.config.dedup.versions:
            families = fresh.where("families IS NOT NULL").limit(1).count()
        old = _older(work, fit(nearby), families)
        texts = _texts(work, _without(fit(nearby), *old))
        similarities = similar.similar_texts(work, draft, texts, now, anew=forgotten)
        pages = fresh
        if not since.anew:
            pages, families = affected.connected(
                work, now, seeds, similarities, has_families=families != 0
            )
            old = _older(work, fit(pages), families)
        ranked = affected.with_rank_classes(work, fit(pages))
        standing = _without(ranked, *old)
        if found.hosts:
            standing = mirrors.with_originals(standing, found.rows, similarities.alike())
        if standing is not ranked:
            standing, _ = work.scratch(standing)
        stages = [old[0]] if old[1] else []
        stages += _dropped(work, standing, similarities)
        dropped = _resolved(work, stages) if stages else None
        rows = decided.decided(pages, ranked, dropped)
        held = was = None
        if not since.anew:
            held = pages.select("compared").unionByName(replaced.select("compared"))
            held = held.withColumnRenamed("compared", "text").distinct()
            unchanged = pages.join(fresh.select("url"), on="url", how="left_anti")
            rows = decided.differing(rows, unchanged)
            was = unchanged.select("url", "reason").unionByName(replaced.select("url", "reason"))
        standing_texts = standing.select(F.col("text_hash").alias("text"))
        work.both(
            new_rows,
            lambda: similarities.save(draft, held, standing_texts),
            lambda: _save(work, draft, rows, was, is_any_dropped=dropped is not None),
            FEW,
        )
        draft.replace |= found.layers(work)
        draft.replace[JUDGED.name] = unread.write_record(work, JUDGED, INPUTS, _settings(work))
    return draft.done


def _settings(work: Workspace) -> str:
    return f"{RULES} {msgspec.json.encode(work.config.dedup).decode()}"


def fit(rows: DataFrame) -> DataFrame:
    """The pages of rows of `dispositions` that can be found, as the comparisons need them.

    Pages of the same `text` are equal; those with a `text_hash` may be similar.
    """
    scoped = F.when(F.col("scope") == "", F.col("text")).otherwise(F.xxhash64("scope", "text"))
    return rows.where(known.FIT).select(
        *("url", "round", "title", "scope", "canonical", "found_ms", "by_body", "families"),
        F.col("compared").alias("text_hash"),
        scoped.alias("text"),
        F.lit(False).alias("is_mirrored"),
    )


def _of_other_mirrors(work: Workspace, now: Known, found: DataFrame) -> DataFrame:
    """The KEYS of the pages of hosts that are mirrors of another one than at the last harvest."""
    hosts, _ = work.scratch(mirrors.changed_hosts(work, found))
    return mirrors.of_hosts(now, hosts).select(*affected.KEYS)


def _with_families(
    work: Workspace, now: Known, pages: DataFrame, seeds: DataFrame
) -> tuple[DataFrame, int]:
    """`pages` and all others of the families of the `seeds`, materialised; number of families.

    The seeds have the families of `pages`.
    """
    families, count = work.scratch(
        seeds.select(F.explode("families").alias("family")).distinct(), affected.FAMILY_DDL
    )
    if not count:
        return pages, 0
    others = now.of_families(families).join(pages.select("url"), on="url", how="left_anti")
    return work.scratch(pages.unionByName(others))[0], count


def _older(work: Workspace, pages: DataFrame, families: int | None) -> tuple[DataFrame, int]:
    """The pages that newer versions stand for, materialised, and their number.

    `families`: the number of families to which pages belong; None if it is not known.
    """
    if not work.config.dedup.versions or families == 0:
        return work.engine.read([], near.DROPPED_DDL), 0
    return versions.older(work, pages)


def _texts(work: Workspace, pages: DataFrame) -> DataFrame:
    """The texts that may be similar, with the `url` and `round` of a document."""
    if work.config.dedup.similarity == 1:
        return work.engine.read([], "text long, url string, round int")
    texts = pages.where("text_hash IS NOT NULL").withColumn("compared", F.col("text_hash"))
    return known.one_each(texts)


def _dropped(
    work: Workspace, standing: DataFrame, similarities: Similarities
) -> Iterator[DataFrame]:
    """The pages that others with equal, and then with similar texts stand for."""
    left = standing.where("text_hash IS NOT NULL")
    shared, number = work.scratch(equal.shared(standing))
    if number:
        equals = work.scratch(equal.one_per_text(shared))
        left = _without(left, *equals)
        yield equals[0]
    may_be_near = work.store.manifest.layers(OWN_TEXTS.name) or not similarities.are_none()
    if work.config.dedup.similarity < 1 and may_be_near:
        found = near.one_per_group(work, similarities, work.scratch(left)[0])
        if found is not None:
            yield found


def _without(pages: DataFrame, dropped: DataFrame, count: int) -> DataFrame:
    """`pages` without so many `dropped` ones."""
    return pages.join(dropped.select("url"), on="url", how="left_anti") if count else pages


def _resolved(work: Workspace, stages: list[DataFrame]) -> DataFrame:
    """All dropped pages, with the survivor that is found in the end.

    A survivor of one stage may be dropped in a later one: an old version stands behind a new one,
    of which there is a better copy. Where a path has several versions, each is a step. Chains end,
    since each step leads to a newer version or to a later stage, and each pass halves them.
    """
    names = ("url", "survivor", "reason", "similarity")
    dropped, _ = work.scratch(
        reduce(DataFrame.unionByName, (stage.select(*names) for stage in stages))
    )
    while True:
        after = dropped.select(F.col("url").alias("survivor"), F.col("survivor").alias("next"))
        ended = dropped.join(after, on="survivor", how="left_anti")
        chained, count = work.scratch(
            after.join(dropped, on="survivor", how="inner").select(
                "url", F.col("next").alias("survivor"), "reason", "similarity"
            ),
            near.DROPPED_DDL,
        )
        if not count:
            return dropped
        dropped, _ = work.scratch(ended.unionByName(chained))


def _save(
    work: Workspace, draft: Draft, rows: DataFrame, was: DataFrame | None, *, is_any_dropped: bool
) -> None:
    """Draft `dispositions`, and count them by reason.

    `was`: the `url` and `reason` that rows had; None if all is judged anew.
    """
    layer = work.write(rows, DISPOSITIONS.name, work.round)
    lsm.draft_layer(work, draft, DISPOSITIONS, layer, anew=was is None)
    draft.counts["changed"] = layer.rows
    if was is None and not is_any_dropped:
        draft.counts[decided.DOCUMENTS] = layer.rows
        return
    paths = [f"{work.root}/{file.path}" for file in layer.files]
    written = work.engine.read(paths, DISPOSITIONS.ddl)
    draft.counts |= decided.by_reason(work, STEP, written, was)
