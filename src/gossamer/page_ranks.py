"""Which rank does a page have that `rank` has not ranked? Every page has some.

`ranks` knows the pages that were fetched before the last `rank`. Of another page, its host is known
at best. With nobody to recommend it, it has what chance gives: 1 − α of the probability with which
the random surfer jumps to it. PageRank lets the surfer jump to all of n pages equally, so this is
(1 − α)/n. Here, the surfer may also choose a host by its rank, and then any of its m pages, as in
BlockRank (Kamvar, Haveliwala, Manning and Golub, "Exploiting the block structure of the Web for
computing PageRank", Stanford 2003, §5):

    rank = (1 − α) · max(host_rank/m, 1/n)

So such a page is above others that nobody recommends if its host is recommended more than its size
explains, and it is below an average page of its host.

Cost: the ranks are joined in parts of at most PART_RANKS rows, as a hash table does not spill.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from gossamer import sorted_parts
from gossamer.tables import HOST_RANKS, RANKS
from gossamer.urls import host_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.store import File
    from gossamer.workspace import Workspace

PART_RANKS = 5_000_000
"""Ranks in a hash table, whose URLs take about half a gigabyte."""


def with_ranks(work: Workspace, pages: DataFrame) -> DataFrame:
    """Add `rank` and `host_rank` (both above 0) to pages (with `url` and `host`, each URL once).

    Before the first `rank`, all are 1.
    """
    ranked, hosts = (_rows(work, dataset.name) for dataset in (RANKS, HOST_RANKS))
    if not ranked or not hosts:
        return pages.withColumns({"rank": F.lit(1.0), "host_rank": F.lit(1.0)})
    jump = 1 - work.config.rank.damping
    sizes = work.read(RANKS.name).groupBy(host_column(F.col("url")).alias("host"))
    of_hosts = work.read(HOST_RANKS.name).withColumnRenamed("rank", "host_rank")
    of_hosts = of_hosts.join(sizes.agg(F.count("*").alias("m")), on="host", how="left")
    by_chance = jump * F.greatest(F.col("host_rank") / F.coalesce("m", F.lit(1)), F.lit(1 / ranked))
    return (
        _with_own(work, pages, ranked)
        .join(F.broadcast(of_hosts), on="host", how="left")
        .withColumn("rank", F.coalesce("rank", by_chance, F.lit(jump / ranked)))
        .withColumn("host_rank", F.coalesce("host_rank", F.lit(jump / hosts)))
        .drop("m")
    )


def _rows(work: Workspace, dataset: str) -> int:
    return sum(layer.rows for layer in work.store.manifest.layers(dataset))


def _with_own(work: Workspace, pages: DataFrame, ranked: int) -> DataFrame:
    """Add the `rank` of those pages that `ranks` knows."""
    ranks, parts = work.read(RANKS.name), -(-ranked // PART_RANKS)
    if parts == 1:
        return pages.join(ranks, on="url", how="left")
    part = F.pmod(F.xxhash64("url"), F.lit(parts)).alias("part")
    ours, theirs = (
        sorted_parts.parts(work.scratch_files(rows.select("*", part), by=["part"]))
        for rows in (pages, ranks)
    )
    ddl = ", ".join(f"{each.name} {each.dataType.simpleString()}" for each in pages.schema)
    joined = [
        work.scratch(
            _read(work, files, ddl).join(
                _read(work, theirs.get(number, []), RANKS.ddl), on="url", how="left"
            )
        )[0]
        for number, files in ours.items()
    ]
    return reduce(DataFrame.unionByName, joined)


def _read(work: Workspace, files: Sequence[File], ddl: str) -> DataFrame:
    return work.engine.read([f"{work.root}/{file.path}" for file in files], ddl)
