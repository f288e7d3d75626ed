"""The hosts of pages, and the links between hosts, as a build writes them (`host_links.py`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from gossamer.links.bvgraph.compiled import compiled
from gossamer.links.graph import name_arrays
from gossamer.links.graph.arc_rows import rows_of_sorted_arcs
from gossamer.links.graph.host_links import hosts_of_pages
from gossamer.links.graph.names import SCHEMAS, NamesWriter
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


@compiled
def count_host_links(
    starts: Numbers, targets: Numbers, first_pages: Numbers, first: int
) -> tuple[Numbers, Numbers, Numbers]:
    """The arcs between hosts: their sources, their targets, and how many links each of them is."""
    counts = np.zeros(first_pages.size, np.int64)  # of the links of one host to each
    met = np.empty(first_pages.size, np.int64)
    arcs = np.empty((3, 1), np.int64)
    size = begin = 0
    while begin < starts.size - 1:
        ours = np.searchsorted(first_pages, first + begin, "right") - 1
        end = min(first_pages[ours + 1] - first, starts.size - 1)
        many = 0
        theirs = ours
        for target in targets[starts[begin] : starts[end]]:
            if not first_pages[theirs] <= target < first_pages[theirs + 1]:
                theirs = np.searchsorted(first_pages, target, "right") - 1
            if not counts[theirs]:
                met[many] = theirs
                many += 1
            counts[theirs] += 1
        met[:many].sort()
        while size + many > arcs.shape[1]:
            arcs = np.hstack((arcs, np.empty_like(arcs)))
        for host in met[:many]:
            if host != ours:
                arcs[0, size], arcs[1, size], arcs[2, size] = ours, host, counts[host]
                size += 1
            counts[host] = 0
        begin = end
    return arcs[0, :size], arcs[1, :size], arcs[2, :size]
