"""Which pages are dropped, and for which others? Old versions, then equal, then similar texts."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from gossamer.dedup import equal_texts, mirrors, near_duplicates, versions
from gossamer.dedup.affected_pages import add_rank_classes
from gossamer.dedup.disposition_layers import FINDABLE
from gossamer.dedup.disposition_rows import decide_dispositions
from gossamer.dedup.survivors import add_owners
from gossamer.tables import OWN_TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.dedup.mirrors import Mirrors
    from gossamer.dedup.similar_texts import Similarities
    from gossamer.state.workspace import Workspace


class OlderVersions(NamedTuple):
    """The pages that newer versions stand for, materialised, and their number."""

    rows: DataFrame
    number: int

    def leave_out(self, pages: DataFrame) -> DataFrame:
        """`pages` without them."""
        return _leave_out(pages, self.rows) if self.number else pages


class Decisions(NamedTuple):
    """What becomes of pages."""

    rows: DataFrame
    """Their rows of `dispositions`."""
    texts: DataFrame
    """The own texts (`text`) of those for which no newer version stands."""
    is_any_dropped: bool


def decide_drops(
    work: Workspace, pages: DataFrame, older: OlderVersions, similar: Similarities, found: Mirrors
) -> Decisions:
    """Decide which of the pages (rows of `dispositions`) others stand for."""
    ranked = add_rank_classes(work, findable_pages(pages))
    standing = older.leave_out(ranked)
    if found.hosts:
        standing = mirrors.add_originals(standing, found.rows, similar.similar_both_ways())
    if standing is not ranked:
        standing, _ = work.scratch(standing)
    stages = [older.rows] if older.number else []
    stages += _find_duplicates(work, standing, similar)
    dropped = _find_survivors(work, stages) if stages else None
    rows = decide_dispositions(pages, ranked, dropped)
    texts = standing.select(F.col("text_hash").alias("text"))
    return Decisions(rows, texts, dropped is not None)


def findable_pages(rows: DataFrame) -> DataFrame:
    """The pages of rows of `dispositions` that can be found, as the comparisons need them.

    Pages of the same `text` are equal; those with a `text_hash` may be similar.
    """
    scoped = F.when(F.col("scope") == "", F.col("text")).otherwise(F.xxhash64("scope", "text"))
    return rows.where(FINDABLE).select(
        *("url", "round", "title", "scope", "canonical", "found_ms", "by_body", "families"),
        F.coalesce("titled_ms", "found_ms").alias("first_ms"),
        F.col("compared").alias("text_hash"),
        scoped.alias("text"),
        F.lit(False).alias("is_mirrored"),
    )


def find_older_versions(work: Workspace, pages: DataFrame, families: int | None) -> OlderVersions:
    """The pages (rows of `dispositions`) that newer versions stand for.

    `families`: the number of families to which pages belong; None if it is not known.
    """
    if not work.config.dedup.versions or families == 0:
        return OlderVersions(work.engine.read([], near_duplicates.DROPPED_DDL), 0)
    return OlderVersions(*versions.older_versions(work, findable_pages(pages)))


def _find_duplicates(
    work: Workspace, standing: DataFrame, similar: Similarities
) -> Iterator[DataFrame]:
    """The pages that others with equal, and then with similar texts stand for."""
    left = standing.where("text_hash IS NOT NULL")
    shared, number = work.scratch(equal_texts.pages_with_shared_texts(standing))
    if number:
        owned, _ = work.scratch(add_owners(work, shared))
        equal, number = work.scratch(equal_texts.equal_duplicates(owned))
        left = _leave_out(left, equal) if number else left
        yield equal
    may_be_near = work.store.manifest.layers(OWN_TEXTS.name) or not similar.is_empty()
    if work.config.dedup.similarity < 1 and may_be_near:
        found = near_duplicates.near_duplicates(work, similar, work.scratch(left)[0])
        if found is not None:
            yield found


def _leave_out(pages: DataFrame, dropped: DataFrame) -> DataFrame:
    return pages.join(dropped.select("url"), on="url", how="left_anti")


def _find_survivors(work: Workspace, stages: list[DataFrame]) -> DataFrame:
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
            near_duplicates.DROPPED_DDL,
        )
        if not count:
            return dropped
        dropped, _ = work.scratch(ended.unionByName(chained))
