"""How many links lead from each host to each other: those of the graph as it was built, and since.

The names of pages are in the order of their hosts, too. So the pages of a host have consecutive
numbers, and the host of a page is found by its number. Beside the arcs between hosts, a build
writes how many links each of them is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from gossamer.errors import StoreError
from gossamer.links.bvgraph import REMEDY
from gossamer.links.graph import covered_links, name_arrays
from gossamer.links.graph.names import Names, host_prefixes
from gossamer.links.graph.overlay import split_overlay
from gossamer.links.graph.stored_graph import is_imported, open_graph
from gossamer.links.graph.string_arrays import text_of
from gossamer.storage import parquet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.bvgraph.files import BvGraph
    from gossamer.links.graph.overlay import Changes
    from gossamer.state.workspace import Workspace


class LinksBetweenHosts(NamedTuple):
    """The links between different hosts."""

    hosts: pa.LargeStringArray
    """As in `pages`, by number."""
    sources: Numbers
    targets: Numbers
    links: Numbers
    """How many pages of the one link to a page of the other, each pair of pages counted once."""


class BuiltHosts(NamedTuple):
    """The hosts of the graph as it was built."""

    graph: BvGraph
    names: Names
    first_pages: Numbers
    """The first page of each, and the number of pages."""
    links: Numbers
    """The number of links of each arc."""


class HostLinkChanges(NamedTuple):
    """By how many the links between hosts changed since the graph was built."""

    sources: Numbers
    targets: Numbers
    links: Numbers
    added: pa.StringArray
    """The names of the hosts that the graph lacked, whose numbers follow."""


def links_between_hosts(work: Workspace) -> LinksBetweenHosts | None:
    """The links between hosts, by the stored graph; None if it is not of all links of the crawl.

    Raises MissingFile for damaged links or responses.
    """
    if is_imported(work) or work.store.damaged("graph"):
        return None
    unread = covered_links.unread_files(work, covered_links.covered_now(work))
    if unread is None or unread.links or unread.responses:
        return None
    of_hosts = read_built_hosts(work)
    pages = open_graph(work, "page")
    added = [*name_arrays.read_names(f"{work.root}/{file.path}" for file in pages.added)]
    names = pa.concat_arrays([pa.array([], pa.large_string()), *added])
    changes = changes_between_hosts(of_hosts, names, split_overlay(pages.forward)[1])
    count = of_hosts.graph.nodes + len(changes.added)
    parts, first = [np.empty(0, np.int64)], 0
    for rows in of_hosts.graph.rows():
        sources = np.arange(first, first + rows.starts.size - 1)
        parts.append(np.repeat(sources, np.diff(rows.starts)) * count + rows.targets)
        first += rows.starts.size - 1
    pairs, links = np.concatenate(parts), of_hosts.links.copy()
    wanted = changes.sources * count + changes.targets
    at = np.searchsorted(pairs, wanted)
    is_there = np.append(pairs, -1)[at] == wanted
    links[at[is_there]] += changes.links[is_there]
    pairs = np.append(pairs, wanted[~is_there])
    links = np.append(links, changes.links[~is_there])
    stay = links > 0
    listed = name_arrays.read_names(
        f"{work.root}/{file.path}" for file in open_graph(work, "host").listed
    )
    hosts = pa.concat_arrays([pa.array([], pa.large_string()), *map(name_arrays.hosts_of, listed)])
    return LinksBetweenHosts(hosts, *np.divmod(pairs[stay], count), links[stay])


def read_built_hosts(work: Workspace) -> BuiltHosts:
    """Read the hosts of the graph as it was built. Raises MissingFile or StoreError for damage."""
    base = split_overlay(open_graph(work, "host").forward)[0]
    files = work.store.manifest.layers("graph")[0].files
    names, links = (
        [f"{work.root}/{file.path}" for file in files if part in file.path]
        for part in ("/host-", "/hosts-links-")
    )
    found = BuiltHosts(base, Names(names), first_pages_of(names), _links_of_arcs(links))
    if found.links.size != base.arcs:
        raise StoreError(base.path, "its counts of links are damaged", REMEDY)
    return found


def changes_between_hosts(
    of_hosts: BuiltHosts, added: pa.LargeStringArray, changes: Changes
) -> HostLinkChanges:
    """The changes between hosts that follow from those of pages.

    `added`: the names of the pages that the graph lacked, in the order of their numbers.
    """
    base, names, first_pages, _ = of_hosts
    of_added, many = hosts_of_pages(added)
    numbers = names.numbers(of_added)
    new = of_added.filter(pa.array(numbers < 0))  # in their order, as the pages are
    numbers[numbers < 0] = base.nodes + np.arange(len(new))
    hosts_of_added = np.repeat(numbers, many)

    def host_of(nodes: Numbers) -> Numbers:
        found: Numbers = np.searchsorted(first_pages, nodes, side="right") - 1
        is_new = nodes >= first_pages[-1]
        found[is_new] = hosts_of_added[nodes[is_new] - first_pages[-1]]
        return found

    sources, targets = changes
    is_added = targets >= 0
    count = base.nodes + len(new)
    ours, theirs = host_of(sources), host_of(np.where(is_added, targets, ~targets))
    leave = ours != theirs
    pairs, places = np.unique((ours * count + theirs)[leave], return_inverse=True)
    links = np.bincount(places, np.where(is_added, 1.0, -1.0)[leave], pairs.size).astype(np.int64)
    return HostLinkChanges(*np.divmod(pairs, max(count, 1)), links, new)


def hosts_of_pages(pages: pa.LargeStringArray) -> tuple[pa.StringArray, Numbers]:
    """The hosts of pages that are neighbours, by name, and the numbers of pages of each."""
    starts, _ = name_arrays.find_host_runs(*text_of(pages))
    names = host_prefixes(pages.take(pa.array(starts)))
    return names.cast(pa.string()), np.diff(starts, append=len(pages))


def first_pages_of(paths: Sequence[str]) -> Numbers:
    """The first page of each host, and the number of pages, from the files of hosts' names."""
    pages = [parquet.read_table(path, columns=["pages"]).column(0).to_numpy() for path in paths]
    return np.concatenate([np.zeros(1, np.int64), *pages]).cumsum()


def _links_of_arcs(paths: Sequence[str]) -> Numbers:
    """The number of links of each arc between hosts, in the order of the arcs, from its files."""
    links = [parquet.read_table(path, columns=["links"]).column(0).to_numpy() for path in paths]
    return np.concatenate([np.empty(0, np.int64), *links])
