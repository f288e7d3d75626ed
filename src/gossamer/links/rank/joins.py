"""Ranks by joins on the engine, for graphs whose ranks do not fit into the memory of a machine.

The same nodes, shares, preference and stop as in arrays (`arrays.py`), computed from the links
themselves: no stored graph is needed. Each iteration joins all links with the ranks of their
sources, and writes its state, 64 bytes per node, to scratch files, as the engine does not cache.
One more query sums up what the next iteration needs to know of it. So the time of a small crawl on
a cluster is that of two queries per iteration.

Nodes are xxhash64 of their names. Some two of n nodes collide with probability n²/2⁶⁵ (one in three
thousand at a hundred million), and would then share a rank.
"""

from __future__ import annotations

from functools import reduce
from itertools import combinations_with_replacement
from operator import add
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from gossamer.links import current_links
from gossamer.links.domains import add_domains
from gossamer.links.rank import trust
from gossamer.links.rank.extrapolation import KEPT, ExtrapolationCycle, extrapolation_weights
from gossamer.links.rank.fetched_nodes import fetched_keys
from gossamer.links.rank.output import Ranking, Written
from gossamer.links.rank.power import error_bound
from gossamer.links.rank.vote_shares import distrust_factors, link_shares
from gossamer.tables import HOST_SIZES
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from pyspark.sql import Column

    from gossamer.config import RankConfig
    from gossamer.links.rank.extrapolation import Floats
    from gossamer.links.rank.trust import Listed
    from gossamer.state.workspace import Workspace
    from gossamer.tables import Dataset

ENDS = ("src", "dst")


class _State(NamedTuple):
    """The ranks of all nodes in the last iterations."""

    rows: DataFrame
    """id, preference, the part of its rank that links carry (`kept`), and the ranks, newest first:
    rank_0, rank_1, …"""
    carried: tuple[float, ...]
    """What links carry of these ranks."""
    products: Floats
    """Of the changes between them, as in `extrapolation.py`."""


class _FixedPoint(NamedTuple):
    ranks: DataFrame
    """id, rank"""
    iterations: int


def rank_by_joins(work: Workspace, kind: str, dataset: Dataset) -> Ranking:
    """Rank all pages, or all hosts, and write the ranks."""
    lists = trust.read_lists(work, kind)
    links, _ = work.scratch(_links_to_join(work, kind))
    nodes, count = work.scratch(_nodes_to_join(work, kind, links, lists.trusted, lists.distrusted))
    if not count:
        return Ranking(lambda: Written(()), 0, 0)
    preferred = _preferred_pages(work, nodes, only_trusted=not lists.trusted.is_empty)
    of_ids, _ = work.scratch(_links_of_ids(links, nodes))
    factors = [_farm_factors(nodes)]
    if not lists.distrusted.is_empty:
        factors.append(_distrust_factors(work, nodes, of_ids, count))
    edges, _ = work.scratch(
        reduce(_weigh_links, factors, _share_votes(of_ids, work.config.rank.same_domain))
    )
    states = _first_ranks(work, dataset, nodes, preferred)
    found = find_fixed_point(work, states, edges, work.config.rank)
    written = _write_joined_ranks(
        work, kind, dataset, nodes.join(found.ranks, on="id", how="inner")
    )
    return Ranking(lambda: written, count, found.iterations)


def _write_joined_ranks(work: Workspace, kind: str, dataset: Dataset, ranks: DataFrame) -> Written:
    """Write ranks (key, rank), and of pages how many each host has."""
    (key,) = dataset.key
    rows = ranks.withColumnRenamed("key", key)
    layers = (work.write(rows, dataset.name, work.round),)
    if kind != "page":
        return Written(layers)
    host = host_column(F.col("url")).alias("host")
    of_hosts = rows.groupBy(host).agg(F.count("*").alias("pages"))
    return Written(layers, sizes=(work.write(of_hosts, HOST_SIZES.name, work.round),))


def _preferred_pages(work: Workspace, nodes: DataFrame, *, only_trusted: bool) -> DataFrame:
    """Where ranks flow from (id, preference), as in arrays."""
    chosen = nodes.where("trusted" if only_trusted else "fetched").where("NOT distrusted")
    preferred, count = work.scratch(chosen.select("id"))
    if not count and only_trusted:
        raise trust.nothing_known("rank.trusted")
    if not count:
        preferred, count = work.scratch(nodes.where("NOT distrusted").select("id"))
    return preferred.withColumn("preference", F.lit(1.0 / max(count, 1)))


def _farm_factors(nodes: DataFrame) -> DataFrame:
    """The factors of votes (src, factor), by the evidence of farms."""
    farmed = nodes.where("farm_factor < 1")
    return farmed.select(F.col("id").alias("src"), F.col("farm_factor").alias("factor"))


def _weigh_links(edges: DataFrame, factors: DataFrame) -> DataFrame:
    """Multiply the shares of edges (src, dst, share) by factors (src, factor)."""
    share = F.col("share") * F.coalesce("factor", F.lit(1.0))
    joined = edges.join(factors, on="src", how="left")
    return joined.select("src", "dst", share.alias("share"))


def _links_to_join(work: Workspace, kind: str) -> DataFrame:
    """The links between pages or between hosts (src, dst), each once, and the ids of both ends.

    Fact (Sail 0.7.2): xxhash64 panics in some plans with joins if all values of its column are
    equal, so the ids are computed before the rows are written.
    """
    links = current_links.votes(work).where(current_links.vote_counts(work)).select(*ENDS)
    if kind == "host":
        links = links.select(*(host_column(F.col(end)).alias(end) for end in ENDS))
        links = links.where("src <> dst")
    ids = (F.xxhash64(end).alias(f"{end}_id") for end in ENDS)
    return links.distinct().select(*ENDS, *ids)


def _nodes_to_join(
    work: Workspace, kind: str, links: DataFrame, trusted: Listed, distrusted: Listed
) -> DataFrame:
    """All nodes: key, id, domain, farm_factor, and if they are fetched, trusted, distrusted."""
    seen = fetched_keys(work, kind).select("key", F.lit(1).alias("fetched"))
    ends = (links.select(F.col(end).alias("key"), F.lit(0).alias("fetched")) for end in ENDS)
    keys = reduce(DataFrame.union, ends, seen).groupBy("key").agg(F.max("fetched").alias("fetched"))
    host = host_column(F.col("key")) if kind == "page" else F.col("key")
    keys, _ = work.scratch(keys.withColumn("host", host))
    hosts = add_domains(work, keys.select("host").distinct())
    rows = keys.join(hosts, on="host", how="inner")
    rows = rows.join(F.broadcast(trust.farm_factors(work)), on="host", how="left").select(
        "key",
        "host",
        F.xxhash64("key").alias("id"),
        F.xxhash64("domain").alias("domain"),
        (F.col("fetched") == 1).alias("fetched"),
        F.coalesce("farm_factor", F.lit(1.0)).alias("farm_factor"),
    )
    for name, entries in (("trusted", trusted), ("distrusted", distrusted)):
        rows = _mark_listed(work, rows, name, entries)
    return rows.drop("host")


def _mark_listed(work: Workspace, rows: DataFrame, name: str, entries: Listed) -> DataFrame:
    """Add a column: whether the key or the host of a row is listed."""
    is_listed = F.lit(0) == 1
    for column, values in (("key", entries.urls), ("host", entries.hosts)):
        if values:
            names = sorted(values)
            marks = work.engine.rows(pa.table({column: names, f"of_{column}": names}))
            rows = rows.join(marks, on=column, how="left")
            is_listed |= F.col(f"of_{column}").isNotNull()
    return rows.withColumn(name, is_listed).drop("of_key", "of_host")


def _links_of_ids(links: DataFrame, nodes: DataFrame) -> DataFrame:
    """Links between ids (src, dst), and whether they are within a domain (`inside`, 0 or 1)."""
    edges = links.select(*(F.col(f"{end}_id").alias(end) for end in ENDS))
    for end in ENDS:
        ends = nodes.select(F.col("id").alias(end), F.col("domain").alias(f"{end}_domain"))
        edges = edges.join(ends, on=end, how="inner")
    inside = (F.col("src_domain") == F.col("dst_domain")).cast("int")
    return edges.select("src", "dst", inside.alias("inside"))


def _share_votes(edges: DataFrame, weight: float) -> DataFrame:
    """Edges: src, dst, and the `share` of the vote of src that the link carries."""
    counts = edges.groupBy("src").agg(
        F.sum("inside").alias("within"), (F.count("*") - F.sum("inside")).alias("beyond")
    )
    inner, outer = link_shares(F.col("within"), F.col("beyond"), weight, _choose)
    shared = counts.select("src", inner.alias("inner_share"), outer.alias("outer_share"))
    share = _choose(F.col("inside") == 1, F.col("inner_share"), F.col("outer_share"))
    return edges.join(shared, on="src", how="inner").select("src", "dst", share.alias("share"))


def _choose(condition: Column, yes: Column, no: Column) -> Column:
    return F.when(condition, yes).otherwise(no)


def _distrust_factors(work: Workspace, nodes: DataFrame, links: DataFrame, count: int) -> DataFrame:
    """The factors of votes (src, factor), by a walk against the links."""
    against = links.select(
        F.col("src").alias("dst"), F.col("dst").alias("src"), F.lit(1).alias("inside")
    )
    edges, _ = work.scratch(_share_votes(against, 1.0))
    distrusted, listed_count = work.scratch(nodes.where("distrusted").select("id"))
    each = F.lit(1.0 / max(listed_count, 1))
    chosen = distrusted.withColumn("preference", each)
    states = (
        nodes.select("id")
        .join(chosen, on="id", how="left")
        .select("id", F.coalesce("preference", F.lit(0.0)).alias("preference"))
        .withColumn("rank", F.col("preference"))
    )
    walk = find_fixed_point(work, states, edges, work.config.rank)
    factor = F.when(F.col("distrusted"), 0.0).otherwise(
        distrust_factors(F.col("rank"), F.lit(count))
    )
    rows = nodes.join(walk.ranks, on="id", how="inner")
    return rows.select(F.col("id").alias("src"), factor.alias("factor"))


def _first_ranks(
    work: Workspace, dataset: Dataset, nodes: DataFrame, preferred: DataFrame
) -> DataFrame:
    """The first state of all nodes: id, preference, rank. The ranks sum to 1."""
    (key,) = dataset.key
    last = work.read(dataset.name).select(F.xxhash64(key).alias("id"), F.col("rank").alias("last"))
    states, _ = work.scratch(
        nodes.select("id")
        .join(preferred, on="id", how="left")
        .join(last, on="id", how="left")
        .select("id", F.coalesce("preference", F.lit(0.0)).alias("preference"), "last")
        .withColumn("rank", F.coalesce("last", "preference"))
    )
    total = states.agg(F.sum("rank")).collect()[0][0] or 1.0
    return states.select("id", "preference", (F.col("rank") / F.lit(total)).alias("rank"))


def find_fixed_point(
    work: Workspace, start: DataFrame, edges: DataFrame, config: RankConfig
) -> _FixedPoint:
    """The fixed point of `power.py` from ranks (id, preference, rank), by edges with shares."""
    state = _first_state(work, start, edges)
    before = state
    cycle = ExtrapolationCycle(config.damping)
    iteration, error = 0, float("inf")
    while error > config.tolerance and iteration < config.iterations:
        if cycle.is_over:
            before, state = state, _extrapolate_ranks(state)
            cycle.extrapolated()
        iteration += 1
        state, change = _advance_ranks(work, state, edges, config.damping)
        if cycle.keeps(change):
            error = error_bound(change, config.damping)
        else:
            state = before
    rank = F.greatest(_rank(0), F.lit(0.0)).alias("rank")
    return _FixedPoint(state.rows.select("id", rank), iteration)


def _rank(number: int) -> Column:
    return F.col(f"rank_{number}")


def _first_state(work: Workspace, start: DataFrame, edges: DataFrame) -> _State:
    kept = edges.groupBy(F.col("src").alias("id")).agg(F.sum("share").alias("kept"))
    rows, _ = work.scratch(
        start.join(kept, on="id", how="left").select(
            "id",
            "preference",
            F.coalesce("kept", F.lit(0.0)).alias("kept"),
            *(F.col("rank").alias(f"rank_{number}") for number in range(KEPT + 1)),
        )
    )
    sums = rows.agg(F.coalesce(F.sum(F.col("kept") * _rank(0)), F.lit(0.0)).alias("carried"))
    carried = sums.collect()[0][0]
    return _State(rows, (carried,) * KEPT, np.zeros((KEPT, KEPT)))


def _advance_ranks(
    work: Workspace, state: _State, edges: DataFrame, damping: float
) -> tuple[_State, float]:
    """The state of which T(x) of the newest ranks x is the newest, and ‖T(x) − x‖₁."""
    rows = state.rows
    given = edges.join(rows.select(F.col("id").alias("src"), "rank_0"), on="src", how="inner")
    received = given.groupBy(F.col("dst").alias("id")).agg(
        F.sum(_rank(0) * F.col("share")).alias("received")
    )
    if work.engine.is_local:  # where each join holds one of its sides in memory
        received, _ = work.scratch(received)
    spread = F.lit(1 - damping * state.carried[0]) * F.col("preference")
    moved, _ = work.scratch(
        rows.join(received, on="id", how="left").select(
            "id",
            "preference",
            "kept",
            (damping * F.coalesce("received", F.lit(0.0)) + spread).alias("rank_0"),
            *(_rank(number).alias(f"rank_{number + 1}") for number in range(KEPT)),
        )
    )
    changes = [_rank(number) - _rank(number + 1) for number in range(KEPT)]
    pairs = list(combinations_with_replacement(range(KEPT), 2))
    change, carried, *found = moved.agg(
        F.sum(F.abs(changes[0])),
        F.sum(F.col("kept") * _rank(0)),
        *(F.sum(changes[one] * changes[other]) for one, other in pairs),
    ).collect()[0]
    products = np.zeros((KEPT, KEPT))
    for (one, other), product in zip(pairs, found, strict=True):
        products[one, other] = products[other, one] = product
    return _State(moved, (carried, *state.carried[:-1]), products), change


def _extrapolate_ranks(state: _State) -> _State:
    """The state of which a combination of the last images is the newest."""
    found = [float(weight) for weight in extrapolation_weights(state.products)]
    newest = reduce(add, (weight * _rank(number) for number, weight in enumerate(found)))
    rows = state.rows.select(
        "id",
        "preference",
        "kept",
        newest.alias("rank_0"),
        *(_rank(number).alias(f"rank_{number + 1}") for number in range(KEPT)),
    )
    carried = sum(weight * each for weight, each in zip(found, state.carried, strict=True))
    return _State(rows, (carried, *state.carried[:-1]), state.products)
