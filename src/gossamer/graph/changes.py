"""What was crawled since a graph was built becomes the changes that readers see over it.

The changes are those from the graph as it was built, the base, and each run writes all of them
anew. So a run costs about as much as the changes since the base was built, which are at most SHARE
of it, and a look at the groups of names and at the rows that the newest links need.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import functions as F

from gossamer import linkgraph, task_output
from gossamer.bvgraph import REMEDY
from gossamer.errors import StoreError
from gossamer.graph import covered, hosts, naming, overlaid
from gossamer.graph.names import Names, Writer, hosts_of
from gossamer.graph.overlaid import Overlaid, apart
from gossamer.graph.stored import stored
from gossamer.store import File, Layer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pyspark.sql import DataFrame

    from gossamer.bvgraph.codes import Numbers
    from gossamer.bvgraph.files import BvGraph
    from gossamer.graph.covered import Covered
    from gossamer.graph.overlaid import Changes
    from gossamer.workspace import Workspace

SHARE = 0.1
"""The graph is built again if more arcs changed, or more nodes are new, than this share of the
base. Each run holds all changes in memory, and writes them anew."""
BATCH_LINKS = 1 << 19
"""Links whose names are looked up together."""


class Side(NamedTuple):
    """The changes of the graphs of one kind, and the names of the nodes that the base lacks."""

    kind: str
    changes: Changes
    names: pa.StringArray


def overlay(
    work: Workspace, now: Covered, since: Covered, counts: dict[str, int]
) -> tuple[Layer, ...] | None:
    """The layers of the graph with what the files `since` change; None if it is to be built again.

    `now`: the files that the graph has read then.
    """
    base_layer = work.store.manifest.layers("graph")[0]
    pages = _pages(work, since)
    forward = apart(stored(work, "page").forward)[0]
    if pages.changes.shape[1] > SHARE * forward.arcs or len(pages.names) > SHARE * forward.nodes:
        return None
    of_hosts = _hosts(work, pages)
    base_hosts = apart(stored(work, "host").forward)[0]
    attempt = work.store.attempt("graph")
    files = [file for side in (pages, of_hosts) for file in _written(work, side, attempt)]
    for side, graph in ((pages, forward), (of_hosts, base_hosts)):
        current = Overlaid(graph, side.changes, graph.nodes + len(side.names))
        counts |= {f"{side.kind}s": current.nodes, f"{side.kind}_links": current.arcs}
    counts["changed_links"] = pages.changes.shape[1]
    return base_layer, Layer(work.round, (*files, covered.write(work, now, attempt)))


def _pages(work: Workspace, since: Covered) -> Side:
    opened = stored(work, "page")
    names, graph = opened.names, opened.forward
    base, before = apart(graph)
    touched, sources, targets, unknown = _numbered(work, since, names)
    kept = before[:, ~np.isin(before[0], touched)]
    changes = np.hstack([kept, difference(base, touched, sources, targets)])
    used = np.unique(np.abs(changes + (changes < 0)))
    added = used[used >= base.nodes]
    old = names.named(added[added < names.count])
    new = unknown.take(pa.array(added[added >= names.count] - names.count))
    listed = pa.concat_arrays([old, new])
    order = pc.sort_indices(listed).to_numpy()
    numbers = np.empty_like(added)
    numbers[order] = base.nodes + np.arange(added.size)
    return Side("page", renumbered(changes, base.nodes, added, numbers), listed.take(order))


def _numbered(
    work: Workspace, since: Covered, names: Names
) -> tuple[Numbers, Numbers, Numbers, pa.StringArray]:
    """The pages whose links changed, the arcs that they have now, and the names of unknown pages.

    Unknown pages get the numbers after those of all names. Links are looked up in batches, so that
    of all links only the numbers of their ends are in memory. Pages may have no links now: they
    come as rows without a target.
    """
    paths = [
        [f"{work.root}/{path}" for path in listed] for listed in (since.links, since.responses)
    ]
    found, links = linkgraph.changed_votes(work, *paths)
    links = links.where(linkgraph.counted(work)).select("src", "dst")
    alone = found.select("src", F.lit(None).cast("string").alias("dst"))
    unknown = pa.array([], pa.large_string())
    touched, sources, targets = [_NONE], [_NONE], [_NONE]
    for table in _batches(work, links.unionByName(alone)):
        src, dst = (table[end].cast(pa.large_string()) for end in ("src", "dst"))
        encoded = pa.concat_arrays([*src.chunks, *dst.chunks]).dictionary_encode()
        listed = naming.names_of(encoded.dictionary)
        known = names.numbers(listed)
        others = listed.filter(pa.array(known < 0))
        unknown = pa.concat_arrays([unknown, others.filter(pc.invert(pc.is_in(others, unknown)))])
        known[known < 0] = names.count + pc.index_in(others, unknown).to_numpy()
        numbers = np.append(known, -1)[encoded.indices.fill_null(known.size).to_numpy()]
        ours, theirs = np.split(numbers, 2)
        touched.append(np.unique(ours))
        sources.append(ours[theirs >= 0])
        targets.append(theirs[theirs >= 0])
    pages = np.unique(np.concatenate(touched))
    return pages, np.concatenate(sources), np.concatenate(targets), unknown.cast(pa.string())


def _batches(work: Workspace, rows: DataFrame) -> Iterator[pa.Table]:
    """Rows, at least BATCH_LINKS at once."""
    held: list[pa.RecordBatch] = []
    for file in work.scratch_files(rows):
        with pq.ParquetFile(f"{work.root}/{file.path}") as opened:
            for batch in opened.iter_batches(BATCH_LINKS):
                held.append(batch)
                if sum(each.num_rows for each in held) >= BATCH_LINKS:
                    yield pa.Table.from_batches(held)
                    held = []
    if held:
        yield pa.Table.from_batches(held)


_NONE = np.empty(0, np.int64)


def difference(base: BvGraph, touched: Numbers, sources: Numbers, targets: Numbers) -> Changes:
    """The changes of the rows of some nodes (`touched`, ascending) to those of these arcs."""
    is_built = touched < base.nodes
    rows = base.several(touched[is_built])
    nodes = max(int(targets.max(initial=0)) + 1, base.nodes)
    before = np.repeat(np.flatnonzero(is_built), np.diff(rows.starts)) * nodes + rows.targets
    after = np.unique(np.searchsorted(touched, sources) * nodes + targets)
    added = np.setdiff1d(after, before, assume_unique=True)
    removed = np.setdiff1d(before, after, assume_unique=True)
    places, ends = np.divmod(np.concatenate([added, removed]), nodes)
    ends[added.size :] = ~ends[added.size :]
    return np.stack([touched[places], ends])


def renumbered(changes: Changes, first: int, old: Numbers, new: Numbers) -> Changes:
    """Changes, in their order, whose nodes from `first` on get other numbers.

    `old`: the numbers that they have, ascending; `new`: those that they get.
    """

    def renumber(nodes: Numbers) -> Numbers:
        moved = nodes.copy()
        moved[nodes >= first] = new[np.searchsorted(old, nodes[nodes >= first])]
        return moved

    sources, targets = changes
    is_added = targets >= 0
    ends = renumber(np.where(is_added, targets, ~targets))
    return overlaid.ordered(renumber(sources), np.where(is_added, ends, ~ends))


def _hosts(work: Workspace, pages: Side) -> Side:
    """The changes of hosts that follow from those of pages.

    A host links to another as long as the number of links between their pages, as it was when the
    graph was built, and as it changed since, is not 0 (Gupta, Mumick and Subrahmanian, "Maintaining
    Views Incrementally", SIGMOD 1993, the counting algorithm).
    """
    layer = work.store.manifest.layers("graph")[0]
    paths = [f"{work.root}/{file.path}" for file in layer.files if "/host-" in file.path]
    base, first_pages = apart(stored(work, "host").forward)[0], hosts.firsts(paths)
    of_added = hosts_of(pages.names).dictionary_encode()
    numbers = Names(paths).numbers(of_added.dictionary)
    new = of_added.dictionary.filter(pa.array(numbers < 0))  # in their order, as the pages are
    numbers[numbers < 0] = base.nodes + np.arange(len(new))
    added_hosts = numbers[of_added.indices.to_numpy()]

    def host_of(nodes: Numbers) -> Numbers:
        found = hosts.hosts_of_pages(first_pages, nodes)
        is_new = nodes >= first_pages[-1]
        found[is_new] = added_hosts[nodes[is_new] - first_pages[-1]]
        return found

    sources, targets = pages.changes
    is_added = targets >= 0
    count = base.nodes + len(new)
    ours, theirs = host_of(sources), host_of(np.where(is_added, targets, ~targets))
    leave = ours != theirs
    pairs, places = np.unique((ours * count + theirs)[leave], return_inverse=True)
    change = np.bincount(places, np.where(is_added, 1.0, -1.0)[leave], pairs.size).astype(np.int64)
    before = _links_before(work, base, pairs // count, pairs % count)
    added, removed = (
        pairs[(before == 0) & (change > 0)],
        pairs[(before > 0) & (before + change <= 0)],
    )
    ours, theirs = np.divmod(np.concatenate([added, removed]), count)
    theirs[added.size :] = ~theirs[added.size :]
    return Side("host", overlaid.ordered(ours, theirs), new)


def _links_before(work: Workspace, base: BvGraph, ours: Numbers, theirs: Numbers) -> Numbers:
    """The number of links from some hosts (ascending) to others in the graph as it was built."""
    layer = work.store.manifest.layers("graph")[0]
    paths = [f"{work.root}/{file.path}" for file in layer.files if "/hosts-links-" in file.path]
    links = hosts.links_of_arcs(paths)
    if links.size != base.arcs:
        raise StoreError(base.path, "its counts of links are damaged", REMEDY)
    found = np.zeros(ours.size, np.int64)
    is_built = ours < base.nodes
    asked = np.unique(ours[is_built])
    rows = base.several(asked)
    degrees = np.diff(rows.starts)
    begins = np.append(0, base.outdegrees(0, base.nodes).cumsum())[asked]
    places = np.repeat(begins - rows.starts[:-1], degrees) + np.arange(rows.targets.size)
    size = max(int(theirs.max(initial=0)) + 1, base.nodes)
    there, wanted = np.repeat(asked, degrees) * size + rows.targets, ours * size + theirs
    at = np.searchsorted(there, wanted)
    is_there = np.append(there, -1)[at] == wanted
    found[is_there] = links[places[at[is_there]]]
    return found


def _written(work: Workspace, side: Side, attempt: str) -> Iterable[File]:
    writer = Writer(work.root, attempt, side.kind)
    columns = {"name": side.names} | (
        {"pages": np.zeros(len(side.names), np.int64)} if side.kind == "host" else {}
    )
    writer.write(pa.table(columns))
    layers = task_output.layers_of(writer.close(), work.round)
    yield from layers["graph"].files if layers else ()
    for changes, suffix in ((side.changes, ""), (overlaid.transposed(side.changes), "-t")):
        path = f"{attempt}/{side.kind}s{suffix}.npy"
        yield File(path, changes.shape[1], *overlaid.save(Path(work.root, path), changes))
