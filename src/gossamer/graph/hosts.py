"""The hosts of pages, and the links between hosts.

The names of pages are in the order of their hosts, too. So the pages of a host have consecutive
numbers, from `firsts` on, and the host of a page is found by its number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from gossamer import task_output
from gossamer.graph.names import GROUP, SCHEMAS, Writer, hosts_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gossamer.bvgraph.codes import Numbers
    from gossamer.store import File
    from gossamer.workspace import Workspace

BATCH_NAMES = 64 * GROUP


def named(work: Workspace, pages: Sequence[File], attempt: str) -> Sequence[File]:
    """Write the names of the hosts of pages, whose names are in these files."""
    writer = Writer(work.root, attempt, "host")
    last = SCHEMAS["host"].empty_table()
    for file in pages:
        for names in _batches(f"{work.root}/{file.path}"):
            runs = pa.concat_tables([last, counted(hosts_of(names))]).group_by(
                "name", use_threads=False
            )
            rows = runs.aggregate([("pages", "sum")]).rename_columns(["name", "pages"])
            writer.write(rows.slice(0, rows.num_rows - 1))
            last = rows.slice(rows.num_rows - 1)
    writer.write(last)
    layers = task_output.layers_of(writer.close(), work.round)
    return layers["graph"].files if layers else ()


def counted(hosts: pa.StringArray) -> pa.Table:
    """The runs of equal names, with their lengths."""
    runs = pc.run_end_encode(hosts, run_end_type=pa.int64())
    lengths = np.diff(runs.run_ends.to_numpy(), prepend=0)
    return pa.table({"name": runs.values, "pages": lengths})


def firsts(paths: Sequence[str]) -> Numbers:
    """The first page of each host, and the number of pages, from the files of hosts' names."""
    pages = [pq.read_table(path, columns=["pages"]).column(0).to_numpy() for path in paths]
    return np.concatenate([np.zeros(1, np.int64), *pages]).cumsum()


def hosts_of_pages(first_pages: Numbers, pages: Numbers) -> Numbers:
    """The hosts of pages."""
    return np.searchsorted(first_pages, pages, side="right") - 1


class Between(NamedTuple):
    """Arcs between different hosts, each once, by source and then by target."""

    src: Numbers
    dst: Numbers
    links: Numbers
    """The number of links between their pages."""


def between(sources: Numbers, targets: Numbers, first_pages: Numbers) -> Between:
    """The arcs between the hosts of pages, for arcs between pages."""
    ours, theirs = (hosts_of_pages(first_pages, pages) for pages in (sources, targets))
    leave = ours != theirs
    hosts = max(first_pages.size - 1, 1)
    pairs, links = np.unique(ours[leave] * hosts + theirs[leave], return_counts=True)
    return Between(*np.divmod(pairs, hosts), links)


def links_of_arcs(paths: Sequence[str]) -> Numbers:
    """The number of links of each arc between hosts, in the order of the arcs, from its files."""
    links = [pq.read_table(path, columns=["links"]).column(0).to_numpy() for path in paths]
    return np.concatenate([np.empty(0, np.int64), *links])


def _batches(path: str) -> Iterator[pa.StringArray]:
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(BATCH_NAMES, columns=["name"]):
            yield batch.column(0)
