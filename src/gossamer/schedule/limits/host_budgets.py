"""How many pages may a round take from a host, and from a registrable domain?

A host supplies `generate.pages_per_host` pages at most. The budget of a domain is the share of the
round that its standing is worth (links/domains.py). Own hosts have no limit.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer.links.domains import FULL_LINKS, budget_share, growth_factor, hosts_of_large_domains
from gossamer.state import lsm
from gossamer.tables import DOMAINS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from gossamer.config import GenerateConfig
    from gossamer.state.workspace import Workspace


class Supply(NamedTuple):
    """The pages that a round may take from those that are due."""

    pages: int
    """Their number."""
    hosts: DataFrame
    """Hosts with their domains (host, domain), at least those of limited domains."""
    limited: DataFrame
    """Domains whose `supply`, the due pages within the limit per host, exceeds their `budget`."""
    domains: int
    """The number of limited domains."""

    def budgets(self, growth: float = 1) -> DataFrame | None:
        """The hosts of limited domains: host, domain, budget. None if there are none."""
        if not self.domains:
            return None
        budget = F.ceil(F.col("budget") * growth).alias("budget")
        return self.hosts.join(self.limited.select("domain", budget), on="domain", how="inner")

    def budgets_to_fill(self, pages: int) -> DataFrame | None:
        """The budgets after growing by the same factor until they fill a round, if that is needed.

        None if no domain has to be limited.
        """
        if self.pages >= pages:
            return self.budgets()
        # There are fewer domains than pages in the round, because each supplies at least one.
        rows = self.limited.select("supply", "budget").collect()
        supply, budget = np.array(rows, np.int64).reshape(-1, 2).T
        growth = growth_factor(supply, budget, pages - self.pages + int(budget.sum()))
        return None if math.isinf(growth) else self.budgets(growth)


def available_pages(work: Workspace, due: DataFrame, config: GenerateConfig) -> Supply:
    """Count the pages that the hosts and domains of due pages supply."""
    count = F.count("*")
    supply = F.when(F.col("own"), count).otherwise(F.least(count, F.lit(config.pages_per_host)))
    by_host, _ = work.scratch(
        due.groupBy("host", "own").agg(supply.alias("supply"), F.min("depth").alias("depth"))
    )
    per_link = config.domain_share * config.pages / FULL_LINKS
    others = by_host.where(~F.col("own")).drop("own")
    hosts = hosts_of_large_domains(work, others, "supply", math.ceil(per_link))
    of_domains = hosts.groupBy("domain").agg(
        F.sum("supply").alias("supply"), F.min("depth").alias("depth")
    )
    known = lsm.rows_for(work, DOMAINS, of_domains.select("domain"))
    # A seed that was never fetched is not among `domains` yet.
    worth = F.when(F.col("depth") == 0, FULL_LINKS).otherwise(budget_share())
    limited, count_of_limited = work.scratch(
        of_domains.join(known, on="domain", how="left")
        .select("domain", "supply", F.ceil(worth * per_link).cast("long").alias("budget"))
        .where(F.col("supply") > F.col("budget"))
    )
    beyond = _sum(limited, F.col("supply") - F.col("budget"))
    pages = _sum(by_host, F.col("supply")) - beyond
    return Supply(pages, hosts.select("host", "domain"), limited, count_of_limited)


def _sum(rows: DataFrame, column: Column) -> int:
    total: int = rows.agg(F.coalesce(F.sum(column), F.lit(0)).alias("total")).collect()[0][0]
    return total


def drop_pages_beyond_total(
    due: DataFrame, hosts: DataFrame, total: int, per_round: int
) -> DataFrame:
    """Drop pages that were never requested, if they would bring their host above `total` pages.

    A host has to be sorted only if its pages left are fewer than `per_round`, the limit of the
    round, or if that limit does not apply, because it is the user's own.
    """
    left = F.coalesce(F.lit(total) - F.col("pages"), F.lit(total))
    known = due.join(hosts.select("host", "pages"), on="host", how="left").withColumn("left", left)
    spent = ~F.col("asked") & (F.col("own") | (F.col("left") < per_round))
    in_host = Window.partitionBy("host").orderBy(F.desc("score"), F.asc("url"))
    last = (
        known.where(spent)
        .withColumn("place", F.row_number().over(in_host))
        .where(F.col("place") <= F.col("left"))
    )
    return known.where(~spent).select(due.columns).unionByName(last.select(due.columns))
