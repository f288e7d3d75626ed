"""The pages that must be written to bring the index up to date, and the parts that hold them.

Pages without changed inputs are not compared (`touched_pages.py`), unless the boilerplate of their
host has changed, or their part is rebuilt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import functions as F

from gossamer.engine.engine import engine_errors
from gossamer.index.boilerplate import (
    boilerplate_of_hosts,
    replace_by_boilerplate,
    update_outer_boilerplate,
)
from gossamer.index.format import selection
from gossamer.index.indexed_rows import (
    ADDED,
    KEPT,
    REMOVED,
    REPLACED,
    collect_anchors,
    compare_with_indexed,
    desired_rows,
    first_tier_rank,
    host_languages,
    unchanged_pages,
)
from gossamer.index.touched_pages import touched_pages
from gossamer.state import lsm
from gossamer.tables import BOILERPLATE, INDEXED
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from pyspark.sql import Column, DataFrame

    from gossamer.index.format.layout import Key
    from gossamer.index.touched_pages import TouchedPages
    from gossamer.state.unread import Inputs
    from gossamer.state.workspace import Workspace


class PageMoves(NamedTuple):
    """How many pages change in the same way, between the same two parts."""

    change: str
    shard: int | None
    index_language: str | None
    old_shard: int | None
    old_index_language: str | None
    pages: int

    def changed_parts(self) -> Iterator[Key]:
        """The parts that it changes."""
        if self.change in (ADDED, REPLACED):
            yield self.shard or 0, self.index_language or ""
        if self.change in (REPLACED, REMOVED):
            yield self.old_shard or 0, self.old_index_language or ""


class PendingPages:
    """The pages that are looked at; all rows are materialised."""

    def __init__(self, work: Workspace, old: DataFrame, known: DataFrame, new: Inputs) -> None:
        """`old`, `known`: rows of `indexed` and `outer_boilerplate`. `new`: the unread inputs."""
        self._work, self._old = work, old
        self._standing, pages = work.scratch(selection.indexed_pages(work))
        self._mean_rank, best = self._measure_ranks(pages)
        found = touched_pages(work, new, old, self._standing, self._mean_rank, best)
        self._is_all = found is None
        self._compare(found, best)
        moved = self._update_boilerplate(known)
        if found is not None:
            others = moved.where("is_due").select("host").union(found.hosts).distinct()
            hosts, number = work.scratch(others, "host string")
            if number:
                hosted = old.withColumn("host", host_column(F.col("url")))
                self._add(hosts.join(hosted, on="host", how="inner").drop("host"))

    def _measure_ranks(self, pages: int) -> tuple[float, float | None]:
        """The mean of the ranks, and the static rank that admits to the first tier."""
        with engine_errors():
            total = self._standing.agg(F.sum("rank")).collect()[0][0]
            mean_rank = (total or 0.0) / max(pages, 1) or 1.0
            share = self._work.config.index.first_tier
            return mean_rank, first_tier_rank(self._standing, pages, mean_rank, share)

    def _compare(self, found: TouchedPages | None, best: float | None) -> None:
        """Compare pages with the index: those that were `found`, or all."""
        work, chosen, before, hosts = self._work, self._standing, self._old, None
        if found is not None:
            hosts = found.urls.select(host_column(F.col("url")).alias("host")).distinct()
        languages, unnamed = host_languages(work, self._standing, hosts)
        if found is not None:
            urls, _ = work.scratch(found.urls.union(unnamed).distinct())
            chosen, _ = work.scratch(urls.join(self._standing, on="url", how="inner"))
            before = urls.join(self._old, on="url", how="inner")
        described = self._decisions_and_anchors(None if self._is_all else chosen)
        self.dispositions, self.anchors = described
        desired = desired_rows(work, chosen, *described, languages, self._mean_rank)
        self.changed, _ = work.scratch(compare_with_indexed(desired, before, best))

    def _update_boilerplate(self, known: DataFrame) -> DataFrame:
        """Update the boilerplate of the hosts of changed pages; these hosts are returned."""
        work = self._work
        determined, moved = update_outer_boilerplate(work, self.changed, self._old, known)
        rest = known.join(moved.select("host"), on="host", how="left_anti")
        self.outer_boilerplate, _ = work.scratch(determined.unionByName(rest))
        inner = lsm.current(work, BOILERPLATE)
        self.boilerplate = boilerplate_of_hosts(self.outer_boilerplate, inner)
        self.changed, _ = work.scratch(replace_by_boilerplate(self.changed, self.boilerplate))
        return moved

    def add_parts(self, parts: Collection[Key]) -> None:
        """Compare all pages of some parts, too."""
        if not self._is_all:
            self._add(self._old.where(lies_in(parts, "")))

    def moves(self) -> list[PageMoves]:
        with engine_errors():
            counted = self.changed.groupBy(*PageMoves._fields[:-1]).count()
            return [PageMoves(*row) for row in counted.toLocalIterator()]

    def indexed_rows(self, stale: Collection[Key]) -> DataFrame:
        """The new rows of `indexed`. A page that is not written keeps its static rank.

        `stale`: the parts that are rebuilt, of whose pages all are written.
        """
        same = (F.col("change") == KEPT) & ~lies_in(stale, "")
        rows = self.changed.where(F.col("change") != REMOVED).select(
            "url",
            *(
                F.when(same, F.col(f"old_{name}")).otherwise(F.col(name)).alias(name)
                for name in INDEXED.column_names
                if name != "url"
            ),
        )
        if self._is_all:
            return rows
        return rows.unionByName(self._not_looked_at(self._old))

    def _add(self, old: DataFrame) -> None:
        """Add pages of which at most the boilerplate of their host has changed."""
        rows, number = self._work.scratch(
            unchanged_pages(self._not_looked_at(old), self._standing, self._mean_rank)
        )
        if not number:
            return
        dispositions, anchors = self._decisions_and_anchors(rows)
        self.dispositions = self.dispositions.unionByName(dispositions)
        self.anchors = self.anchors.unionByName(anchors)
        more = replace_by_boilerplate(rows, self.boilerplate)
        self.changed, _ = self._work.scratch(self.changed.unionByName(more))

    def _not_looked_at(self, old: DataFrame) -> DataFrame:
        return old.join(self.changed.select("url"), on="url", how="left_anti")

    def _decisions_and_anchors(self, pages: DataFrame | None) -> tuple[DataFrame, DataFrame]:
        """The dispositions of pages and of those they stand for, and their anchors; None: all."""
        work = self._work
        dispositions, _ = work.scratch(selection.decisive_rows(work, pages))
        of_these = self._standing if pages is None else pages
        return dispositions, work.scratch(collect_anchors(work, of_these, dispositions))[0]


def lies_in(parts: Collection[Key], prefix: str) -> Column:
    """Whether a page is in one of some parts, by columns whose names have a prefix."""
    if not parts:
        return F.lit(False)
    key = F.concat_ws("/", F.col(f"{prefix}shard").cast("string"), F.col(f"{prefix}index_language"))
    return F.coalesce(
        key.isin([f"{shard}/{index_language}" for shard, index_language in sorted(parts)]),
        F.lit(False),
    )
