"""What the last run knew of the pages of a graph, brought up to date by what was crawled since.

The rows of `ranks` are in the order of the nodes of the graph, and after them come the pages that
have no links. Nodes that have lost theirs are among the former, without a rank. The dataset
`ranked_nodes` says of which graph, and which of the rows are of fetched pages. So the next run
finds the ranks of all pages that were in the graph when it was built, and whether they were
fetched, without looking at a URL. It looks up the other rows, which are few, and the pages whose
rows in `pages` are newer.

Numbers of nodes change when the graph is built again, and `pages` may be rewritten as a whole. Then
nothing is recalled, and `fetched_nodes.py` looks up all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.links.graph import name_arrays
from gossamer.links.graph.overlay import split_overlay
from gossamer.links.rank.fetched_nodes import KnownNodes
from gossamer.state.lookup import open_checked
from gossamer.storage.kept_objects import write_kept
from gossamer.storage.local_copies import local_copy
from gossamer.storage.store import File, Layer
from gossamer.tables import RANKED_NODES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gossamer.links.graph.stored_graph import StoredGraph
    from gossamer.links.rank.kernels import Floats
    from gossamer.links.rank.node_traits import Flags
    from gossamer.state.workspace import Workspace

    Statuses = tuple[pa.LargeStringArray, Flags]
    """Pages, and whether they are fetched."""

BATCH = 1 << 19
"""Pages that are looked up at once: some tens of megabytes."""


class RankedRows(msgspec.Struct, frozen=True):
    """What the rows of a file of `ranks` are. Paths are relative to the crawl's folder."""

    base: str
    """The folder of the graph as it was built."""
    ranks: str
    """The file."""
    pages: tuple[str, ...]
    """The files of `pages` that were read."""
    rows: int
    fetched: bytes
    """A bit for each row, the first one in the highest bit of the first byte."""


NAME = "nodes.msgpack"


def remember_nodes(
    work: Workspace, graph: StoredGraph, ranks: Sequence[Layer], fetched: Flags
) -> tuple[Layer, ...]:
    """Write what the next run recalls. `fetched`: of each row of `ranks`."""
    files = [file for layer in ranks for file in layer.files]
    if not files:
        return ()
    pages = tuple(file.path for file in work.store.listed("pages"))
    bits = np.packbits(fetched).tobytes()
    found = RankedRows(graph.base, files[0].path, pages, fetched.size, bits)
    data = msgspec.msgpack.encode(found)
    path = f"{work.store.attempt(RANKED_NODES.name)}/{NAME}"
    file = write_kept(f"{work.root}/{path}", data)
    return (Layer(work.round, (File(path, found.rows, file.size, file.xxh3),)),)


def recall_nodes(work: Workspace, graph: StoredGraph) -> KnownNodes | None:
    """What is known of the pages; None if all of them have to be looked up.

    Raises MissingFile or StoreError for damaged files.
    """
    last = _read_last(work, graph)
    newer = None if last is None else _unread_layers(work, last)
    if last is None or newer is None:
        return None
    built = split_overlay(graph.forward)[0].nodes
    bits = np.unpackbits(np.frombuffer(last.fetched, np.uint8), count=last.rows).astype(bool)
    ranks, urls = _read_ranks(work, last, built)
    numbers = graph.names.numbers(name_arrays.names_of(urls))
    fetched = np.zeros(graph.forward.nodes, bool)
    fetched[:built] = bits[:built]
    is_node = numbers >= 0
    fetched[numbers[is_node]] = bits[built:][is_node]
    others, are_fetched = [urls.filter(pa.array(~is_node))], [bits[built:][~is_node]]
    for pages, statuses in _read_statuses(work, newer):
        found = graph.names.numbers(name_arrays.names_of(pages))
        fetched[found[found >= 0]] = statuses[found >= 0]
        others.append(pages.filter(pa.array(found < 0)))
        are_fetched.append(statuses[found < 0])
    listed = pa.concat_arrays(others).dictionary_encode()
    is_other = np.empty(len(listed.dictionary), bool)
    is_other[listed.indices.to_numpy()] = np.concatenate(are_fetched)  # the newest one stays
    ranks_of_others = np.full(is_other.size, np.nan)
    ranks_of_others[: len(others[0])] = ranks[built:][~is_node]
    return KnownNodes(
        np.flatnonzero(fetched),
        np.concatenate([np.arange(built), numbers[is_node]]),
        np.concatenate([ranks[:built], ranks[built:][is_node]]),
        listed.dictionary.filter(pa.array(is_other)),
        ranks_of_others[is_other],
        f"{work.root}/{last.ranks}",
    )


def _read_last(work: Workspace, graph: StoredGraph) -> RankedRows | None:
    """What the last run left, if it is intact, and of this graph and these ranks."""
    files = work.store.whole(RANKED_NODES.name)
    if not files:
        return None
    copy = local_copy(f"{work.root}/{files[0].path}")
    last = msgspec.msgpack.decode(copy.read_bytes(), type=RankedRows)
    ranks = [file.path for file in work.store.listed("ranks")]
    return last if last.base == graph.base and ranks == [last.ranks] else None


def _unread_layers(work: Workspace, last: RankedRows) -> list[Layer] | None:
    """The layers of `pages` that the last run did not read, oldest first; None if these are all.

    Layers that it read and that are gone were merged into one of these (`lsm.py`).
    """
    read, layers = {*last.pages}, work.store.manifest.layers("pages")
    for age, layer in enumerate(layers):
        if not {file.path for file in layer.files} <= read:
            return [*layers[age:]] if age else None
    return [] if layers else None


def _read_ranks(
    work: Workspace, last: RankedRows, built: int
) -> tuple[Floats, pa.LargeStringArray]:
    """The last ranks, and the URLs of those that follow the nodes of the graph as it was built."""
    work.store.files("ranks")  # checks them
    with open_checked(f"{work.root}/{last.ranks}", "ranks", ["url", "rank"]) as file:
        ranks = file.read(["rank"]).column(0).fill_null(0).to_numpy()
        groups = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
        ends = np.cumsum(groups)
        after = np.flatnonzero(ends > built)
        urls = file.read_row_groups(after.tolist(), ["url"]).column(0).cast(pa.large_string())
        rest = urls.combine_chunks()
    return ranks, rest.slice(len(rest) - (ranks.size - built))


def _read_statuses(work: Workspace, layers: Sequence[Layer]) -> Iterator[Statuses]:
    """The rows of layers, oldest first. Raises MissingFile."""
    for layer in layers:
        work.store.check(layer.files)
        for stored in layer.files:
            with open_checked(f"{work.root}/{stored.path}", "pages", ["url", "status"]) as file:
                for batch in file.iter_batches(BATCH, columns=["url", "status"]):
                    urls = batch.column("url").cast(pa.large_string())
                    is_fetched = pc.equal(batch.column("status"), "fetched")
                    yield urls, is_fetched.to_numpy(zero_copy_only=False)
