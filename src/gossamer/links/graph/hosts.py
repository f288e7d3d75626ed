"""The hosts of pages, and the links between hosts, as a build writes them (`host_links.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from gossamer.links.graph import name_arrays
from gossamer.links.graph.arc_rows import rows_of_sorted_arcs
from gossamer.links.graph.host_links import hosts_of_pages
from gossamer.links.graph.names import SCHEMAS, NamesWriter
from gossamer.native import are_places, are_starts, native
from gossamer.storage import task_output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.graph.arc_rows import ArcRows
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import File


def write_host_names(work: Workspace, pages: Sequence[File], attempt: str) -> Sequence[File]:
    """Write the names of the hosts of pages, whose names are in these files."""
    writer = NamesWriter(work.root, attempt, "host")
    last, many = "", 0
    for batch in name_arrays.read_names(f"{work.root}/{file.path}" for file in pages):
        listed, counts = hosts_of_pages(batch)
        if last == listed[0].as_py():
            counts[0] += many
        elif many:
            writer.write(_rows([last], [many]))
        writer.write(_rows(listed[:-1], counts[:-1]))
        last, many = listed[-1].as_py(), counts[-1]
    if many:
        writer.write(_rows([last], [many]))
    layers = task_output.layers_of(writer.close(), work.round)
    return layers["graph"].files if layers else ()


def _rows(names: Sequence[str] | pa.StringArray, pages: Sequence[int] | Numbers) -> pa.Table:
    return pa.table([names, pages], schema=SCHEMAS["host"])


def arcs_between_hosts(
    starts: Numbers, targets: Numbers, first_pages: Numbers, first: int
) -> ArcRows:
    """The arcs between the hosts of pages, with their links, of rows of the pages from `first` on.

    Not those of a host to itself.
    """
    return rows_of_sorted_arcs(*count_host_links(starts, targets, first_pages, first))


def count_host_links(
    starts: Numbers, targets: Numbers, first_pages: Numbers, first: int
) -> tuple[Numbers, Numbers, Numbers]:
    """The arcs between hosts: their sources, their targets, and how many links each of them is."""
    sources, ends, links = np.empty((3, targets.size), np.int64)
    size = fill_host_arcs(starts, targets, first_pages, first, sources, ends, links)
    return sources[:size], ends[:size], links[:size]


@native
def fill_host_arcs(
    starts: Numbers,
    targets: Numbers,
    first_pages: Numbers,
    first: int,
    sources: Numbers,
    ends: Numbers,
    links: Numbers,
) -> int:
    """Write the arcs between hosts, sorted; return their number."""
    if not are_starts(starts, len(targets)) or not are_places(targets, first_pages[-1]):
        raise ValueError("fill_host_arcs: a node that does not exist")
    begin, end = starts[0], starts[-1]
    pages = np.repeat(np.arange(first, first + len(starts) - 1), np.diff(starts))
    ours, theirs = (
        np.searchsorted(first_pages, each, "right") - 1
        for each in (pages, np.asarray(targets)[begin:end])
    )
    arcs, counts = np.unique(ours * len(first_pages) + theirs, return_counts=True)
    found = np.array((*np.divmod(arcs, len(first_pages)), counts))
    between = found[:, found[0] != found[1]]
    size = between.shape[1]
    for written, each in zip((sources, ends, links), between, strict=True):
        np.asarray(written)[:size] = each
    return int(size)
