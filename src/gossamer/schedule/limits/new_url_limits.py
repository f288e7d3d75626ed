"""How many URLs may a round add? Per registrable domain, and per path with different queries.

This bounds traps that look like any other site (see traps.py). Domains of seeds, and those that
many others link to (domains.py), may add more. A dropped URL is found again when another page links
to it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer.links import domains
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, DataFrame

    from gossamer.state.workspace import Workspace

SEED_GROWTH = 10
"""A domain with the full budget may add this many times the URLs of one without voters."""


def limit_new_urls(
    work: Workspace,
    found: DataFrame,
    rows: int,
    known: DataFrame,
    known_domains: DataFrame,
    counts: dict[str, int],
    links: DataFrame,
) -> tuple[DataFrame, int]:
    """The found URLs that are within the growth limits, and their number.

    `found` are materialised, so many `rows`, and `links` lead to them; `known` are the rows of all
    known pages among them. Dropped ones are counted in `counts`.
    """
    for growth in growth_limits(work, known_domains):
        if rows <= growth.least:
            continue
        dropped = 0
        crowded, groups = work.scratch(growth.crowds(found))
        if groups:
            own = owners_targets(links, crowded, growth.key)
            beyond = urls_beyond_limit(found, known, crowded, growth.key, own)
            excess, dropped = work.scratch(beyond)
        if dropped:
            found, rows = work.scratch(found.join(excess, on="url", how="left_anti"))
            counts[f"dropped_{growth.reason}"] = dropped
    return found, rows


class GrowthLimit(NamedTuple):
    """A limit on new URLs per round and group. A group consists of one or several keys."""

    reason: str
    key: Column
    """The key of a URL; null if the URL is not limited."""
    least: int
    """The smallest limit of any group."""
    crowds: Callable[[DataFrame], DataFrame]
    """The keys of groups with more found URLs than their limit: `key`, `group`, `most`."""


def growth_limits(work: Workspace, known_domains: DataFrame) -> tuple[GrowthLimit, ...]:
    """The limits, in an order that keeps dropped queries from using up their domain's limit."""
    config = work.config.update
    path = F.when(F.contains("url", F.lit("?")), F.split_part("url", F.lit("?"), F.lit(1)))
    host = host_column(F.col("url"))
    per_path, per_domain = config.new_queries_per_path, config.new_urls_per_domain
    by_domain = partial(crowded_domains, work, known_domains, per_domain)
    return (
        GrowthLimit("query_growth", path, per_path, partial(crowded_paths, path, per_path)),
        GrowthLimit("domain_growth", host, per_domain, by_domain),
    )


def crowded_paths(path: Column, most: int, found: DataFrame) -> DataFrame:
    """The paths with more than `most` URLs that differ only in their query; usually none.

    All found URLs are counted, new or not, because that takes a single pass.
    """
    keys = found.select(path.alias("key")).where("key IS NOT NULL")
    counts = keys.groupBy("key").agg(F.count("*").alias("urls"))
    return counts.where(F.col("urls") > most).select(
        "key", F.col("key").alias("group"), F.lit(most).cast("long").alias("most")
    )


def crowded_domains(
    work: Workspace, known_domains: DataFrame, most: int, found: DataFrame
) -> DataFrame:
    """The hosts (`key`) of domains (`group`) with too many found URLs."""
    by_host, _ = work.scratch(
        found.groupBy(host_column(F.col("url")).alias("host")).agg(F.count("*").alias("urls"))
    )
    hosts = domains.hosts_of_large_domains(work, by_host, "urls", most)
    by_domain = hosts.groupBy("domain").agg(F.sum("urls").alias("urls"))
    allowed = F.lit(most) * F.greatest(
        F.lit(1), domains.budget_share() * SEED_GROWTH / domains.FULL_LINKS
    )
    crowded = (
        by_domain.where(F.col("urls") > most)
        .join(known_domains, on="domain", how="left")
        .select("domain", "urls", F.floor(allowed).alias("most"))
        .where(F.col("urls") > F.col("most"))
    )
    return hosts.join(F.broadcast(crowded.drop("urls")), on="domain", how="inner").select(
        F.col("host").alias("key"), F.col("domain").alias("group"), "most"
    )


def owners_targets(links: DataFrame, crowded: DataFrame, key: Column) -> DataFrame:
    """The targets in crowded groups to which a page of the same host or group links: `url`."""
    src, dst = host_column(F.col("src")), host_column(F.col("dst"))
    ends = links.where("NOT nofollow").select(
        F.col("dst").alias("url"), src.alias("src_host"), dst.alias("dst_host")
    )
    groups = F.broadcast(crowded.select("key", "group"))
    linked = groups.join(ends.withColumn("key", key), on="key", how="inner").drop("key")
    of_source = F.broadcast(
        crowded.select(F.col("key").alias("src_host"), F.col("group").alias("of"))
    )
    is_own = (F.col("src_host") == F.col("dst_host")) | (F.col("group") == F.col("of"))
    return of_source.join(linked, on="src_host", how="right").where(is_own).select("url").distinct()


def urls_beyond_limit(
    found: DataFrame, known: DataFrame, crowded: DataFrame, key: Column, own: DataFrame
) -> DataFrame:
    """The new URLs (a column `url`) of crowded groups that exceed the limit and are dropped.

    Those to which their owner links (`own`) are kept, so that nobody else decides what he may add;
    then those nearest to a seed, then those with the most inlinks, then in URL order.
    """
    suspects = found.withColumn("key", key).join(F.broadcast(crowded), on="key", how="inner")
    # Fact (Sail 0.7.2): a literal in place of this column is one after the join, too.
    owned = own.withColumn("owned", F.col("url")).join(suspects, on="url", how="right")
    order = Window.partitionBy("group").orderBy(
        F.col("owned").isNull(), "found_depth", F.desc("found_inlinks"), "url"
    )
    placed = owned.join(known.select("url"), on="url", how="left_anti").withColumn(
        "place", F.row_number().over(order)
    )
    return placed.where(F.col("place") > F.col("most")).select("url")
