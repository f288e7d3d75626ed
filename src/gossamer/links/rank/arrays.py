"""Ranks from the stored link graph, in arrays.

    hosts ─▶ domains ────────────────┐
    graph ─▶ links per node ─────────┼─▶ shares ─┐
    farms, distrusted ─▶ factors ────┘           ├─▶ fixed point ─▶ ranks, in the order of names
    fetched, trusted ─▶ preference ──────────────┤
    last ranks ─▶ start ─────────────────────────┘

Names of pages are read in batches, to write the ranks, and to find what is known of the nodes if
the last run did not leave that (`previous_run.py`): nothing holds the URLs of all pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from gossamer.links.graph.overlay import split_overlay
from gossamer.links.rank import trust
from gossamer.links.rank.fetched_nodes import look_up_nodes
from gossamer.links.rank.node_traits import describe_nodes
from gossamer.links.rank.output import Ranking, Written, write_host_sizes, write_ranks
from gossamer.links.rank.power import FixedPoint, fixed_point, share_votes
from gossamer.links.rank.previous_run import recall_nodes, remember_nodes
from gossamer.links.rank.vote_rows import SpanThreads, Votes
from gossamer.links.rank.vote_shares import distrust_factors

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gossamer.config import RankConfig
    from gossamer.links.graph.stored_graph import StoredGraph
    from gossamer.links.rank.fetched_nodes import KnownNodes
    from gossamer.links.rank.kernels import Floats
    from gossamer.links.rank.node_traits import Flags, NodeTraits
    from gossamer.state.workspace import Workspace
    from gossamer.tables import Dataset

BYTES_PER_NODE = 138
"""Five ranks, votes of two kinds, two shares, preference, factors and three of what is known:
8 each; two counts of links and the domain: 4 each; marks; and some for names, a batch at a time."""


def rank_in_arrays(
    work: Workspace,
    graph: StoredGraph,
    kind: str,
    dataset: Dataset,
    fetched_hosts: pa.LargeStringArray | None,
    factors_of: Mapping[str, float],
) -> Ranking:
    """Rank the nodes of a graph.

    `fetched_hosts`: the hosts that have fetched pages, if they are known already. `factors_of`: as
    in `describe_nodes`.
    """
    known = recall_nodes(work, graph) if kind == "page" else None
    known = known or look_up_nodes(work, graph, kind, dataset.name, fetched_hosts)
    lists = trust.read_lists(work, kind)
    nodes = describe_nodes(work, graph, kind, lists, known, factors_of)
    preference = _preference_vector(nodes, only_trusted=not lists.trusted.is_empty)
    with SpanThreads(graph.forward.nodes, work.engine.workers) as threads:
        result = _fixed_point(work.config.rank, graph, nodes, known, preference, threads)

    def write() -> Written:
        unlinked = _without_links(graph, nodes)
        ranks = pa.array(result.ranks, mask=unlinked)
        layers = write_ranks(work, graph, kind, dataset, known, ranks)
        if kind != "page":
            return Written(layers)
        remembered = remember_nodes(work, graph, layers, nodes.fetched)
        sizes = write_host_sizes(work, graph, ~unlinked, known.others)
        return Written(layers, remembered, sizes)

    return Ranking(write, result.ranks.size, result.iterations, nodes.fetched_hosts)


def _fixed_point(
    config: RankConfig,
    graph: StoredGraph,
    nodes: NodeTraits,
    known: KnownNodes,
    preference: Floats,
    threads: SpanThreads,
) -> FixedPoint:
    memory_bytes = max(config.memory_gb * 1e9 - BYTES_PER_NODE * preference.size, 0)
    start = preference.copy()
    start[known.ranked] = known.ranks
    rest = start[graph.forward.nodes :]
    rest[:] = np.where(np.isnan(known.ranks_of_others), rest, known.ranks_of_others)
    start /= start.sum() or 1
    factor = nodes.factors
    if nodes.distrusted.any():
        factor *= _distrust_factors(graph, nodes.distrusted, config, memory_bytes, threads)
    votes = Votes(graph.transposed, nodes.domains, memory_bytes, threads)
    shares = share_votes(votes, config.same_domain, factor, threads)
    return fixed_point(votes, shares, preference, start, config, threads)


def _preference_vector(nodes: NodeTraits, *, only_trusted: bool) -> Floats:
    """Where ranks flow from: trusted nodes, or all that were fetched; never distrusted ones.

    Of a graph of which nothing was fetched, such as an imported one, these are all nodes.
    """
    chosen = (nodes.trusted if only_trusted else nodes.fetched) & ~nodes.distrusted
    if only_trusted and not chosen.any():
        raise trust.nothing_known("rank.trusted")
    if not chosen.any():
        chosen = ~nodes.distrusted
    preference: Floats = chosen.astype(np.float64)
    preference /= preference.sum() or 1.0
    return preference


def _distrust_factors(
    graph: StoredGraph,
    distrusted: Flags,
    config: RankConfig,
    memory_bytes: float,
    threads: SpanThreads,
) -> Floats:
    """The factors of the votes of the nodes of the graph, by a walk against the links."""
    count = graph.forward.nodes
    one_domain = np.zeros(count, np.int32)
    votes = Votes(graph.forward, one_domain, memory_bytes, threads)
    preference = distrusted / np.count_nonzero(distrusted)
    each = share_votes(votes, 1.0, np.ones(count), threads)
    walk = fixed_point(votes, each, preference, preference.copy(), config, threads)
    return np.where(distrusted, 0.0, distrust_factors(walk.ranks, distrusted.size))[:count]


def _without_links(graph: StoredGraph, nodes: NodeTraits) -> Flags:
    """Which nodes have lost all of their links since the graph was built, and are not fetched.

    They stay until it is built again, so that the numbers of the others do. A graph of now would
    lack them, so they have no rank.
    """
    base, (sources, targets) = split_overlay(graph.forward)
    removed = targets < 0
    added = np.arange(base.nodes, graph.forward.nodes)
    found = np.unique(np.concatenate([sources[removed], ~targets[removed], added]))
    for each in (graph.forward, graph.transposed):
        found = found[np.diff(each.rows_of(found).starts) == 0]
    unlinked = np.zeros(nodes.fetched.size, bool)
    unlinked[found] = ~nodes.fetched[found]
    return unlinked
