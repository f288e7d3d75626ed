"""The hosts of pages, and the links between hosts.

The names of pages are in the order of their hosts, too. So the pages of a host have consecutive
numbers, from `firsts` on, and the host of a page is found by its number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gossamer import task_output
from gossamer.bvgraph.compiled import compiled
from gossamer.graph import naming, runs
from gossamer.graph.names import SCHEMAS, Writer, hosts_of
from gossamer.graph.text import text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.bvgraph.codes import Numbers
    from gossamer.graph.runs import Rows
    from gossamer.store import File
    from gossamer.workspace import Workspace


def named(work: Workspace, pages: Sequence[File], attempt: str) -> Sequence[File]:
    """Write the names of the hosts of pages, whose names are in these files."""
    writer = Writer(work.root, attempt, "host")
    last, many = "", 0
    for batch in naming.batches(f"{work.root}/{file.path}" for file in pages):
        listed, counts = counted(batch)
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


def counted(pages: pa.LargeStringArray) -> tuple[pa.StringArray, Numbers]:
    """The hosts of pages that are neighbours, by name, and the numbers of pages of each."""
    starts, _ = naming.host_runs(*text_of(pages))
    names = hosts_of(pages.take(pa.array(starts)))
    return names.cast(pa.string()), np.diff(starts, append=len(pages))


def _rows(names: Sequence[str] | pa.StringArray, pages: Sequence[int] | Numbers) -> pa.Table:
    return pa.table([names, pages], schema=SCHEMAS["host"])


def firsts(paths: Sequence[str]) -> Numbers:
    """The first page of each host, and the number of pages, from the files of hosts' names."""
    pages = [pq.read_table(path, columns=["pages"]).column(0).to_numpy() for path in paths]
    return np.concatenate([np.zeros(1, np.int64), *pages]).cumsum()


def hosts_of_pages(first_pages: Numbers, pages: Numbers) -> Numbers:
    """The hosts of pages."""
    return np.searchsorted(first_pages, pages, side="right") - 1


def between(starts: Numbers, targets: Numbers, first_pages: Numbers, first: int) -> Rows:
    """The arcs between the hosts of pages, with their links, of rows of the pages from `first` on.

    Not those of a host to itself.
    """
    return runs.of_arcs(*links_between(starts, targets, first_pages, first))


@compiled
def links_between(
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


def links_of_arcs(paths: Sequence[str]) -> Numbers:
    """The number of links of each arc between hosts, in the order of the arcs, from its files."""
    links = [pq.read_table(path, columns=["links"]).column(0).to_numpy() for path in paths]
    return np.concatenate([np.empty(0, np.int64), *links])
