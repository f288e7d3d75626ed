"""What the crawl knows about the nodes of a graph: which were fetched, and their last ranks.

URLs, and hosts, are found among the nodes by a hash of 64 bits: 16 bytes of memory per node, while
nothing else is held, and no name has to be computed by the engine, which took most of the time of
the step. Some two of n nodes collide with probability n²/2⁶⁵ (one in three thousand at a hundred
million); what is known of both is then known of one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from gossamer.links.graph import name_arrays
from gossamer.links.graph.string_arrays import text_of
from gossamer.links.rank import kernels
from gossamer.state import lsm
from gossamer.state.lookup import open_checked
from gossamer.storage import parquet
from gossamer.tables import DATASETS, PAGES
from gossamer.web.urls import host_column

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    import numpy.typing as npt
    from pyspark.sql import DataFrame

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.graph.stored_graph import StoredGraph
    from gossamer.links.rank.kernels import Floats, Hashes
    from gossamer.state.workspace import Workspace


class KnownNodes(NamedTuple):
    """What was fetched or ranked: nodes of a graph, and pages or hosts beside it."""

    fetched: Numbers
    """Nodes."""
    ranked: Numbers
    """Nodes that the last run ranked."""
    ranks: Floats
    """Their ranks."""
    others: pa.LargeStringArray
    """What was fetched, but neither links nor is linked to: URLs, or hosts."""
    ranks_of_others: Floats
    """Their last ranks; NaN if they have none."""
    listed: str = ""
    """A file, as an absolute path, whose first rows have the keys of the nodes of the graph as it
    was built; empty if there is none."""


class NodesByHash:
    """Finds the nodes that have some keys."""

    def __init__(self, hashes: Hashes) -> None:
        """`hashes`: of the key of each node."""
        self._nodes = np.argsort(hashes)
        self._hashes = hashes[self._nodes]

    def find(self, keys: pa.LargeStringArray) -> Numbers:
        """The node of each key; -1 if none has it."""
        wanted = hashes_of(keys)
        if not self._nodes.size:
            return np.full(wanted.size, -1)
        at = np.minimum(np.searchsorted(self._hashes, wanted), self._nodes.size - 1)
        return np.where(self._hashes[at] == wanted, self._nodes[at], -1)


def hashes_of(strings: pa.LargeStringArray) -> Hashes:
    text = text_of(strings)
    found = np.empty(len(strings), np.uint64)
    kernels.hash_each(text.offsets, text.data, found)
    return found


def fetched_keys(work: Workspace, kind: str) -> DataFrame:
    """The fetched pages, or hosts that have any: a column `key`."""
    pages = lsm.current(work, PAGES).where("status = 'fetched'")
    if kind == "page":
        return pages.select(F.col("url").alias("key"))
    return pages.select(host_column(F.col("url")).alias("key")).distinct()


def look_up_nodes(
    work: Workspace,
    graph: StoredGraph,
    kind: str,
    dataset: str,
    fetched_hosts: pa.LargeStringArray | None,
) -> KnownNodes:
    """Find what was fetched, and what the last run ranked, among the nodes of a graph.

    `fetched_hosts`: the hosts that have fetched pages, if they are known already.
    """
    keys_of = name_arrays.urls_of if kind == "page" else name_arrays.hosts_of
    names = name_arrays.read_names(f"{work.root}/{file.path}" for file in graph.listed)
    hashes = [hashes_of(keys_of(batch)) for batch in names]
    places = NodesByHash(np.concatenate([np.empty(0, np.uint64), *hashes]))
    nodes, keys = [], []
    keys_of_fetched = _read_fetched_keys(work, kind)
    if kind == "host" and fetched_hosts is not None:
        keys_of_fetched = iter([fetched_hosts.unique()])
    for batch in keys_of_fetched:
        found = places.find(batch)
        nodes.append(found[found >= 0])
        keys.append(batch.filter(pa.array(found < 0)))
    others = pa.concat_arrays([pa.array([], pa.large_string()), *keys])
    ranks_of_others = np.full(len(others), np.nan)
    ranked, ranks = [], []
    for batch, values in _read_last_ranks(work, dataset):
        found = places.find(batch)
        is_node = found >= 0
        ranked.append(found[is_node])
        ranks.append(values[is_node])
        if len(others) and not is_node.all():
            at = pc.index_in(batch.filter(pa.array(~is_node)), others).fill_null(-1).to_numpy()
            ranks_of_others[at[at >= 0]] = values[~is_node][at >= 0]
    return KnownNodes(
        _concatenate(nodes),
        _concatenate(ranked),
        _concatenate(ranks, np.float64),
        others,
        ranks_of_others,
    )


def _read_fetched_keys(work: Workspace, kind: str) -> Iterator[pa.LargeStringArray]:
    for file in work.scratch_files(fetched_keys(work, kind)):
        with parquet.open_parquet(f"{work.root}/{file.path}") as keys:
            for batch in keys.iter_batches(name_arrays.BATCH):
                yield batch.column("key").cast(pa.large_string())


def _read_last_ranks(work: Workspace, dataset: str) -> Iterator[tuple[pa.LargeStringArray, Floats]]:
    """Keys and their ranks, in batches. Raises MissingFile or StoreError for damaged files."""
    (key,) = DATASETS[dataset].key
    for stored in work.store.files(dataset):
        with open_checked(f"{work.root}/{stored.path}", dataset, [key, "rank"]) as file:
            for batch in file.iter_batches(name_arrays.BATCH, columns=[key, "rank"]):
                keys = batch.column(key).cast(pa.large_string())
                yield keys, batch.column("rank").fill_null(0).to_numpy()


def _concatenate(parts: list[npt.NDArray[Any]], kind: type = np.int64) -> npt.NDArray[Any]:
    return np.concatenate([np.empty(0, kind), *parts])
