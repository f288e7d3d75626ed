"""Which rank does a page have that `rank` has not ranked? Its part of the rank of its host.

A page that no ranked page links to has no rank. In PageRank, it would have what chance gives, 1 − α
of the probability with which the random surfer jumps to it. Let the surfer choose a host by its
rank, and then any of its m ranked pages, as in BlockRank (Kamvar, Haveliwala, Manning and Golub,
"Exploiting the block structure of the Web for computing PageRank", Stanford 2003, §5). Then

    rank = (1 − α) · host_rank/m

So among pages that nobody recommends, those of better hosts come first, and each comes after an
average page of its host. Pages of hosts without a rank come last.

Cost: ranks of more pages than PART_RANKS are joined in parts of so many, as a hash table does not
spill.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from gossamer.state import sorted_rows
from gossamer.tables import HOST_RANKS, HOST_SIZES, RANKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import File

PART_RANKS = 5_000_000
"""Rows in a hash table."""
LEAST = 2.0**-64
"""The rank of pages and hosts of which nothing is known; also of those that `rank` gives none."""


def host_ranks(work: Workspace) -> DataFrame:
    """The `host_rank` of each `host`, and how many ranked pages it has (`m`; null: not known)."""
    sizes = work.read(HOST_SIZES.name).withColumnRenamed("pages", "m")
    ranks = work.read(HOST_RANKS.name).withColumnRenamed("rank", "host_rank")
    return ranks.join(sizes, on="host", how="left")


def add_ranks(work: Workspace, pages: DataFrame) -> DataFrame:
    """Add `rank` and `host_rank` to pages (with `url` and `host`, each URL once); both ≥ LEAST."""
    return add_ranks_of_hosts(work, add_own_ranks(work, pages), host_ranks(work))


def add_rank(work: Workspace, pages: DataFrame, count: int) -> DataFrame:
    """Add `rank` as `add_ranks` does, materialised, to so many pages, most of which have one."""
    rows, _ = work.scratch(add_own_ranks(work, pages, count))
    unranked = rows.where("rank IS NULL")
    hosts, number = work.scratch(unranked.select("host").distinct(), "host string")
    if not number:
        return rows
    of_these = host_ranks(work).join(hosts, on="host", how="left_semi")
    by_chance = add_ranks_of_hosts(work, unranked, of_these).drop("host_rank")
    return work.scratch(rows.where("rank IS NOT NULL").unionByName(by_chance))[0]


def add_ranks_of_hosts(work: Workspace, pages: DataFrame, hosts: DataFrame) -> DataFrame:
    """As `add_ranks`, of pages `add_own_ranks`. `hosts`: rows of `host_ranks`."""
    jump = 1 - work.config.rank.damping
    by_chance = F.col("host_rank") * jump / F.coalesce("m", F.lit(1))
    known = pages.join(F.broadcast(hosts), on="host", how="left")
    least = F.lit(LEAST)
    return known.withColumns(
        {
            "rank": F.greatest(F.coalesce("rank", by_chance, least), least),
            "host_rank": F.greatest(F.coalesce("host_rank", least), least),
        }
    ).drop("m")


def add_own_ranks(work: Workspace, pages: DataFrame, count: int | None = None) -> DataFrame:
    """Add the `rank` of those pages (`url`) that `ranks` knows; null for the others.

    `count`: the number of pages, if it is known. The hash table is built from the left side of a
    join: from the pages, or from the ranks if these are few, too.
    """
    ranks = work.read(RANKS.name)
    parts = -(-sum(layer.rows for layer in work.store.manifest.layers(RANKS.name)) // PART_RANKS)
    if count is None and parts > 1:
        pages, count = work.scratch(pages)
    if count is not None and count <= PART_RANKS:
        return pages.join(ranks, on="url", how="left")
    if parts <= 1:
        return ranks.join(pages, on="url", how="right")
    part = F.pmod(F.xxhash64("url"), F.lit(parts)).alias("part")
    ours, theirs = (
        sorted_rows.files_of_parts(work.scratch_files(rows.select("*", part), by=["part"]))
        for rows in (pages, ranks)
    )
    ddl = ", ".join(f"{each.name} {each.dataType.simpleString()}" for each in pages.schema)
    joined = [
        work.scratch(
            _read_files(work, theirs.get(number, []), RANKS.ddl).join(
                _read_files(work, files, ddl), on="url", how="right"
            )
        )[0]
        for number, files in ours.items()
    ]
    return reduce(DataFrame.unionByName, joined)


def _read_files(work: Workspace, files: Sequence[File], ddl: str) -> DataFrame:
    return work.engine.read([f"{work.root}/{file.path}" for file in files], ddl)
