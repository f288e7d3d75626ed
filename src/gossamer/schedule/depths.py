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
    """Rows to be written, and about how many."""

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

    `rows` are materialised and have a column `nearer` beside those of `pages`, which is true for
    some if they `are_nearer`. `hosts` are rows of hosts that the step is about to write anyway.
    """
    met = rows.select(*PAGES.column_names)
    lowered = _Lowered(work, met)
    nearer = rows.where("nearer") if are_nearer else None
    # A path has at most `max_depth` links, and seldom as many redirects again: strangers, who make
    # longer ones, do not get more passes for them.
    for _ in range(work.config.filter.max_depth + work.config.filter.max_redirects + 1):
        paths = _paths_from(work, nearer, lowered.lower_hosts(met))
        if paths is None or not lowered.lower_pages(paths):
            break
        met = lowered.met
        nearer = met.where("outcome IS NOT NULL")
    return lowered.relaxed(count, [] if hosts is None else [hosts])


class _Lowered:
    """The pages and hosts that a relaxation has brought nearer so far."""

    def __init__(self, work: Workspace, new: DataFrame) -> None:
        """`new`: the rows of pages that the step writes anyway."""
        self._work = work
        self._new = new
        self._pages = work.engine.read([], PAGES.ddl)
        self._page_count = 0
        self._hosts = work.engine.read([], HOSTS.ddl).select("host", "depth")
        self._host_count = 0
        self.met = new
        """The pages that the last pass has brought nearer."""

    def lower_hosts(self, pages: DataFrame) -> DataFrame | None:
        """Bring the hosts of these pages nearer; return those that are nearer now, if any."""
        hosts, count = nearer_hosts(self._work, pages, self._hosts)
        if not count:
            return None
        stack = [self._hosts, hosts]
        self._hosts, self._host_count = self._work.scratch(lsm.newest_rows(stack, "host"))
        return hosts

    def lower_pages(self, paths: DataFrame) -> bool:
        """Bring the ends of these paths nearer; return whether any page is nearer now."""
        least = F.min("depth").alias("near_depth"), F.min("hops").alias("near_hops")
        found, _ = self._work.scratch(paths.groupBy("url").agg(*least))
        known = lsm.rows_for(self._work, PAGES, found.select("url"), self._new, self._pages)
        self.met, count = self._work.scratch(bring_nearer(known, found))
        if count:
            stack = [self._pages, self.met]
            self._pages, self._page_count = self._work.scratch(lsm.newest_rows(stack, "url"))
        return count > 0

    def relaxed(self, count: int, hosts: list[DataFrame]) -> Relaxed:
        """Return all rows to be written; `count` and `hosts`: those that the step has itself."""
        pages = lsm.newest_rows([self._new, self._pages], "url") if self._page_count else self._new
        lowered = host_rows_with_depths(self._work, self._hosts, hosts)
        return Relaxed(
            pages,
            count + self._page_count,
            lsm.newest_rows([*hosts, lowered], "host"),
            self._host_count,
        )


def _paths_from(
    work: Workspace, pages: DataFrame | None, hosts: DataFrame | None
) -> DataFrame | None:
    """Return where the links of these pages, and the robots.txt of these hosts, lead, if any."""
    paths = []
    if pages is not None:
        sources, count = work.scratch(pages.select("url", "depth", "hops"))
        if count:
            paths.append(paths_from_pages(work, sources))
    if hosts is not None:
        paths.append(paths_from_hosts(work, hosts))
    return reduce(DataFrame.unionByName, paths) if paths else None


def nearer_hosts(work: Workspace, pages: DataFrame, before: DataFrame) -> tuple[DataFrame, int]:
    """Known hosts (host, depth) that are nearer by these pages, and their number.

    `before` holds depths that are not stored yet. The depth of a host never grows, so its lowest is
    its newest.
    """
    if not work.store.manifest.layers(HOSTS.name):
        return before, 0
    layers = [*lsm.layer_frames(work, HOSTS), before]
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
