"""What was crawled since a graph was built becomes the changes that readers see over it.

The changes are those from the graph as it was built, the base, and each run writes all of them
anew. So a run costs about as much as the changes since the base was built, which are at most SHARE
of it, and a look at the groups of names and at the rows that the newest links need.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.links import current_links
from gossamer.links.graph import covered_links, host_links, name_arrays, overlay, vote_reading
from gossamer.links.graph.names import RECENT, NamesWriter
from gossamer.links.graph.overlay import Overlaid, split_overlay
from gossamer.links.graph.stored_graph import open_graph
from gossamer.storage import parquet, task_output
from gossamer.storage.store import File, Layer
from gossamer.storage.task_output import ParquetWriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt
    from pyspark.sql import DataFrame

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.bvgraph.files import BvGraph
    from gossamer.links.graph.covered_links import Covered, UnreadFiles
    from gossamer.links.graph.host_links import BuiltHosts
    from gossamer.links.graph.names import Names
    from gossamer.links.graph.overlay import Changes
    from gossamer.links.graph.stored_graph import StoredGraph
    from gossamer.links.graph.vote_reading import Share
    from gossamer.state.workspace import Workspace

    Mask = npt.NDArray[np.bool_]

SHARE = 0.1
"""The graph is built again if more arcs changed, or more nodes are new, than this share of the
base. Each run holds all changes in memory, and writes them anew."""
_NONE = np.empty(0, np.int64)


class CrawledLinks(NamedTuple):
    """What was crawled, in numbers of pages. Unknown pages have those after all known ones."""

    pages: Numbers
    """The known pages whose links changed, and the unknown ones that have links; ascending."""
    sources: Numbers
    targets: Numbers
    """The arcs that these pages have now."""
    unknown: pa.StringArray
    """The names of the unknown pages."""
    recent: pa.Table
    """The names of the pages, with their numbers (RECENT)."""


class KindChanges(NamedTuple):
    """The changes of the graphs of one kind, and the names of the nodes that the base lacks."""

    kind: str
    changes: Changes
    names: pa.StringArray


def overlay_changes(
    work: Workspace, now: Covered, since: UnreadFiles, counts: dict[str, int]
) -> tuple[Layer, ...] | None:
    """The layers of the graph with what the files `since` change; None if it is to be built again.

    `now`: what the graph has read then.
    """
    base_layer = work.store.manifest.layers("graph")[0]
    with ThreadPoolExecutor(1) as thread:
        opening = thread.submit(open_graph, work, "page")
        reading = thread.submit(host_links.read_built_hosts, work)
        changed, shares = _changed_pages(work, since)
        of_pages = opening.result()
        found = _read_crawled(changed, shares, of_pages.names)
        pages, forward = _page_changes(of_pages, found), split_overlay(of_pages.forward)[0]
        if pages.changes.shape[1] > SHARE * forward.arcs:
            return None
        if len(pages.names) > SHARE * forward.nodes:
            return None
        attempt = work.store.attempt("graph")
        writing = thread.submit(_write_kind, work, pages, attempt)
        built = reading.result()
        between = _host_changes(built, pages)
        files = [*writing.result(), *_write_kind(work, between, attempt)]
    files += _write_recent(work, found.recent, forward.nodes, attempt)
    for side, graph in ((pages, forward), (between, built.graph)):
        current = Overlaid(graph, side.changes, graph.nodes + len(side.names))
        counts |= {f"{side.kind}s": current.nodes, f"{side.kind}_links": current.arcs}
    counts["changed_links"] = pages.changes.shape[1]
    return base_layer, Layer(work.round, (*files, covered_links.write_covered(work, now, attempt)))


def _page_changes(graph: StoredGraph, crawled: CrawledLinks) -> KindChanges:
    names = graph.names
    base, before = split_overlay(graph.forward)
    touched, sources, targets, unknown, _ = crawled
    kept = before[:, ~is_among(before[0], touched)]
    changes = np.hstack([kept, row_changes(base, touched, sources, targets)])
    used = sort_unique(np.abs(changes + (changes < 0)))
    added = used[used >= base.nodes]
    old = names.take(added[added < names.count])
    new = unknown.take(pa.array(added[added >= names.count] - names.count))
    listed = pa.concat_arrays([old, new])
    order = pc.sort_indices(listed).to_numpy()
    numbers = np.empty_like(added)
    numbers[order] = base.nodes + np.arange(added.size)
    return KindChanges(
        "page", renumber_changes(changes, base.nodes, added, numbers), listed.take(order)
    )


def _changed_pages(
    work: Workspace, since: UnreadFiles
) -> tuple[pa.LargeStringArray, Sequence[Share]]:
    """The pages whose links changed by the files `since`, and the links in these, in shares."""
    links, responses = (
        [f"{work.root}/{path}" for path in listed] for listed in (since.links, since.responses)
    )
    changed, outdated = current_links.changed_pages(work, links, responses)
    old = work.scratch_files(outdated) if outdated is not None else ()
    return _read_urls(work, changed), vote_reading.share_files(
        work, links, [file.path for file in old]
    )


def _read_crawled(
    changed: pa.LargeStringArray, shares: Sequence[Share], names: Names
) -> CrawledLinks:
    """What these pages link to now: links are read as for a build, a share at a time."""
    left = changed
    unknown = pa.array([], pa.large_string())
    arcs, recent = [_NONE.reshape(2, 0)], [RECENT.empty_table()]
    for share in shares:
        urls, *ends = vote_reading.read_ends(share)
        is_source, is_used = np.zeros((2, len(urls)), bool)
        is_source[ends[0]] = is_used[ends[0]] = is_used[ends[1]] = True
        listed = name_arrays.names_of(urls.filter(pa.array(is_used)))
        known = names.numbers(listed)
        others = listed.filter(pa.array(known < 0))
        unknown = pa.concat_arrays([unknown, others.filter(pc.invert(pc.is_in(others, unknown)))])
        known[known < 0] = names.count + pc.index_in(others, unknown).to_numpy()
        numbers = np.empty(len(urls), np.int64)
        numbers[is_used] = known
        arcs.append(numbers[np.stack(ends)])
        recent.append(_names_with_numbers(listed, known, is_source[is_used]))
        left = left.filter(pc.invert(pc.is_in(left, urls.filter(pa.array(is_source)))))
    listed = name_arrays.names_of(left)  # pages without links now
    known = names.numbers(listed)
    recent.append(_names_with_numbers(listed, known, known >= 0))
    answered = pa.concat_tables(recent)
    sources, targets = np.hstack(arcs)
    pages = sort_unique(answered["number"].to_numpy())
    return CrawledLinks(pages, sources, targets, unknown.cast(pa.string()), answered)


def _read_urls(work: Workspace, pages: DataFrame) -> pa.LargeStringArray:
    """The URLs of pages, a column `src`."""
    files = work.scratch_files(pages)
    tables = [parquet.read_table(f"{work.root}/{file.path}", columns=["src"]) for file in files]
    chunks = (chunk.cast(pa.large_string()) for table in tables for chunk in table["src"].chunks)
    return pa.concat_arrays([pa.array([], pa.large_string()), *chunks])


def _names_with_numbers(names: pa.LargeStringArray, numbers: Numbers, which: Mask) -> pa.Table:
    """Some names with their numbers."""
    return pa.table(
        [names.filter(pa.array(which)).cast(pa.string()), numbers[which]], schema=RECENT
    )


def sort_unique(numbers: Numbers) -> Numbers:
    """The distinct numbers, ascending. numpy hashes them first, which takes longer."""
    ascending = np.sort(numbers, axis=None)
    found: Numbers = ascending[np.diff(ascending, prepend=-1) != 0]
    return found


def row_changes(base: BvGraph, touched: Numbers, sources: Numbers, targets: Numbers) -> Changes:
    """The changes of the rows of some nodes (`touched`, ascending) to those of these arcs."""
    is_built = touched < base.nodes
    rows = base.rows_of(touched[is_built])
    nodes = max(int(targets.max(initial=0)) + 1, base.nodes)
    before = np.repeat(np.flatnonzero(is_built), np.diff(rows.starts)) * nodes + rows.targets
    after = sort_unique(np.searchsorted(touched, sources) * nodes + targets)
    added, removed = after[~is_among(after, before)], before[~is_among(before, after)]
    places, ends = np.divmod(np.concatenate([added, removed]), nodes)
    ends[added.size :] = ~ends[added.size :]
    return np.stack([touched[places], ends])


def is_among(numbers: Numbers, others: Numbers) -> Mask:
    """Whether each number is among others, which ascend."""
    found: Mask = np.append(others, -1)[np.searchsorted(others, numbers)] == numbers
    return found


def renumber_changes(changes: Changes, first: int, old: Numbers, new: Numbers) -> Changes:
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
    return overlay.sort_changes(renumber(sources), np.where(is_added, ends, ~ends))


def _host_changes(built: BuiltHosts, pages: KindChanges) -> KindChanges:
    """The changes of hosts that follow from those of pages.

    A host links to another as long as the number of links between their pages, as it was when the
    graph was built, and as it changed since, is not 0 (Gupta, Mumick and Subrahmanian, "Maintaining
    Views Incrementally", SIGMOD 1993, the counting algorithm).
    """
    change = host_links.changes_between_hosts(
        built, pages.names.cast(pa.large_string()), pages.changes
    )
    before = _links_before(built, change.sources, change.targets)
    is_added = (before == 0) & (change.links > 0)
    is_removed = (before > 0) & (before + change.links <= 0)
    ours = np.concatenate([change.sources[is_added], change.sources[is_removed]])
    theirs = np.concatenate([change.targets[is_added], ~change.targets[is_removed]])
    return KindChanges("host", overlay.sort_changes(ours, theirs), change.added)


def _links_before(built: BuiltHosts, ours: Numbers, theirs: Numbers) -> Numbers:
    """The number of links from some hosts (ascending) to others in the graph as it was built."""
    base = built.graph
    found = np.zeros(ours.size, np.int64)
    is_built = ours < base.nodes
    asked = sort_unique(ours[is_built])
    rows = base.rows_of(asked)
    degrees = np.diff(rows.starts)
    begins = np.append(0, base.outdegrees(0, base.nodes).cumsum())[asked]
    places = np.repeat(begins - rows.starts[:-1], degrees) + np.arange(rows.targets.size)
    size = max(int(theirs.max(initial=0)) + 1, base.nodes)
    there, wanted = np.repeat(asked, degrees) * size + rows.targets, ours * size + theirs
    at = np.searchsorted(there, wanted)
    is_there = np.append(there, -1)[at] == wanted
    found[is_there] = built.links[places[at[is_there]]]
    return found


def _write_recent(work: Workspace, pages: pa.Table, built: int, attempt: str) -> Iterable[File]:
    """Write which pages answered last, of those of the graph as it was built."""
    writer = ParquetWriter(work.root, "graph", attempt, name="recent-page-", schema=RECENT)
    writer.write(pages.filter(pc.less(pages["number"], built)))
    return task_output.layers_of(writer.close(), work.round)["graph"].files


def _write_kind(work: Workspace, side: KindChanges, attempt: str) -> list[File]:
    writer = NamesWriter(work.root, attempt, side.kind)
    columns = {"name": side.names} | (
        {"pages": np.zeros(len(side.names), np.int64)} if side.kind == "host" else {}
    )
    writer.write(pa.table(columns))
    layers = task_output.layers_of(writer.close(), work.round)
    files = [*(layers["graph"].files if layers else ())]
    for changes, suffix in ((side.changes, ""), (overlay.transpose_changes(side.changes), "-t")):
        path = f"{attempt}/{side.kind}s{suffix}.npy"
        saved = overlay.save_changes(f"{work.root}/{path}", changes)
        files.append(File(path, changes.shape[1], *saved))
    return files
