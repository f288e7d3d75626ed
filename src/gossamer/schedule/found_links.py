"""What does a round find? Its links by the pages that they lead to, and what rules for URLs add."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.links.current_links import VOTES
from gossamer.rules.url_rules import aliases as url_aliases
from gossamer.schedule import depths
from gossamer.schedule.due import polling, recrawl
from gossamer.state import lsm
from gossamer.tables import PAGES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gossamer.rules.url_rules.aliases import AliasChanges
    from gossamer.state.workspace import Workspace


def late_sources(work: Workspace, links: DataFrame) -> DataFrame | None:
    """The pages (`url`) that were left unparsed in an earlier round, and have links now.

    Materialised; None if there are none.
    """
    early = links.where(F.col("round") < work.round)
    sources, count = work.scratch(early.select(F.col("src").alias("url")).distinct())
    return sources if count else None


def with_present_depths(work: Workspace, links: DataFrame, late: DataFrame | None) -> DataFrame:
    """Corrects the depths along links of `late` pages: a shorter path may have been found since."""
    if late is None:
        return links
    early = F.col("round") < work.round
    known = lsm.rows_for(work, PAGES, late)
    return links.where(~early).unionByName(depths.set_present_depths(links.where(early), known))


def link_targets(links: DataFrame, now_ms: int) -> DataFrame:
    """Per target of a round's links: url, found_depth, found_hops, found_inlinks, found_source.

    And found_dated_ms, the newest date that a listing gives it (`recrawl.credible_ms`). Links
    marked nofollow are ignored. Only links in VOTES from pages fetched for the first time count as
    inlinks, so a page that is fetched again does not vote twice.
    """
    is_redirect = F.col("relation") == "redirect"
    source = F.when(polling.is_news(now_ms), polling.ENTRY).when(is_redirect, "redirect")
    return (
        links.where(~F.col("nofollow"))
        .groupBy(F.col("dst").alias("url"))
        .agg(
            F.min("depth").alias("found_depth"),
            F.min("hops").alias("found_hops"),
            F.sum((F.col("first") & F.col("relation").isin(*VOTES)).cast("long")).alias(
                "found_inlinks"
            ),
            F.min(source.otherwise("link")).alias("found_source"),  # `entry` is the smallest
            F.max(recrawl.credible_ms(now_ms)).alias("found_dated_ms"),
        )
    )


def add_alias_targets(found: DataFrame, turns: AliasChanges) -> DataFrame:
    """Add the pages that become known because of rules for URLs."""
    aggregates = {"found_inlinks": F.sum, "found_depth": F.min, "found_hops": F.min}
    aggregates["found_dated_ms"] = F.max
    return (
        found.select(*url_aliases.FOUND, "found_dated_ms")
        .unionByName(turns.found.withColumn("found_dated_ms", F.lit(None).cast("long")))
        .groupBy("url")
        .agg(
            *(merge(name).alias(name) for name, merge in aggregates.items()),
            F.min("found_source").alias("found_source"),
        )
    )


def with_alias_changes(
    work: Workspace, turns: AliasChanges, before: DataFrame
) -> tuple[DataFrame, DataFrame]:
    """What rules for URLs change, and the old rows of pages, `before`, with those of its pages."""
    rows, _ = work.scratch(turns.rows)
    more = rows.select("url").union(turns.found.select("url"))
    more = lsm.rows_for(work, PAGES, more.join(before, on="url", how="left_anti"))
    return rows, work.scratch(before.unionByName(more))[0]
