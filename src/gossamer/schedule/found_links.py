"""To which pages do the links of a round lead, and which of these do rules for URLs replace?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.links.current_links import VOTES
from gossamer.rules.spellings import linked_spelling, plainest
from gossamer.rules.url_rules import aliases as url_aliases
from gossamer.schedule import depths
from gossamer.schedule.due import change_rates, listing_polls
from gossamer.state import lsm
from gossamer.tables import HOSTS, LINKS, PAGES
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gossamer.rules.url_rules.aliases import AliasChanges
    from gossamer.state.workspace import Workspace


def late_found_sources(work: Workspace, links: DataFrame) -> DataFrame | None:
    """Return the pages (`url`) that were fetched in an earlier round and only parsed in this one.

    Materialised; None if there are none. `links`: those of the round.
    """
    earlier = links.where(F.col("round") < work.round)
    sources, count = work.scratch(earlier.select(F.col("src").alias("url")).distinct())
    return sources if count else None


def correct_found_depths(work: Workspace, links: DataFrame, late: DataFrame | None) -> DataFrame:
    """Correct the depths along links of `late` pages: a shorter path may have been found since."""
    if late is None:
        return links
    is_earlier = F.col("round") < work.round
    corrected = depths.set_present_depths(links.where(is_earlier), lsm.rows_for(work, PAGES, late))
    return links.where(~is_earlier).unionByName(corrected)


def believe_dates(work: Workspace, links: DataFrame) -> DataFrame:
    """Drop the dates that listings give pages of hosts for which they do not speak.

    A listing speaks for its own host, and for hosts whose robots.txt names it (sitemaps.org,
    "Sitemaps & Cross Submits"), or another listing of its folder, since the parts of a sitemap
    index lie together. Other people's files may lie at the root of a shared host.
    """
    by, of = host_column(F.col("src")), host_column(F.col("dst"))
    dated = links.where(F.col("dated_ms").isNotNull()).where(by != of)
    foreign, count = work.scratch(dated.select("src", of.alias("host")).distinct())
    if not count:
        return links
    hosts = lsm.rows_for_some(work, HOSTS, foreign.select("host"), ["sitemaps"])
    named = hosts.select("host", F.explode("sitemaps").alias("sitemap"))
    sitemap, listing = (F.regexp_replace(n, "^https?:", "") for n in ("sitemap", "src"))
    folder = F.regexp_extract(sitemap, r"^//[^/?]+/[^?]*/", 0)  # empty at the root
    is_part = (folder != "") & F.startswith(listing, folder)
    spoken, count = work.scratch(
        foreign.join(named, on="host", how="inner")
        .where((listing == sitemap) | is_part)
        .select("src", F.col("host").alias("of"), F.lit(True).alias("speaks"))
        .distinct()
    )
    links = links.withColumns({"by": by, "of": of})
    is_believed = F.col("by") == F.col("of")
    if count:
        links = links.join(F.broadcast(spoken), on=["src", "of"], how="left")
        is_believed |= F.coalesce("speaks", F.lit(False))
    dated_ms = F.when(is_believed, F.col("dated_ms"))
    return links.withColumn("dated_ms", dated_ms).select(*LINKS.column_names)


def link_targets(links: DataFrame, now_ms: int) -> DataFrame:
    """Group links by target: `url`, and as found_… its depth, hops, inlinks and other columns.

    The date is the newest that a listing gives (`change_rates.credible_ms`). Links marked nofollow
    are ignored. Only links in VOTES from pages fetched for the first time count as inlinks, so a
    page that is fetched again does not vote twice.
    """
    is_redirect = F.col("relation") == "redirect"
    source = F.when(listing_polls.is_news(now_ms), listing_polls.ENTRY).when(
        is_redirect, "redirect"
    )
    is_vote = F.col("first") & F.col("relation").isin(*VOTES)
    aggregates = {
        "depth": F.min("depth"),
        "hops": F.min("hops"),
        "inlinks": F.sum(is_vote.cast("long")),
        "source": F.min(source.otherwise("link")),  # `entry` is the smallest
        "dated_ms": F.max(change_rates.credible_ms(now_ms)),
        "spelling": plainest(linked_spelling()),
        "announced": F.max("announced"),
    }
    targets = links.where(~F.col("nofollow")).groupBy(F.col("dst").alias("url"))
    return targets.agg(*(each.alias(f"found_{name}") for name, each in aggregates.items()))


def find_new_in_known(work: Workspace, links: DataFrame, before: DataFrame) -> DataFrame | None:
    """Count what visits to known pages found (`listing_polls.count_listed`); None if nothing.

    `before`: the old rows of all pages that the links lead to.
    """
    again = listing_polls.polled_links(links, work.now_ms())
    finds, count = work.scratch(listing_polls.count_listed(again, before))
    return finds if count else None


def add_alias_targets(found: DataFrame, changes: AliasChanges) -> DataFrame:
    """Add the pages that become known because of rules for URLs."""
    lacking = (("found_dated_ms", "long"), ("found_announced", "boolean"))
    both = found.select(*url_aliases.FOUND, *(name for name, _ in lacking)).unionByName(
        changes.found.select("*", *(F.lit(None).cast(kind).alias(name) for name, kind in lacking))
    )
    sums = {"inlinks": F.sum, "depth": F.min, "hops": F.min, "dated_ms": F.max, "source": F.min}
    sums |= {"spelling": plainest, "announced": F.max}
    names = {f"found_{name}": merge for name, merge in sums.items()}
    return both.groupBy("url").agg(*(merge(name).alias(name) for name, merge in names.items()))
