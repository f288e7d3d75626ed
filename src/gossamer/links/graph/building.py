"""All links become a graph and its transpose, of pages and of hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.links.graph import arc_runs, covered_links, numbering, task_files, vote_reading
from gossamer.links.graph.arc_encoding import write_graph
from gossamer.links.graph.arc_sorting import sort_arcs
from gossamer.links.graph.hosts import write_host_names
from gossamer.storage.store import Layer

if TYPE_CHECKING:
    from gossamer.links.graph.covered_links import Covered, Imported
    from gossamer.links.graph.numbering import NumberedNodes
    from gossamer.links.graph.task_files import Files
    from gossamer.state.workspace import Workspace


def build_graphs(work: Workspace, now: Covered, counts: dict[str, int]) -> tuple[Layer, ...]:
    """Write the graphs of pages and hosts. `now`: what is read."""
    attempt = work.store.attempt("graph")
    shares = vote_reading.share_links(work)
    ends = task_files.map_to_files(work, shares, vote_reading.name_ends)
    pages = numbering.number_names(work, ends[numbering.NAMES], attempt)
    runs = sort_arcs(work, pages, ends[numbering.PLACES])
    return (write_graphs(work, pages, runs, attempt, now, counts),)


def write_graphs(
    work: Workspace,
    pages: NumberedNodes,
    runs: Files,
    attempt: str,
    now: Covered | Imported,
    counts: dict[str, int],
) -> Layer:
    """Write the graphs of pages and of hosts, from runs of the arcs between pages."""
    forward_runs, transposed_runs = runs[arc_runs.FORWARD], runs[arc_runs.TRANSPOSED]
    hosts = write_host_names(work, pages.files, attempt)
    forward = write_graph(work, forward_runs, pages.count, f"{attempt}/pages", hosts=hosts)
    transposed = write_graph(work, transposed_runs, pages.count, f"{attempt}/pages-t")
    host_count = sum(file.rows for file in hosts)
    between = forward.between_hosts
    of_hosts = [
        write_graph(
            work, between[arc_runs.FORWARD], host_count, f"{attempt}/hosts", counts_links=True
        ),
        write_graph(work, between[arc_runs.TRANSPOSED], host_count, f"{attempt}/hosts-t"),
    ]
    counts |= {
        "pages": pages.count,
        "page_links": forward.arcs,
        "hosts": host_count,
        "host_links": of_hosts[0].arcs,
    }
    files = [file for made in (forward, transposed, *of_hosts) for file in made.files]
    return Layer(
        work.round, (*pages.files, *hosts, *files, covered_links.write_covered(work, now, attempt))
    )
