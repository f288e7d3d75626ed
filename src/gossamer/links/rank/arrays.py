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

from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from gossamer.links.graph import naming
from gossamer.links.graph.overlaid import apart
from gossamer.links.rank import listed, sizes
from gossamer.links.rank.fetched_nodes import known
from gossamer.links.rank.nodes import described
from gossamer.links.rank.power import Ranked, fixed_point, shared
from gossamer.links.rank.previous_run import recalled, remember
from gossamer.links.rank.ranking import Ranking, Written
from gossamer.links.rank.rows import Threads, Votes
from gossamer.links.rank.shares import factors
from gossamer.state.lookup import open_checked
from gossamer.storage.task_output import ParquetWriter, layers_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gossamer.config import RankConfig
    from gossamer.links.graph.stored import Stored
    from gossamer.links.rank.fetched_nodes import Known
    from gossamer.links.rank.kernels import Floats
    from gossamer.links.rank.nodes import Flags, Nodes
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer
    from gossamer.tables import Dataset

BYTES_PER_NODE = 138
"""Five ranks, votes of two kinds, two shares, preference, factors and three of what is known:
8 each; two counts of links and the domain: 4 each; marks; and some for names, a batch at a time."""


def ranked(
    work: Workspace,
    graph: Stored,
    kind: str,
    dataset: Dataset,
    fetched_hosts: pa.LargeStringArray | None,
    factors_of: Mapping[str, float],
) -> Ranking:
    """Rank the nodes of a graph.

    `fetched_hosts`: the hosts that have fetched pages, if they are known already. `factors_of`: as
    in `described`.
    """
    found = recalled(work, graph) if kind == "page" else None
    found = found or known(work, graph, kind, dataset.name, fetched_hosts)
    lists = listed.read(work, kind)
    nodes = described(work, graph, kind, lists, found, factors_of)
    preference = _preference(nodes, only_trusted=not lists.trusted.is_empty)
    with Threads(graph.forward.nodes, work.engine.workers) as threads:
        result = _fixed_point(work.config.rank, graph, nodes, found, preference, threads)

    def write() -> Written:
        unlinked = _unlinked(graph, nodes)
        ranks = pa.array(result.ranks, mask=unlinked)
        layers = _written(work, graph, kind, dataset, found, ranks)
        if kind != "page":
            return Written(layers)
        remembered = remember(work, graph, layers, nodes.fetched)
        return Written(layers, remembered, sizes.written(work, graph, ~unlinked, found.others))

    return Ranking(write, result.ranks.size, result.iterations, nodes.fetched_hosts)


def _fixed_point(
    config: RankConfig,
    graph: Stored,
    nodes: Nodes,
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
    factor = nodes.factors
    if nodes.distrusted.any():
        factor *= _factors(graph, nodes.distrusted, config, memory_bytes, threads)
    votes = Votes(graph.transposed, nodes.domains, memory_bytes, threads)
    each = shared(votes, config.same_domain, factor, threads)
    return fixed_point(votes, each, preference, start, config, threads)


def _preference(nodes: Nodes, *, only_trusted: bool) -> Floats:
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
    votes = Votes(graph.forward, one_domain, memory_bytes, threads)
    preference = distrusted / np.count_nonzero(distrusted)
    each = shared(votes, 1.0, np.ones(count), threads)
    walk = fixed_point(votes, each, preference, preference.copy(), config, threads)
    return np.where(distrusted, 0.0, factors(walk.ranks, distrusted.size))[:count]


def _unlinked(graph: Stored, nodes: Nodes) -> Flags:
    """Which nodes have lost all of their links since the graph was built, and are not fetched.

    They stay until it is built again, so that the numbers of the others do. A graph of now would
    lack them, so they have no rank.
    """
    base, (sources, targets) = apart(graph.forward)
    removed = targets < 0
    added = np.arange(base.nodes, graph.forward.nodes)
    found = np.unique(np.concatenate([sources[removed], ~targets[removed], added]))
    for each in (graph.forward, graph.transposed):
        found = found[np.diff(each.several(found).starts) == 0]
    unlinked = np.zeros(nodes.fetched.size, bool)
    unlinked[found] = ~nodes.fetched[found]
    return unlinked


def _written(
    work: Workspace, graph: Stored, kind: str, dataset: Dataset, found: Known, ranks: pa.Array
) -> tuple[Layer, ...]:
    """Write ranks in the order of the names, which makes the next run's look-ups local."""
    (key,) = dataset.key
    writer = ParquetWriter(
        work.root, dataset.name, work.store.attempt(dataset.name), encoding=encoding(key)
    )
    at = 0
    for keys in _ahead(chain(_keys(work, graph, kind, dataset, found), [found.others])):
        end = at + len(keys)
        if len(keys):
            writer.write(pa.table({key: keys, "rank": ranks.slice(at, len(keys))}))
        at = end
    layers = layers_of(writer.close(), work.round)
    return (layers[dataset.name],) if layers else ()


def _ahead(keys: Iterator[pa.Array]) -> Iterator[pa.Array]:
    """The same keys, of which the next ones are read while the last ones are written."""
    with ThreadPoolExecutor(1) as thread:
        batch = thread.submit(next, keys, None)
        while (found := batch.result()) is not None:
            batch = thread.submit(next, keys, None)
            yield found


def _keys(
    work: Workspace, graph: Stored, kind: str, dataset: Dataset, found: Known
) -> Iterator[pa.Array]:
    """URLs of pages, or hosts, in the order of the nodes.

    If the last run wrote some of them, they are read from its file, as they are made of names in
    three times the time.
    """
    listed = graph.listed
    if found.listed:
        listed, left = graph.added, apart(graph.forward)[0].nodes
        with open_checked(found.listed, dataset.name, dataset.key) as file:
            for batch in file.iter_batches(naming.BATCH, columns=[*dataset.key]):
                keys = batch.column(0)[:left]
                left -= len(keys)
                yield keys
    keys_of = naming.urls if kind == "page" else naming.hosts
    for names in naming.batches(f"{work.root}/{file.path}" for file in listed):
        yield keys_of(names)


def encoding(key: str) -> dict[str, object]:
    """Sorted keys repeat how others begin, which LZ4 finds, too.

    Differences (DELTA_BYTE_ARRAY) with zstd take 5 bytes less per key, and half as long again.
    Compressed ranks take a twelfth less, and twice the time.
    """
    return {
        "use_dictionary": False,
        "column_encoding": {key: "PLAIN", "rank": "PLAIN"},
        "compression": {key: "lz4", "rank": "none"},
    }
