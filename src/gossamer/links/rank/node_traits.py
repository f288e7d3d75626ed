"""What `rank` needs to know of each node of a graph, in arrays.

The pages of a host have consecutive numbers, so what is known of hosts is repeated for their pages.
Names are read of hosts, and of the pages that were added since the graph was built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from gossamer.errors import StoreError
from gossamer.links.bvgraph import REMEDY
from gossamer.links.graph import name_arrays
from gossamer.links.graph.names import name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.graph.stored_graph import StoredGraph
    from gossamer.links.rank.fetched_nodes import KnownNodes
    from gossamer.links.rank.kernels import Floats, Indices
    from gossamer.links.rank.trust import Listed, Lists
    from gossamer.state.workspace import Workspace

    Flags = npt.NDArray[np.bool_]


class NodeTraits(NamedTuple):
    """The nodes of a graph, and after them what was fetched but has no links."""

    domains: Indices
    """The number of the registrable domain of each node of the graph."""
    fetched: Flags
    trusted: Flags
    distrusted: Flags
    factors: Floats
    """How much the votes of each node of the graph count, by the evidence of farms."""
    fetched_hosts: pa.LargeStringArray
    """The hosts of the fetched nodes, some of them more than once."""


class HostBatch(NamedTuple):
    """Hosts of consecutive nodes."""

    hosts: list[str]
    sizes: Numbers
    """How many of the nodes each host has."""
    nodes: slice

    def spread(self, values: Sequence[Any] | Indices) -> npt.NDArray[Any]:
        """Repeat a value of each host for its nodes."""
        return np.repeat(np.asarray(values), self.sizes)

    def count_set(self, flags: Flags) -> Numbers:
        """Count the nodes of each host whose flags, among those of all nodes, are set."""
        so_far = np.append(0, np.cumsum(flags[self.nodes]))
        counts: Numbers = np.diff(so_far[np.append(0, np.cumsum(self.sizes))])
        return counts


def describe_nodes(
    work: Workspace,
    graph: StoredGraph,
    kind: str,
    lists: Lists,
    known: KnownNodes,
    factors_of: Mapping[str, float],
) -> NodeTraits:
    """Collect what the iteration needs to know of each node. Raises StoreError for damage.

    `factors_of`: the factors of the votes of hosts, by the evidence of farms.
    """
    count = graph.forward.nodes
    fetched = np.zeros(count + len(known.others), bool)
    fetched[known.fetched] = fetched[count:] = True
    domains, factors = np.empty(count, np.int32), np.ones(count)
    trusted, distrusted = marks = np.zeros((len(lists), fetched.size), bool)
    fetched_hosts = [_hosts_beside(known.others, kind)]
    numbers, end = name_arrays.DomainNumbers(), 0
    for batch in host_batches(work, graph, kind):
        if batch.nodes.stop > count:
            break
        domains[batch.nodes] = batch.spread(numbers.number(batch.hosts))
        if factors_of:
            factors[batch.nodes] = batch.spread([factors_of.get(host, 1.0) for host in batch.hosts])
        for mark, listed in zip(marks, lists, strict=True):
            if listed.hosts:
                mark[batch.nodes] = batch.spread([host in listed.hosts for host in batch.hosts])
        has_fetched = pa.array(batch.count_set(fetched) > 0)
        fetched_hosts.append(pa.array(batch.hosts, pa.large_string()).filter(has_fetched))
        end = batch.nodes.stop
    if end != count:
        raise StoreError(work.root, "its link graph has other nodes than names", REMEDY)
    for mark, listed in zip(marks, lists, strict=True):
        _mark_pages(mark, listed, graph, kind, known.others)
    return NodeTraits(
        domains, fetched, trusted, distrusted, factors, pa.concat_arrays(fetched_hosts)
    )


def _hosts_beside(others: pa.LargeStringArray, kind: str) -> pa.LargeStringArray:
    """The hosts of what is fetched but no node: of pages, or hosts themselves."""
    return name_arrays.hosts_of(name_arrays.names_of(others)) if kind == "page" else others


def _mark_pages(
    mark: Flags, listed: Listed, graph: StoredGraph, kind: str, others: pa.LargeStringArray
) -> None:
    """Mark the listed pages among the nodes, and after them what is listed of the others."""
    if listed.urls:
        names = pa.array([name_of(url) for url in sorted(listed.urls)], pa.string())
        places = graph.names.numbers(names)
        mark[places[places >= 0]] = True
    if not listed.is_empty:
        mark[graph.forward.nodes :] = [listed.has(key, kind) for key in others.to_pylist()]


def host_batches(work: Workspace, graph: StoredGraph, kind: str) -> Iterator[HostBatch]:
    """The hosts of all nodes, in batches, in the order of the nodes."""
    first = 0
    for hosts, sizes in _hosts_and_sizes(work, graph, kind):
        last = first + int(sizes.sum())
        yield HostBatch(hosts, sizes, slice(first, last))
        first = last


def _hosts_and_sizes(
    work: Workspace, graph: StoredGraph, kind: str
) -> Iterator[tuple[list[str], Numbers]]:
    listed, hosts, added = (
        [f"{work.root}/{file.path}" for file in files]
        for files in (graph.listed, graph.hosts, graph.added)
    )
    if kind == "host":
        for names in name_arrays.read_names(listed):
            yield name_arrays.split_by_host(names).hosts, np.ones(len(names), np.int64)
        return
    for names, pages in name_arrays.read_host_sizes(hosts):
        yield name_arrays.split_by_host(names).hosts, pages
    for names in name_arrays.read_names(added):
        runs = name_arrays.split_by_host(names)
        yield runs.hosts, np.diff(runs.starts, append=len(names))
