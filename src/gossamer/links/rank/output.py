"""What `rank` writes: ranks in the order of the nodes, and how many ranked pages each host has."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.links.graph import name_arrays
from gossamer.links.graph.overlay import split_overlay
from gossamer.links.rank.node_traits import host_batches
from gossamer.state.lookup import open_checked
from gossamer.storage.task_output import ParquetWriter, layers_of
from gossamer.tables import HOST_SIZES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.graph.stored_graph import StoredGraph
    from gossamer.links.rank.fetched_nodes import KnownNodes
    from gossamer.links.rank.node_traits import Flags
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer
    from gossamer.tables import Dataset


class Written(NamedTuple):
    """Layers of ranks; of pages, also what the next run recalls, and the sizes of their hosts.

    See previous_run.py.
    """

    ranks: tuple[Layer, ...]
    remembered: tuple[Layer, ...] = ()
    sizes: tuple[Layer, ...] = ()


class Ranking(NamedTuple):
    """What a form of the step computed: ranks, not written yet, and how many of what."""

    write: Callable[[], Written]
    """Writes them; in a thread, too."""
    nodes: int
    iterations: int
    fetched_hosts: pa.LargeStringArray | None = None
    """The hosts that have fetched pages, some of them more than once; None if that is unknown."""


def write_ranks(
    work: Workspace,
    graph: StoredGraph,
    kind: str,
    dataset: Dataset,
    known: KnownNodes,
    ranks: pa.Array,
) -> tuple[Layer, ...]:
    """Write ranks in the order of the names, which makes the next run's look-ups local."""
    (key,) = dataset.key
    writer = ParquetWriter(
        work.root, dataset.name, work.store.attempt(dataset.name), encoding=ranks_encoding(key)
    )
    at = 0
    of_nodes = _keys_of_nodes(work, graph, kind, dataset, known)
    for keys in _read_ahead(chain(of_nodes, [known.others])):
        if len(keys):
            writer.write(pa.table({key: keys, "rank": ranks.slice(at, len(keys))}))
        at += len(keys)
    layers = layers_of(writer.close(), work.round)
    return (layers[dataset.name],) if layers else ()


def _read_ahead(keys: Iterator[pa.Array]) -> Iterator[pa.Array]:
    """Yield the same keys; read the next ones while the last ones are written."""
    with ThreadPoolExecutor(1) as thread:
        batch = thread.submit(next, keys, None)
        while (found := batch.result()) is not None:
            batch = thread.submit(next, keys, None)
            yield found


def _keys_of_nodes(
    work: Workspace, graph: StoredGraph, kind: str, dataset: Dataset, known: KnownNodes
) -> Iterator[pa.Array]:
    """URLs of pages, or hosts, in the order of the nodes.

    If the last run wrote some of them, they are read from its file, as they are made of names in
    three times the time.
    """
    listed = graph.listed
    if known.listed:
        listed, left = graph.added, split_overlay(graph.forward)[0].nodes
        with open_checked(known.listed, dataset.name, dataset.key) as file:
            for batch in file.iter_batches(name_arrays.BATCH, columns=[*dataset.key]):
                keys = batch.column(0)[:left]
                left -= len(keys)
                yield keys
    keys_of = name_arrays.urls_of if kind == "page" else name_arrays.hosts_of
    for names in name_arrays.read_names(f"{work.root}/{file.path}" for file in listed):
        yield keys_of(names)


def ranks_encoding(key: str) -> dict[str, object]:
    """Sorted keys repeat how others begin, which LZ4 finds, too.

    Differences (DELTA_BYTE_ARRAY) with zstd take 5 bytes less per key, and half as long again.
    Compressed ranks take a twelfth less, and twice the time.
    """
    return {
        "use_dictionary": False,
        "column_encoding": {key: "PLAIN", "rank": "PLAIN"},
        "compression": {key: "lz4", "rank": "none"},
    }


def write_host_sizes(
    work: Workspace, graph: StoredGraph, is_ranked: Flags, others: pa.LargeStringArray
) -> tuple[Layer, ...]:
    """Write the rows of `host_sizes`. `others`: URLs of ranked pages that are no nodes."""
    counted = [
        _size_table(batch.hosts, batch.count_set(is_ranked))
        for batch in host_batches(work, graph, "page")
    ]
    runs = name_arrays.split_by_host(name_arrays.names_of(others))
    counted.append(_size_table(runs.hosts, np.diff(runs.starts, append=len(others))))
    sums = pa.concat_tables(counted).group_by("host").aggregate([("pages", "sum")])
    sizes = sums.rename_columns(["host", "pages"]).filter(pc.field("pages") > 0)
    writer = ParquetWriter(work.root, HOST_SIZES.name, work.store.attempt(HOST_SIZES.name))
    writer.write(sizes.cast(HOST_SIZES.schema))
    layers = layers_of(writer.close(), work.round)
    return (layers[HOST_SIZES.name],) if layers else ()


def _size_table(hosts: list[str], pages: Numbers) -> pa.Table:
    return pa.table({"host": pa.array(hosts, pa.string()), "pages": pa.array(pages, pa.int64())})
