"""Ranks from the stored link graph, in arrays.

    names ─▶ domains ────────────────┐
    graph ─▶ links per node ─────────┼─▶ shares ─┐
    farms, distrusted ─▶ factors ────┘           ├─▶ fixed point ─▶ ranks, in the order of names
    fetched, trusted ─▶ preference ──────────────┤
    last ranks ─▶ start ─────────────────────────┘

Names are read in batches, twice: nothing holds the URLs of all pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from gossamer.bvgraph.files import REMEDY
from gossamer.errors import StoreError
from gossamer.graph.names import name_of
from gossamer.rank import farmed, listed, naming
from gossamer.rank.known import known
from gossamer.rank.power import Ranked, fixed_point
from gossamer.rank.ranking import Ranking
from gossamer.rank.rows import Threads, Votes, links_within
from gossamer.rank.shares import Shares, factors, shares
from gossamer.task_output import ParquetWriter, layers_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from gossamer.config import RankConfig
    from gossamer.graph.stored import Stored
    from gossamer.rank.kernels import Floats, Indices
    from gossamer.rank.known import Known
    from gossamer.rank.listed import Lists
    from gossamer.store import Layer
    from gossamer.tables import Dataset
    from gossamer.workspace import Workspace

    Flags = npt.NDArray[np.bool_]

BYTES_PER_NODE = 80
"""Ranks, what nodes received, votes and shares of two kinds, preference: 8 each; counts of links,
domain: 4 each; and something for the names, a batch at a time."""


class _Nodes(NamedTuple):
    """The nodes of a graph, and after them what was fetched but has no links."""

    domains: Indices
    """The number of the registrable domain of each node of the graph."""
    fetched: Flags
    trusted: Flags
    distrusted: Flags
    factors: Floats
    """How much the votes of each node of the graph count, by the evidence of farms."""


def ranked(work: Workspace, graph: Stored, kind: str, dataset: Dataset) -> Ranking:
    """Rank the nodes of a graph, and write the ranks."""
    found = known(work, graph, kind, dataset.name)
    lists = listed.read(work, kind)
    nodes = _described(work, graph, kind, lists, found)
    preference = _preference(nodes, only_trusted=not lists.trusted.is_empty)
    with Threads(graph.forward.nodes, work.engine.workers) as threads:
        result = _fixed_point(work.config.rank, graph, nodes, found, preference, threads)
    layers = _written(work, graph, kind, dataset, found.others, result.ranks)
    return Ranking(layers, result.ranks.size, result.iterations)


def _described(work: Workspace, graph: Stored, kind: str, lists: Lists, found: Known) -> _Nodes:
    count = graph.forward.nodes
    domains = np.empty(count, np.int32)
    factors_of = {row["host"]: row["farm_factor"] for row in farmed.factors(work).collect()}
    counted = np.ones(count)
    marks = np.zeros((len(lists), count + len(found.others)), bool)
    numbers, at = naming.Domains(), 0
    for names in naming.batches(f"{work.root}/{file.path}" for file in graph.listed):
        end = at + len(names)
        if end > count:
            break
        runs = naming.runs_of(names)
        domains[at:end] = runs.spread(numbers.of(runs.hosts))
        if factors_of:
            each = (factors_of.get(host, 1.0) for host in runs.hosts)
            counted[at:end] = runs.spread(np.fromiter(each, np.float64))
        for mark, entries in zip(marks, lists, strict=True):
            if entries.hosts:
                is_listed = np.fromiter((host in entries.hosts for host in runs.hosts), bool)
                mark[at:end] = runs.spread(is_listed)
        at = end
    if at != count:
        raise StoreError(work.root, "its link graph has other nodes than names", REMEDY)
    for mark, entries in zip(marks, lists, strict=True):
        urls = pa.array([name_of(url) for url in sorted(entries.urls)], pa.string())
        places = graph.names.numbers(urls)
        mark[places[places >= 0]] = True
        if entries.urls or entries.hosts:
            mark[count:] = [entries.has(key, kind) for key in found.others.to_pylist()]
    fetched = np.zeros(marks.shape[1], bool)
    fetched[found.fetched] = fetched[count:] = True
    trusted, distrusted = marks
    return _Nodes(domains, fetched, trusted, distrusted, counted)


def _fixed_point(
    config: RankConfig,
    graph: Stored,
    nodes: _Nodes,
    found: Known,
    preference: Floats,
    threads: Threads,
) -> Ranked:
    memory_bytes = max(config.memory_gb * 1e9 - BYTES_PER_NODE * preference.size, 0)
    start = preference.copy()
    start[found.ranked] = found.ranks
    rest = start[graph.forward.nodes :]
    rest[:] = np.where(np.isnan(found.ranks_of_others), rest, found.ranks_of_others)
    start /= start.sum() or 1
    links = links_within(graph.forward, nodes.domains, threads)
    votes_of = shares(*links, config.same_domain)
    factor = nodes.factors
    if nodes.distrusted.any():
        factor *= _factors(graph, nodes.distrusted, config, memory_bytes, threads)
    votes_of = Shares(*(share * factor for share in votes_of))
    votes = Votes(graph.transposed, nodes.domains, memory_bytes, threads)
    return fixed_point(votes, votes_of, preference, start, config, threads)


def _preference(nodes: _Nodes, *, only_trusted: bool) -> Floats:
    """Where ranks flow from: trusted nodes, or all that were fetched; never distrusted ones.

    Of a graph of which nothing was fetched, such as an imported one, these are all nodes.
    """
    chosen = (nodes.trusted if only_trusted else nodes.fetched) & ~nodes.distrusted
    if only_trusted and not chosen.any():
        raise listed.nothing_known("rank.trusted")
    if not chosen.any():
        chosen = ~nodes.distrusted
    preference: Floats = chosen.astype(np.float64)
    preference /= preference.sum() or 1.0
    return preference


def _factors(
    graph: Stored, distrusted: Flags, config: RankConfig, memory_bytes: float, threads: Threads
) -> Floats:
    """The factors of the votes of the nodes of the graph, by a walk against the links."""
    count = graph.forward.nodes
    one_domain = np.zeros(count, np.int32)
    inlinks, _ = links_within(graph.transposed, one_domain, threads)
    votes = Votes(graph.forward, one_domain, memory_bytes, threads)
    preference = distrusted / np.count_nonzero(distrusted)
    each = shares(inlinks, np.zeros_like(inlinks), 1.0)
    walk = fixed_point(votes, each, preference, preference.copy(), config, threads)
    return np.where(distrusted, 0.0, factors(walk.ranks, distrusted.size))[:count]


def _written(
    work: Workspace,
    graph: Stored,
    kind: str,
    dataset: Dataset,
    others: pa.StringArray,
    ranks: Floats,
) -> tuple[Layer, ...]:
    """Write ranks in the order of the names, which makes the next run's look-ups local."""
    (key,) = dataset.key
    writer = ParquetWriter(
        work.root, dataset.name, work.store.attempt(dataset.name), encoding=encoding(key)
    )
    keys_of = naming.urls if kind == "page" else naming.hosts
    at = 0
    for names in naming.batches(f"{work.root}/{file.path}" for file in graph.listed):
        end = at + len(names)
        writer.write(pa.table({key: keys_of(names), "rank": ranks[at:end]}))
        at = end
    if len(others):
        writer.write(pa.table({key: others, "rank": ranks[at:]}))
    layers = layers_of(writer.close(), work.round)
    return (layers[dataset.name],) if layers else ()


def encoding(key: str) -> dict[str, object]:
    """Sorted keys are stored as differences; dictionaries of them would be useless."""
    return {"use_dictionary": False, "column_encoding": {key: "DELTA_BYTE_ARRAY", "rank": "PLAIN"}}
