"""rank: links → ranks, host_ranks. PageRank (Brin and Page, WWW 1998) by power iteration.

    x(t+1)[v] = (1 − α)/n + α · ( Σ_{u→v} x(t)[u]/outdegree(u) + Σ_{u dangling} x(t)[u]/n )

over the n pages that were fetched. Several links from one page to another count once; links marked
nofollow and links to pages that were not fetched are ignored. A dangling page, which has no links
left, gives its rank to all pages equally. As the preference vector is uniform too, this is both the
weakly and the strongly preferential PageRank of Boldi, Santini and Vigna ("PageRank: Functional
dependencies", ACM TOIS 2009). Stops when Σ|x(t+1) − x(t)| < tolerance, or after `iterations`; the
error against the fixed point is then at most α/(1 − α) times that sum.

A graph of at most MAX_IN_MEMORY links and pages is iterated here, in arrays: 10 ns per link and
iteration. For a larger one, the engine joins links and ranks in each iteration, and writes the new
ranks, 16 bytes per page, to scratch files, as it does not cache. An iteration of the engine takes
at least a tenth of a second, however small the graph.

Hosts are ranked in the same way, by the links between them, each pair of hosts once.

Nodes are xxhash64 of their names. Some two of n pages collide with probability n²/2⁶⁵ (one in three
thousand at a hundred million pages), and would then share a rank.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import functions as F

from gossamer import linkgraph, lsm
from gossamer.tables import HOST_RANKS, PAGES, RANKS
from gossamer.task_output import ParquetWriter, layers_of
from gossamer.urls import host_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from pyspark.sql import DataFrame

    from gossamer.config import RankConfig
    from gossamer.store import File, Layer, StepReport
    from gossamer.tables import Dataset
    from gossamer.workspace import Workspace

MAX_IN_MEMORY = 5_000_000
"""Links and pages of the largest graph that is ranked in memory, which then takes 300 MB."""
ENDS = ("src", "dst")
LINK_DDL = "src long, dst long"


def run(work: Workspace) -> StepReport:
    with work.step("rank", work.round) as draft:
        pages = lsm.current(work, PAGES).where("status = 'fetched'").select("url")
        votes = linkgraph.votes(work).where(~F.col("nofollow")).select("src", "dst")
        layers, iterations, count = _ranked(work, RANKS, pages, votes)
        draft.replace["ranks"] = layers
        draft.counts.update(pages=count, iterations=iterations)
        hosts = pages.select(host_column(F.col("url")).alias("host")).distinct()
        between_hosts = votes.select(*(host_column(F.col(end)).alias(end) for end in ENDS))
        layers, _, count = _ranked(work, HOST_RANKS, hosts, between_hosts)
        draft.replace["host_ranks"] = layers
        draft.counts["hosts"] = count
    return draft.done


def _ranked(
    work: Workspace, dataset: Dataset, named: DataFrame, links: DataFrame
) -> tuple[tuple[Layer, ...], int, int]:
    """Rank the nodes of a column by links between them (src, dst).

    Returns the layers of the dataset, and the numbers of iterations and of nodes.
    """
    (key,) = dataset.key
    node_files = work.scratch_files(named.select(key, F.xxhash64(key).alias("id")))
    nodes = work.engine.read(_paths(work, node_files), f"{key} string, id long")
    link_files = work.scratch_files(between(nodes.select("id"), links))
    n = sum(file.rows for file in node_files)
    if n + sum(file.rows for file in link_files) <= MAX_IN_MEMORY:
        return *_ranked_in_memory(work, dataset, node_files, link_files), n
    edges, _ = work.scratch(weighted(work.engine.read(_paths(work, link_files), LINK_DDL)))
    ranks, iterations = power(work, nodes.select("id"), edges, n, work.config.rank)
    ranked = nodes.join(ranks, on="id", how="inner")
    return (work.write(ranked, dataset.name, work.round),), iterations, n


def _paths(work: Workspace, files: Sequence[File]) -> list[str]:
    return [f"{work.root}/{file.path}" for file in files]


def between(ids: DataFrame, links: DataFrame) -> DataFrame:
    """The links between nodes (a column `id`), each pair (src, dst) once."""
    return (
        links.select(F.xxhash64("src").alias("src"), F.xxhash64("dst").alias("dst"))
        .where(F.col("src") != F.col("dst"))
        .distinct()
        .join(ids.withColumnRenamed("id", "dst"), on="dst", how="left_semi")
        .join(ids.withColumnRenamed("id", "src"), on="src", how="left_semi")
    )


def _ranked_in_memory(
    work: Workspace, dataset: Dataset, node_files: Sequence[File], link_files: Sequence[File]
) -> tuple[tuple[Layer, ...], int]:
    """Rank nodes (the dataset's key, id) by links (src, dst); return layers and iterations."""
    if not node_files:
        return (), 0
    ids, node_of = np.unique(_numbers(work, node_files, "id"), return_inverse=True)
    sources, targets = (
        np.searchsorted(ids, _numbers(work, link_files, end)) for end in ("src", "dst")
    )
    ranks, iterations = in_memory(sources, targets, len(node_of), work.config.rank)
    (key,) = dataset.key
    names = pq.read_table(_paths(work, node_files), columns=[key]).column(key)
    writer = ParquetWriter(work.root, dataset.name, work.store.attempt(dataset.name))
    writer.write(pa.table({key: names, "rank": ranks[node_of]}))
    return (layers_of(writer.close(), work.round)[dataset.name],), iterations


def _numbers(work: Workspace, files: Sequence[File], column: str) -> npt.NDArray[np.int64]:
    tables = [pq.read_table(path, columns=[column]) for path in _paths(work, files)]
    return np.concatenate([np.empty(0, np.int64), *(table.column(0) for table in tables)])


def in_memory(
    sources: npt.NDArray[np.intp], targets: npt.NDArray[np.intp], n: int, config: RankConfig
) -> tuple[npt.NDArray[np.float64], int]:
    """The ranks of n nodes, numbered from 0, by links between them, and the iterations."""
    shares = 1 / np.bincount(sources, minlength=n).clip(1)[sources]
    ranks = np.full(n, 1 / n)
    iteration, change = 0, np.inf
    while change >= config.tolerance and iteration < config.iterations:
        iteration += 1
        received = np.bincount(targets, ranks[sources] * shares, minlength=n)
        everyone = ((1 - config.damping) + config.damping * (1 - received.sum())) / n
        moved = config.damping * received + everyone
        change = np.abs(moved - ranks).sum()
        ranks = moved
    return ranks, iteration


def weighted(links: DataFrame) -> DataFrame:
    """Edges: src, dst (node ids), and the `share` of src's rank that the link carries."""
    degrees = links.groupBy("src").agg((1 / F.count("*")).alias("share"))
    return links.join(degrees, on="src", how="inner").select("src", "dst", "share")


def power(
    work: Workspace, ids: DataFrame, edges: DataFrame, n: int, config: RankConfig
) -> tuple[DataFrame, int]:
    """The fixed point (id, rank), and the number of iterations, computed by the engine."""
    ranks = ids.select("id", F.lit(1 / max(n, 1)).alias("rank"))
    iteration, change = 0, float("inf")
    while change >= config.tolerance and iteration < config.iterations and n:
        iteration += 1
        given = edges.join(ranks, on=edges.src == ranks.id, how="inner")
        received = given.groupBy(F.col("dst").alias("id")).agg(
            F.sum(F.col("rank") * F.col("share")).alias("received")
        )
        # The rank that no page received is that of dangling pages, which all pages share.
        kept = received.agg(F.coalesce(F.sum("received"), F.lit(0.0))).collect()[0][0]
        everyone = ((1 - config.damping) + config.damping * (1 - kept)) / n
        moved, _ = work.scratch(
            ranks.join(received, on="id", how="left").select(
                "id",
                F.col("rank").alias("before"),
                (config.damping * F.coalesce("received", F.lit(0.0)) + everyone).alias("rank"),
            )
        )
        change = moved.agg(F.sum(F.abs(F.col("rank") - F.col("before")))).collect()[0][0]
        ranks = moved.select("id", "rank")
    return ranks, iteration
