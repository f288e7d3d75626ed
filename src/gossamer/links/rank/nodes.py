"""What `rank` needs to know of each node of a graph, in arrays.

The pages of a host have consecutive numbers, so what is known of hosts is repeated for their pages.
Names are read of hosts, and of the pages that were added since the graph was built.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from gossamer.errors import StoreError
from gossamer.links.bvgraph import REMEDY
from gossamer.links.graph import naming
from gossamer.links.graph.names import name_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.graph.stored import Stored
    from gossamer.links.rank.fetched_nodes import Known
    from gossamer.links.rank.kernels import Floats, Indices
    from gossamer.links.rank.listed import Lists
    from gossamer.state.workspace import Workspace

    Flags = npt.NDArray[np.bool_]


class Nodes(NamedTuple):
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


def described(
    work: Workspace,
    graph: Stored,
    kind: str,
    lists: Lists,
    found: Known,
    factors_of: Mapping[str, float],
) -> Nodes:
    """`factors_of`: the factors of the votes of hosts, by the evidence of farms."""
    count = graph.forward.nodes
    domains = np.empty(count, np.int32)
    counted = np.ones(count)
    marks = np.zeros((len(lists), count + len(found.others)), bool)
    fetched = np.zeros(marks.shape[1], bool)
    fetched[found.fetched] = fetched[count:] = True
    fetched_hosts = [found.others]
    if kind == "page":
        runs = naming.runs_of(naming.names_of(found.others))
        fetched_hosts = [pa.array(runs.hosts, pa.large_string())]
    numbers, at = naming.Domains(), 0
    for hosts, nodes in hosts_of(work, graph, kind):
        end = at + int(nodes.sum())
        if end > count:
            break
        domains[at:end] = np.repeat(numbers.of(hosts), nodes)
        if factors_of:
            each = (factors_of.get(host, 1.0) for host in hosts)
            counted[at:end] = np.repeat(np.fromiter(each, np.float64), nodes)
        for mark, entries in zip(marks, lists, strict=True):
            if entries.hosts:
                is_listed = np.fromiter((host in entries.hosts for host in hosts), bool)
                mark[at:end] = np.repeat(is_listed, nodes)
        has_fetched = counts_in_runs(fetched[at:end], nodes) > 0
        fetched_hosts.append(pa.array(hosts, pa.large_string()).filter(pa.array(has_fetched)))
        at = end
    if at != count:
        raise StoreError(work.root, "its link graph has other nodes than names", REMEDY)
    for mark, entries in zip(marks, lists, strict=True):
        urls = pa.array([name_of(url) for url in sorted(entries.urls)], pa.string())
        places = graph.names.numbers(urls)
        mark[places[places >= 0]] = True
        if entries.urls or entries.hosts:
            mark[count:] = [entries.has(key, kind) for key in found.others.to_pylist()]
    trusted, distrusted = marks
    return Nodes(domains, fetched, trusted, distrusted, counted, pa.concat_arrays(fetched_hosts))


def counts_in_runs(flags: Flags, sizes: Numbers) -> Numbers:
    """How many flags are set in each of consecutive runs of these sizes."""
    so_far = np.append(0, np.cumsum(flags))
    counts: Numbers = np.diff(so_far[np.append(0, np.cumsum(sizes))])
    return counts


def hosts_of(work: Workspace, graph: Stored, kind: str) -> Iterator[tuple[list[str], Numbers]]:
    """Hosts, in batches, and how many consecutive nodes each has."""
    listed, hosts, added = (
        [f"{work.root}/{file.path}" for file in files]
        for files in (graph.listed, graph.hosts, graph.added)
    )
    if kind == "host":
        for names in naming.batches(listed):
            yield naming.runs_of(names).hosts, np.ones(len(names), np.int64)
        return
    for names, pages in naming.counted_batches(hosts):
        yield naming.runs_of(names).hosts, pages
    for names in naming.batches(added):
        runs = naming.runs_of(names)
        yield runs.hosts, np.diff(runs.starts, append=len(names))
