"""What the crawl knows about the nodes of a graph: which were fetched, and their last ranks.

Rows of the engine are shared among parts by ranges of names, one for each file of the graph's
names, and found there by a hash table of the file's names. So memory holds the names of one file
per thread, a million, whatever the size of the crawl.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial, reduce
from operator import add
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import functions as F

from gossamer import lsm, sorted_parts
from gossamer.graph.names import name_column
from gossamer.rank import naming
from gossamer.tables import DATASETS, PAGES
from gossamer.urls import host_column

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from pyspark.sql import Column, DataFrame

    from gossamer.bvgraph.codes import Numbers
    from gossamer.graph.stored import Stored
    from gossamer.rank.kernels import Floats
    from gossamer.store import File
    from gossamer.workspace import Workspace


class Known(NamedTuple):
    """What was fetched or ranked: nodes of a graph, and pages or hosts beside it."""

    fetched: Numbers
    """Nodes."""
    ranked: Numbers
    """Nodes that the last run ranked."""
    ranks: Floats
    """Their ranks."""
    others: pa.StringArray
    """What was fetched, but neither links nor is linked to: URLs, or hosts."""
    ranks_of_others: Floats
    """Their last ranks; NaN if they have none."""


def fetched(work: Workspace, kind: str) -> DataFrame:
    """The fetched pages, or hosts that have any: key and name."""
    pages = lsm.current(work, PAGES).where("status = 'fetched'")
    name = name_column(F.col("url"))
    if kind == "page":
        return pages.select(F.col("url").alias("key"), name.alias("name"))
    host = host_column(F.col("url"))
    return pages.select(host.alias("key"), F.substring_index(name, " ", 2).alias("name")).distinct()


def known(work: Workspace, graph: Stored, kind: str, dataset: str) -> Known:
    """Find what was fetched, and what the last run ranked, among the nodes of a graph."""
    rows = fetched(work, kind).withColumn("rank", F.lit(None).cast("double"))
    if work.store.manifest.layers(dataset):
        (key,) = DATASETS[dataset].key
        name = name_column(F.col(key)) if kind == "page" else _host_name(F.col(key))
        last = work.read(dataset).select(F.col(key).alias("key"), name.alias("name"), "rank")
        rows = rows.unionByName(last)
    found = list(_located(work, graph, rows))
    nodes = np.concatenate([np.empty(0, np.int64), *(numbers for numbers, _ in found)])
    tables = [table for _, table in found]
    table = pa.concat_tables(tables) if tables else pa.table({"key": [], "rank": []})
    rank = table.column("rank").to_numpy().astype(np.float64)
    is_last, is_node = ~np.isnan(rank), nodes >= 0
    others = table.filter(pa.array(~is_node & ~is_last)).column("key").combine_chunks()
    before = table.filter(pa.array(~is_node & is_last))
    places = pc.index_in(others, before.column("key"))
    ranks_of_others = before.column("rank").take(places).to_numpy().astype(np.float64)
    return Known(
        nodes[is_node & ~is_last],
        nodes[is_node & is_last],
        rank[is_node & is_last],
        others,
        ranks_of_others,
    )


def _located(work: Workspace, graph: Stored, rows: DataFrame) -> Iterator[tuple[Numbers, pa.Table]]:
    """Rows, with the numbers of the nodes that have their `name`; -1 if none has."""
    built, added = _files(graph.listed)
    paths = [f"{work.root}/{file.path}" for file in built]
    firsts = [next(naming.batches([path]))[0].as_py() for path in paths]
    dealt = rows.withColumn("part", _part(F.col("name"), firsts[1:]))
    files = work.scratch_files(dealt.repartition(max(len(built), 1), "part"), by=["part"])
    count = sum(file.rows for file in built)
    others = _names(f"{work.root}/{file.path}" for file in added)
    starts = np.cumsum([0, *(file.rows for file in built)])
    find = partial(_find, paths, starts, others, count, work.root)
    with ThreadPoolExecutor(work.engine.workers) as pool:
        yield from pool.map(find, *zip(*sorted_parts.parts(files).items(), strict=True))


def _find(
    paths: Sequence[str],
    starts: Numbers,
    added: pa.LargeStringArray,
    built: int,
    root: str,
    part: int,
    files: Sequence[File],
) -> tuple[Numbers, pa.Table]:
    table = pa.concat_tables(
        pq.read_table(f"{root}/{file.path}", columns=["key", "name", "rank"], partitioning=None)
        for file in files
    )
    wanted = table.column("name").cast(pa.large_string())
    found = pc.index_in(wanted, _names(paths[part : part + 1])).fill_null(-1).to_numpy()
    numbers = np.where(found < 0, -1, found + starts[part])
    if len(added):
        found = pc.index_in(wanted, added).fill_null(-1).to_numpy()
        numbers = np.where(found < 0, numbers, found + built)
    return numbers.astype(np.int64), table.select(["key", "rank"])


def _names(paths: Iterable[str]) -> pa.LargeStringArray:
    return pa.concat_arrays([pa.array([], pa.large_string()), *naming.batches(paths)])


def _files(listed: Sequence[File]) -> tuple[list[File], list[File]]:
    """The files of the names with which the graph was built, and of those that were added."""
    folders = [PurePath(file.path).parent for file in listed]
    return (
        [file for file, folder in zip(listed, folders, strict=True) if folder == folders[0]],
        [file for file, folder in zip(listed, folders, strict=True) if folder != folders[0]],
    )


def _part(name: Column, bounds: Sequence[str]) -> Column:
    """How many bounds a name reaches."""
    reached = ((name >= F.lit(bound)).cast("int") for bound in bounds)
    return reduce(add, reached, F.lit(0))


def _host_name(host: Column) -> Column:
    """`host_name` as an expression for the engine."""
    name, port = (F.regexp_extract(host, r"^(.*?)(:\d+)?$", group) for group in (1, 2))
    return F.concat_ws(" ", F.array_join(F.reverse(F.split(name, r"\.")), ","), port)
