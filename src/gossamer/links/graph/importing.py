"""A graph of another program becomes the link graph of a crawl.

    NAME.graph ─adopt─▶ rows ─────────────────────────────┐
    NAME.urls ─normalise─▶ URLs ─names─▶ numbers of lines ─┴▶ arcs ─▶ graph

Nodes get the numbers of our order of names. Lines with the same normalised URL become one node; a
node without a valid URL is left out, with its links. Links of a page to itself are left out, too,
as `parse` does not record them. What is held in memory does not grow with the graph: the number of
each line is in a file that is mapped.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from gossamer.errors import StoreError, UsageError
from gossamer.links.bvgraph import REMEDY
from gossamer.links.bvgraph.adoption import adopt_graph
from gossamer.links.bvgraph.files import with_ending
from gossamer.links.graph import arc_runs, name_arrays, task_files, url_lists
from gossamer.links.graph.arc_rows import rows_of_sorted_arcs, transpose_rows
from gossamer.links.graph.building import write_graphs
from gossamer.links.graph.covered_links import Imported
from gossamer.links.graph.numbering import NAMES, PLACES, number_names, save_names, sort_distinct
from gossamer.links.graph.stored_graph import is_imported
from gossamer.storage import parquet, task_output
from gossamer.storage.errors import disk_errors
from gossamer.storage.local_copies import workshop

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.bvgraph.files import BvGraph, Csr
    from gossamer.links.graph.numbering import NumberedNodes
    from gossamer.links.graph.task_files import Files
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport
    from gossamer.web.seed_lists import BadLine

NAME = "0000"
"""The name of the copied graph among the scratch files."""
SPANS = 16
"""Spans of nodes that threads read: more than cores, as some have many links."""
BATCH_NODES = 1 << 16
BATCH_ARCS = 1 << 20
"""Rows that a thread reads at a time: at most so many, and a row however long it is."""
NONE = -1
"""The number of a line that is no node."""


@dataclass(frozen=True)
class LinesToName:
    """A task: name the URLs of a file of lines."""

    root: str
    number: int
    path: str
    scratch: str


class GraphFiles(NamedTuple):
    """The files of a graph: the path of its files without their endings, and its URLs."""

    base: Path
    urls: Path


def graph_files(base: str, urls: str | None) -> GraphFiles:
    """The files that are meant. `base` may have the ending of one of them."""
    path = Path(base)
    if path.suffix in (".graph", ".properties", ".offsets"):
        path = path.with_suffix("")
    if urls is not None:
        return GraphFiles(path, Path(urls))
    listed = [Path(with_ending(path, f".urls{packed}")) for packed in ("", ".gz", ".zst")]
    return GraphFiles(path, next(filter(Path.exists, listed), listed[0]))


def run(
    work: Workspace, given: GraphFiles, report: Callable[[BadLine], None], *, anew: bool
) -> StepReport:
    """Replace the graph of a crawl. The first invalid lines are passed to `report`.

    Raises UsageError if the crawl has a graph already, unless `anew`, or if the URLs are not those
    of the graph; StoreError if files of the graph are missing, damaged or of another kind.
    """
    if work.store.manifest.layers("graph") and not anew:
        remedy = f"replace it: gossamer graph import {work.root} {given.base} --replace"
        raise UsageError(work.root, "has a link graph already", remedy)
    scratch = work.scratch_attempt()
    with work.step("graph", work.round) as draft, workshop(work.root, scratch) as here:
        graph = adopt_graph(given.base, here / NAME)
        found = url_lists.read_url_list(work, given.urls, graph.nodes)
        for line in url_lists.bad_lines(found, given.urls) if found.bad_lines else ():
            report(line)
        if found.bad_lines == graph.nodes:
            what = "none of its lines is a URL that can be crawled"
            raise UsageError(given.urls, what, "urls.schemes lists the schemes that are crawled")
        attempt = work.store.attempt("graph")
        nodes, numbers = _number_lines(work, found, graph.nodes, attempt, here)
        draft.counts["bad_lines"] = found.bad_lines
        draft.counts["repeated_urls"] = graph.nodes - found.bad_lines - nodes.count
        arcs = _renumber_arcs(work, graph, numbers, nodes.count, draft.counts)
        read = Imported(str(given.base.absolute()), str(given.urls.absolute()))
        draft.replace["graph"] = (write_graphs(work, nodes, arcs, attempt, read, draft.counts),)
    return draft.done


def refuse_to_build(work: Workspace) -> None:
    """Raise UsageError if the graph of a crawl was imported."""
    if is_imported(work):
        raise UsageError(
            work.root,
            "its link graph was imported, so links of the crawl are not added to it",
            f"build it from the crawl's links instead: gossamer graph build {work.root} --rebuild",
        )


def _number_lines(
    work: Workspace, found: url_lists.UrlList, lines: int, attempt: str, here: Path
) -> tuple[NumberedNodes, Numbers]:
    """The nodes, and the number of the node of each line, or NONE, in a mapped file in `here`."""
    scratch = work.scratch_attempt()
    pieces = [LinesToName(work.root, *each, scratch) for each in enumerate(found.paths)]
    made = task_files.map_to_files(work, pieces, name_lines)
    nodes = number_names(work, made[NAMES], attempt)
    path = here / f"{NAME}.npy"
    with disk_errors(path):
        numbers = np.lib.format.open_memmap(path, "w+", np.int64, (lines,))
    first = 0
    of_runs = iter(nodes.of_runs)
    for file in made[PLACES]:
        places = task_files.load_array(f"{work.root}/{file.path}")
        part = np.full(places.size, NONE, np.int64)
        if (is_node := places != NONE).any():
            part[is_node] = next(of_runs).load(work.root)[places[is_node]]
        numbers[first : first + part.size] = part
        first += part.size
    return nodes, numbers


def name_lines(task: LinesToName) -> Iterator[task_output.Row]:
    """Write the names of lines, and the place of each line among them, or NONE."""
    urls = parquet.read_table(task.path, columns=["url"])["url"].combine_chunks()
    listed, ranks = sort_distinct(name_arrays.names_of(urls.drop_null().cast(pa.large_string())))
    places = np.full(len(urls), NONE, np.int64)
    places[urls.is_valid().to_numpy(zero_copy_only=False)] = ranks
    if len(listed):
        yield save_names(task.root, task.scratch, task.number, listed)
    yield task_files.save_array(task.root, task.scratch, PLACES, task.number, places)


def _renumber_arcs(
    work: Workspace, graph: BvGraph, numbers: Numbers, nodes: int, counts: dict[str, int]
) -> Files:
    """Write runs of the arcs between nodes by their new numbers."""
    scratch = work.scratch_attempt()
    size = max(-(-graph.nodes // SPANS), 1)

    def write(first: int) -> list[task_output.Row]:
        made: list[task_output.Row] = []
        of_bad_lines = to_themselves = 0
        at, last = first, min(first + size, graph.nodes)
        for rows in graph.rows(BATCH_NODES, first, last, most=BATCH_ARCS):
            _check_order(graph, rows)
            degrees = np.diff(rows.starts)
            src = np.repeat(numbers[at : at + degrees.size], degrees)
            dst = numbers[rows.targets]
            are_nodes = (src != NONE) & (dst != NONE)
            are_links = are_nodes & (src != dst)
            of_bad_lines += src.size - int(are_nodes.sum())
            to_themselves += int(are_nodes.sum() - are_links.sum())
            arcs = np.unique(src[are_links] * nodes + dst[are_links])
            forward = rows_of_sorted_arcs(*np.divmod(arcs, nodes))
            if arcs.size:
                for kind, each in (
                    (arc_runs.FORWARD, forward),
                    (arc_runs.TRANSPOSED, transpose_rows(forward)),
                ):
                    made.append(arc_runs.write_run(work.root, scratch, kind, at, each))
            at += degrees.size
        dropped = {"links_of_bad_lines": of_bad_lines, "self_links": to_themselves}
        return [*made, *task_output.count_rows(dropped)]

    with ThreadPoolExecutor(work.engine.workers) as threads:
        made = [row for rows in threads.map(write, range(0, graph.nodes, size)) for row in rows]
    counts |= task_output.counts_of(made)
    return task_files.group_files(made)


def _check_order(graph: BvGraph, rows: Csr) -> None:
    """Raise StoreError unless the successors of each node ascend."""
    ascends = np.diff(rows.targets) > 0
    ascends[rows.starts[(rows.starts > 0) & (rows.starts < rows.targets.size)] - 1] = True
    if not ascends.all():
        raise StoreError(graph.path, "this graph is damaged: a row is not ascending", REMEDY)
