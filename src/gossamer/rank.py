"""rank: links → ranks. PageRank (Brin and Page, WWW 1998) by power iteration.

    x(t+1)[v] = (1 − α)/n + α · ( Σ_{u→v} x(t)[u]/outdegree(u) + Σ_{u dangling} x(t)[u]/n )

over the n pages that were fetched. Several links from one page to another count once; links marked
nofollow and links to pages that were not fetched are ignored. A dangling page, which has no links
left, gives its rank to all pages equally. As the preference vector is uniform too, this is both the
weakly and the strongly preferential PageRank of Boldi, Santini and Vigna ("PageRank: Functional
dependencies", ACM TOIS 2009). Stops when Σ|x(t+1) − x(t)| < tolerance, or after `iterations`; the
error against the fixed point is then at most α/(1 − α) times that sum.

Facts: the engine does not cache, so each iteration writes its state, 16 bytes per page, to scratch
files. Nodes are xxhash64 of their URLs. Some two of n pages collide with probability n²/2⁶⁵ (one in
three thousand at a hundred million pages), and would then share a rank.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer import linkgraph, lsm
from gossamer.tables import PAGES, RANKS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gossamer.config import RankConfig
    from gossamer.store import StepReport
    from gossamer.workspace import Workspace


def run(work: Workspace) -> StepReport:
    with work.step("rank", work.round) as draft:
        fetched = lsm.current(work, PAGES).where("status = 'fetched'").select("url")
        nodes, n = work.scratch(fetched.select("url", F.xxhash64("url").alias("id")))
        edges, _ = work.scratch(weighted(linkgraph.votes(work), nodes))
        ranks, iterations = power(work, nodes.select("id"), edges, n, work.config.rank)
        layer = work.write(nodes.join(ranks, on="id", how="inner"), RANKS.name, work.round)
        draft.replace["ranks"] = (layer,) if layer.files else ()
        draft.counts.update(pages=n, iterations=iterations)
    return draft.done


def weighted(links: DataFrame, nodes: DataFrame) -> DataFrame:
    """Edges: src, dst (node ids), and the `share` of src's rank that the link carries."""
    ids = nodes.select("id")
    pairs = (
        links.where(~F.col("nofollow"))
        .select(F.xxhash64("src").alias("src"), F.xxhash64("dst").alias("dst"))
        .where(F.col("src") != F.col("dst"))
        .distinct()
        .join(ids.withColumnRenamed("id", "dst"), on="dst", how="left_semi")
        .join(ids.withColumnRenamed("id", "src"), on="src", how="left_semi")
    )
    degrees = pairs.groupBy("src").agg((1 / F.count("*")).alias("share"))
    return pairs.join(degrees, on="src", how="inner").select("src", "dst", "share")


def power(
    work: Workspace, ids: DataFrame, edges: DataFrame, n: int, config: RankConfig
) -> tuple[DataFrame, int]:
    """The fixed point (id, rank), and the number of iterations."""
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
