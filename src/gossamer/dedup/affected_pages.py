"""Which pages are decided again? Those that may be compared with a page that has changed.

A page is decided among those with the same text, with equal or similar own texts, and of the same
family of versions, and these among theirs. Nothing else has a say. So if all pages that are
connected to a change are decided again, and no others, the result is the same as if all were.

Ranks change a little for all pages in each harvest. So they are compared by their binary
logarithms, and only groups of pages are decided again in which one of these has changed.

Cost: passes over the texts of all pages, and over the ranks of those that are in groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.dedup.similar_texts import similar_pairs, texts_of_pairs
from gossamer.schedule.order.page_ranks import LEAST, add_own_ranks, add_ranks_of_hosts, host_ranks
from gossamer.state import lsm, unread
from gossamer.tables import DISPOSITIONS, HOST_RANKS, HOST_SIZES, JUDGED, MIRRORS, RANKS, SIMILAR
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from gossamer.dedup.disposition_layers import DispositionLayers
    from gossamer.dedup.similar_texts import Similarities
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import File

KEYS = ("text", "compared", "families")
"""Columns of `dispositions` by which pages are compared with others."""
KEYS_DDL = ", ".join(
    f"{each.name} {each.type}" for each in DISPOSITIONS.columns if each.name in KEYS
)
_STANDS_WITH_OTHERS = "reason <> 'version' OR copy_count > version_count"
"""Pages whose ranks matter: newer versions stand for older ones whatever their ranks are."""
_STANDS_FOR_NONE = "reason IS NULL AND copy_count = version_count"
"""Pages whose ranks matter if others are similar to them, which yield to better ones so far."""
TEXT_DDL, FAMILY_DDL = "text long", "family long"


def add_rank_classes(work: Workspace, pages: DataFrame) -> DataFrame:
    """Add `rank`: the binary logarithm of the page's rank, 0 for an average page, rounded down.

    Also its `host`. What takes time is materialised.
    """
    hosted = pages.withColumn("host", host_column(F.col("url")))
    return _replace_ranks_by_classes(work, work.scratch(add_own_ranks(work, hosted))[0])


def keys_of_moved_ranks(work: Workspace, known: DispositionLayers) -> DataFrame:
    """The KEYS of pages in groups whose ranks have changed so much that others may survive."""
    if not _are_ranks_new(work):
        return work.engine.read([], KEYS_DDL)
    # Where hosts are mirrors, their pages name those of the originals, and lend them their ranks.
    lends = F.lit(bool(work.store.manifest.layers(MIRRORS.name))) | F.col("canonical").isNotNull()
    drops_none = F.col("reason").isNotNull() | F.expr(_STANDS_FOR_NONE)
    # Each layer of dispositions is compared with them.
    texts, _ = work.scratch(texts_of_pairs(similar_pairs(work, lsm.current(work, SIMILAR))))
    texts = texts.withColumnRenamed("text", "compared")

    def select_groups(layer: DataFrame) -> DataFrame:
        for_none = layer.where(_STANDS_FOR_NONE).join(texts, on="compared", how="left_semi")
        return layer.where(_STANDS_WITH_OTHERS).unionByName(for_none)

    falls_freely = (drops_none & ~lends).alias("falls_freely")
    compared = known.where(select_groups).select("url", *KEYS, "rank_class", falls_freely)
    ranked = add_own_ranks(work, compared)
    moved = ranked.where(F.col("rank").isNull() | _has_moved(_rank_class(work)))
    hosted, number = work.scratch(moved.withColumn("host", host_column(F.col("url"))))
    if not number:
        return work.engine.read([], KEYS_DDL)
    return _replace_ranks_by_classes(work, hosted).where(_has_moved(F.col("rank"))).select(*KEYS)


def _has_moved(now: Column) -> Column:
    """Whether a page's class of rank may decide otherwise than the one by which it was decided.

    Not if a page falls that stands for none, and lends its rank to none: those that are better are
    better still, in the same order.
    """
    was = F.col("rank_class")
    return F.when(F.col("falls_freely"), now > was).otherwise(~now.eqNullSafe(was))


def _are_ranks_new(work: Workspace) -> bool:
    """Whether pages or hosts were ranked since the last harvest.

    In a crawl without end, many harvests take no time for links (harvests.py).
    """
    read = unread.read_until(work, JUDGED) or 0
    stacks = (work.store.manifest.layers(table.name) for table in (RANKS, HOST_RANKS, HOST_SIZES))
    return any(unread.newer(layers, read) for layers in stacks)


def _replace_ranks_by_classes(work: Workspace, pages: DataFrame) -> DataFrame:
    """Replace `rank`, which is null for pages that are not ranked themselves, by its class."""
    unranked = pages.where("rank IS NULL").select("host").distinct()
    hosts, number = work.scratch(unranked, "host string")
    if number:
        of_these = host_ranks(work).join(hosts, on="host", how="left_semi")
        pages, _ = work.scratch(add_ranks_of_hosts(work, pages, of_these))
    return pages.withColumn("rank", _rank_class(work))


def _rank_class(work: Workspace) -> Column:
    number = max(sum(layer.rows for layer in work.store.manifest.layers(RANKS.name)), 1)
    return F.floor(F.log2(F.greatest("rank", F.lit(LEAST)) * number)).cast("int")


def follow_connections(
    work: Workspace,
    known: DispositionLayers,
    seeds: DataFrame,
    similarities: Similarities,
    *,
    has_families: bool,
) -> tuple[DataFrame, int]:
    """The rows of all pages that are connected to some (KEYS), and the number of their families.

    They are materialised. `has_families`: whether any of the `seeds` is in one.
    """
    texts, families = work.engine.read([], TEXT_DDL), work.engine.read([], FAMILY_DDL)
    rows, found, number_of_families = seeds, work.engine.read([], DISPOSITIONS.ddl), 0
    begins: list[File] = []
    while True:
        new_texts = work.scratch_files(
            rows.select(F.explode(F.array("text", "compared")).alias("text"))
            .where("text IS NOT NULL")
            .distinct()
            .join(texts, on="text", how="left_anti")
        )
        further = 0
        if rows is not seeds or has_families:
            new_families, further = work.scratch(
                rows.select(F.explode("families").alias("family"))
                .distinct()
                .join(families, on="family", how="left_anti"),
                FAMILY_DDL,
            )
            families = families.unionByName(new_families) if further else families
        number_of_families += further
        if not new_texts and not further:
            return found, number_of_families
        begins += new_texts
        texts = similarities.connected_texts(begins)
        found, _ = work.scratch(known.rows_of_texts(texts))
        if further:
            others = known.rows_of_families(families).join(found, on="url", how="left_anti")
            found, _ = work.scratch(found.unionByName(others))
        rows = found
