"""What has to be written to bring the index up to date: the pages that change, and their parts.

Pages of which nothing has changed are not looked at (`touched_pages.py`), unless the lines that
repeat on their host have changed, or their part is written again.
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
from gossamer.index.changes import (
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
from gossamer.index.format import selection
from gossamer.index.touched_pages import touched_pages
from gossamer.state import lsm
from gossamer.tables import BOILERPLATE, INDEXED
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from pyspark.sql import Column, DataFrame

    from gossamer.index.format.layout import Key
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
        with engine_errors():
            total = self._standing.agg(F.sum("rank")).collect()[0][0]
            self._mean_rank = (total or 0.0) / max(pages, 1) or 1.0
            first_tier = work.config.index.first_tier
            best = first_tier_rank(self._standing, pages, self._mean_rank, first_tier)
        found = touched_pages(work, new, old, self._standing, self._mean_rank, best)
        self._is_all = found is None
        chosen, before = self._standing, old
        hosts = None
        if found is not None:
            hosts = found.urls.select(host_column(F.col("url")).alias("host")).distinct()
        languages, unnamed = host_languages(work, self._standing, hosts)
        if found is not None:
            urls, _ = work.scratch(found.urls.union(unnamed).distinct())
            chosen, _ = work.scratch(urls.join(self._standing, on="url", how="inner"))
            before = urls.join(old, on="url", how="inner")
        self.dispositions, self.anchors = self._decisions_and_anchors(
            None if self._is_all else chosen
        )
        desired = desired_rows(
            work, chosen, self.dispositions, self.anchors, languages, self._mean_rank
        )
        self.changed, _ = work.scratch(compare_with_indexed(desired, before, best))
        determined, moved = update_outer_boilerplate(work, self.changed, old, known)
        rest = known.join(moved.select("host"), on="host", how="left_anti")
        self.outer_boilerplate, _ = work.scratch(determined.unionByName(rest))
        self.boilerplate = boilerplate_of_hosts(
            self.outer_boilerplate, lsm.current(work, BOILERPLATE)
        )
        self.changed, _ = work.scratch(replace_by_boilerplate(self.changed, self.boilerplate))
        if found is not None:
            others = moved.where("is_due").select("host").union(found.hosts).distinct()
            hosts, number = work.scratch(others, "host string")
            if number:
                hosted = old.withColumn("host", host_column(F.col("url")))
                self._add(hosts.join(hosted, on="host", how="inner").drop("host"))

    def add_parts(self, parts: Collection[Key]) -> None:
        """Look at all pages of some parts."""
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
        """Look at further pages, of which nothing has changed but what repeats on their host."""
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
