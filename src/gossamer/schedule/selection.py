"""The pages of a round: of those that are due, the best N within the budgets of their domains.

A window over all due pages would sort the whole page database. But few of its pages can be chosen:
let c(s) be the number of pages that would be chosen within the budgets from those with a score ≥ s.
If c(s) ≥ N, no page with a score below s can be among the best N. So we count the due pages by
score bucket, compute c for the bucket above which 2 N pages lie, then for twice as many pages, and
so on until it reaches N; only pages above the last bucket are sorted. If many are due, a sample
tells which bucket to try first (score_cutoff.py), which spares a pass. The result is exact in both
cases. bench/page_state.py measures it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer.schedule.limits.host_budgets import available_pages
from gossamer.schedule.order import score_cutoff
from gossamer.state import lsm

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyspark.sql import DataFrame

    from gossamer.config import GenerateConfig
    from gossamer.schedule.order.score_cutoff import Sample
    from gossamer.state.workspace import Workspace


@dataclass(frozen=True)
class DuePages:
    """The pages that are due, with their scores: what `choose` returns for layers of `pages`.

    To read the best of them, each layer is cut to these before layers are joined. A `choose` that
    costs a pass of its own is called beforehand: its result is the single layer then.
    """

    layers: Sequence[DataFrame]
    """Oldest first."""
    choose: Callable[[DataFrame], DataFrame] = lambda pages: pages

    @cached_property
    def pages(self) -> DataFrame:
        return self.choose(lsm.newest_rows(self.layers, "url"))

    def above(self, floor: int) -> DataFrame:
        """Return the pages in this bucket of scores and in better ones."""
        return lsm.newest_rows(
            self.layers, "url", lambda layer: score_cutoff.pages_above(self.choose(layer), floor)
        )


class Contenders(NamedTuple):
    """Pages that include all those of the round, and what limits their domains."""

    pages: DataFrame
    budgets: DataFrame | None
    """The hosts of limited domains: host, domain, budget. None if none has to be limited."""


def select_pages(
    work: Workspace, due: DuePages, config: GenerateConfig, sample: Sample | None
) -> DataFrame | None:
    """Return the pages of the round (`chosen`), and those that only their domain's budget kept out.

    None if no page is due. `sample`: one of the due pages.
    """
    contenders = above_cutoff(work, due, config, sample)
    if contenders is None:
        return None
    return select_best(contenders.pages, config.pages, config.pages_per_host, contenders.budgets)


def above_cutoff(
    work: Workspace, due: DuePages, config: GenerateConfig, sample: Sample | None = None
) -> Contenders | None:
    """Return the due pages above a score below which none can be chosen; None if none is due."""
    if sample is not None:
        floors = score_cutoff.likely_floors(sample, config.pages, config.pages_per_host)
        if (guessed := _first_to_fill(work, due, config, floors)) is not None:
            return guessed
    counts = score_cutoff.count_buckets(due.pages)
    if not counts:
        return None
    if sum(each.pages for each in counts) <= config.pages:
        return Contenders(due.pages, None)
    floors = score_cutoff.doubling_floors(counts, config.pages)
    if (counted := _first_to_fill(work, due, config, floors)) is not None:
        return counted
    supply = available_pages(work, due.pages, config)
    return Contenders(due.pages, supply.budgets_to_fill(config.pages))


def _first_to_fill(
    work: Workspace, due: DuePages, config: GenerateConfig, floors: Iterable[int]
) -> Contenders | None:
    """Return the pages above the first of these buckets above which they fill the round."""
    for floor in floors:
        found, _ = work.scratch(due.above(floor))
        supply = available_pages(work, found, config)
        if supply.pages >= config.pages:
            return Contenders(found, supply.budgets())
    return None


def select_best(
    due: DataFrame, total: int, per_host: int, budgets: DataFrame | None = None
) -> DataFrame:
    """Mark the `total` pages with the highest scores within the budgets as `chosen`; ties by URL.

    `budgets`: as those of Contenders. Pages that would be among the `total` without budgets are
    also returned, but not chosen.
    """
    by_score = (F.desc("score"), F.asc("url"))
    place = F.row_number()
    in_host = Window.partitionBy("host").orderBy(*by_score)
    overall = Window.partitionBy(F.lit(0)).orderBy(*by_score)
    in_limit = F.col("own") | (F.col("place") <= per_host)
    of_hosts = due.withColumn("place", place.over(in_host)).where(in_limit)
    # Not limit(): for a large k, the engine's top-k takes more time and memory than a sort of the
    # few rows that are left.
    if budgets is None:
        first = of_hosts.withColumn("place", place.over(overall)).where(F.col("place") <= total)
        return first.drop("place").withColumn("chosen", F.lit(True))
    in_domain = Window.partitionBy(F.coalesce("domain", "host")).orderBy(*by_score)
    so_far = overall.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    within = F.coalesce(place.over(in_domain) <= F.col("budget"), F.lit(True))
    return (
        of_hosts.join(F.broadcast(budgets), on="host", how="left")
        .withColumn("within", within)
        .withColumn("place", place.over(overall))
        .withColumn("taken", F.sum(F.col("within").cast("int")).over(so_far))
        .withColumn("chosen", F.col("within") & (F.col("taken") <= total))
        .where(F.col("chosen") | (F.col("place") <= total))
        .drop("place", "taken", "domain", "budget", "within")
    )
