"""How far is each page from the seeds? The fewest links, and the fewest redirects, of all paths.

A page is often fetched before the shortest path to it is found: scores decide the order, and some
hosts have to wait. Once that path is found, the page is nearer, and so may be all pages behind it.
But a row of `links` keeps the depth that its source had when it was fetched. Therefore every step
that brings pages nearer passes its rows through `relax`, which relaxes the links of these pages,
then those of the pages that this brought nearer, and so on (Bellman and Ford's algorithm, begun at
what changed). In whatever order a crawl meets its pages, their depths and hops come out the same.

Invariant between steps: a current link that is followed leads to a page at most one deeper than
its source, or no deeper if it is a redirect. A robots.txt is as deep as its host, which is as deep
as the nearest of its pages that was asked for.

Not included are paths that the crawl has not kept: links beyond `filter.max_depth`, and links to
URLs that a growth limit dropped and a later round found again.

Cost: nothing but a look at the rows and their hosts if nothing was asked for before. Otherwise
each pass reads the URLs of all responses, the links of the rounds that fetched these pages, and
the URLs of `pages`.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from gossamer.links import current_links
from gossamer.state import lsm
from gossamer.tables import HOSTS, PAGES
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from pyspark.sql import Column

    from gossamer.state.workspace import Workspace


class Relaxed(NamedTuple):
    """Rows to be written, and their number or about."""

    pages: DataFrame
    page_count: int
    hosts: DataFrame
    host_count: int


def is_nearer(depth: Column, hops: Column, outcome: Column) -> Column:
    """Whether a page that was asked for, and so may link to others, is nearer than it was.

    Its old row has the columns `depth` and `hops`, null if there is none.
    """
    lower = (depth < F.col("depth")) | (hops < F.col("hops"))
    return F.coalesce(lower & outcome.isNotNull(), F.lit(False))


def relax(
    work: Workspace,
    rows: DataFrame,
    count: int,
    hosts: DataFrame | None = None,
    *,
    are_nearer: bool,
) -> Relaxed:
    """Add what follows from new rows of pages: the rows of all pages and hosts that are nearer now.

    `rows` are materialised and have a column `is_nearer` beside those of `pages`, which is true for
    some if they `are_nearer`. `hosts` are rows of hosts that the step is about to write anyway.
    """
    new = rows.select(*PAGES.column_names)
    lowered, low_hosts = work.engine.read([], PAGES.ddl), work.engine.read([], HOSTS.ddl)
    low_hosts = low_hosts.select("host", "depth")
    source, met = rows.where("nearer") if are_nearer else None, new
    added = host_count = 0
    # A path has at most `max_depth` links, and seldom as many redirects again: strangers, who make
    # longer ones, do not get more passes for them.
    for _ in range(work.config.filter.max_depth + work.config.filter.max_redirects + 1):
        near_hosts, more_hosts = nearer_hosts(work, met, low_hosts)
        if more_hosts:
            low_hosts, host_count = work.scratch(lsm.newest([low_hosts, near_hosts], "host"))
        paths = []
        if source is not None:
            pages, more_pages = work.scratch(source.select("url", "depth", "hops"))
            if more_pages:
                paths.append(paths_from_pages(work, pages))
        if more_hosts:
            paths.append(paths_from_hosts(work, near_hosts))
        if not paths:
            break
        least = F.min("depth").alias("near_depth"), F.min("hops").alias("near_hops")
        found, _ = work.scratch(reduce(DataFrame.unionByName, paths).groupBy("url").agg(*least))
        known = lsm.rows_for(work, PAGES, found.select("url"), new, lowered)
        met, improved = work.scratch(bring_nearer(known, found))
        if not improved:
            break
        lowered, added = work.scratch(lsm.newest([lowered, met], "url"))
        source = met.where("outcome IS NOT NULL")
    given = [] if hosts is None else [hosts]
    return Relaxed(
        lsm.newest([new, lowered], "url") if added else new,
        count + added,
        lsm.newest([*given, host_rows_with_depths(work, low_hosts, given)], "host"),
        host_count,
    )


def nearer_hosts(work: Workspace, pages: DataFrame, before: DataFrame) -> tuple[DataFrame, int]:
    """Known hosts (host, depth) that are nearer by these pages, and their number.

    `before` holds depths that are not stored yet. The depth of a host never grows, so its lowest is
    its newest.
    """
    if not work.store.manifest.layers(HOSTS.name):
        return before, 0
    layers = [*lsm.layers(work, HOSTS), before]
    stored = reduce(DataFrame.union, [layer.select("host", "depth") for layer in layers])
    asked = pages.where("outcome IS NOT NULL").groupBy("host").agg(F.min("depth").alias("near"))
    known = stored.join(asked, on="host", how="inner").groupBy("host", "near")
    return work.scratch(
        known.agg(F.min("depth").alias("depth"))
        .where(F.col("near") < F.col("depth"))
        .select("host", F.col("near").alias("depth"))
    )


def paths_from_pages(work: Workspace, pages: DataFrame) -> DataFrame:
    """Where the links of pages (url, depth, hops) lead, and how far that is (the same columns)."""
    sources = pages.select(F.col("url").alias("src"), "depth", "hops")
    links = current_links.links_of(work, sources.select("src")).where("NOT nofollow")
    return follow_links(links.select("src", "dst", "relation").join(sources, on="src", how="inner"))


def paths_from_hosts(work: Workspace, hosts: DataFrame) -> DataFrame:
    """Where the robots.txt files of hosts (host, depth) lead, as `paths_from_pages` returns it."""
    links = current_links.links_of_robots(work, hosts.select("host"))
    sources = hosts.select("host", "depth", F.lit(0).alias("hops"))
    links = links.select("dst", "relation", host_column(F.col("src")).alias("host"))
    return follow_links(links.join(sources, on="host", how="inner"))


def follow_links(links: DataFrame) -> DataFrame:
    """The targets of links (dst, relation), from the `depth` and `hops` of their sources."""
    redirect = F.col("relation") == "redirect"
    return links.select(
        F.col("dst").alias("url"),
        F.when(redirect, F.col("depth")).otherwise(F.col("depth") + 1).alias("depth"),
        F.when(redirect, F.col("hops") + 1).otherwise(0).alias("hops"),
    )


def bring_nearer(known: DataFrame, found: DataFrame) -> DataFrame:
    """The rows of known pages for which a shorter path was found (url, near_depth, near_hops)."""
    columns = {"depth": F.least("depth", "near_depth"), "hops": F.least("hops", "near_hops")}
    shorter = (F.col("near_depth") < F.col("depth")) | (F.col("near_hops") < F.col("hops"))
    rows = known.join(found, on="url", how="inner").where(shorter)
    return rows.select(*[columns.get(n, F.col(n)).alias(n) for n in PAGES.column_names])


def host_rows_with_depths(work: Workspace, depths: DataFrame, newer: list[DataFrame]) -> DataFrame:
    """The rows of hosts, with these depths (host, depth)."""
    rows = lsm.rows_for(work, HOSTS, depths.select("host"), *newer)
    return rows.drop("depth").join(depths, on="host", how="inner").select(*HOSTS.column_names)


def set_present_depths(links: DataFrame, pages: DataFrame) -> DataFrame:
    """Rows of links whose sources were fetched in an earlier round, with their present depths.

    `pages` holds the rows of the sources, robots.txt files apart.
    """
    source = pages.select(
        F.col("url").alias("src"), F.col("depth").alias("near"), F.col("hops").alias("near_hops")
    )
    redirect = F.col("relation") == "redirect"
    now = {
        "depth": F.least("depth", F.when(redirect, F.col("near")).otherwise(F.col("near") + 1)),
        "hops": F.least("hops", F.when(redirect, F.col("near_hops") + 1).otherwise(0)),
    }
    rows = links.join(source, on="src", how="left")
    return rows.select(*[now.get(n, F.col(n)).alias(n) for n in links.columns])
