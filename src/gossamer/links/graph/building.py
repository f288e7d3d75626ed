"""All links become a graph and its transpose, of pages and of hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.links.graph import covered, ends, hosts, numbering, runs, votes
from gossamer.links.graph.arcs import write
from gossamer.storage.store import Layer

if TYPE_CHECKING:
    from gossamer.links.graph.covered import Covered, Imported
    from gossamer.links.graph.numbering import Nodes
    from gossamer.links.graph.runs import Files
    from gossamer.state.workspace import Workspace


def built(work: Workspace, now: Covered, counts: dict[str, int]) -> tuple[Layer, ...]:
    """Write the graphs of pages and hosts. `now`: what is read."""
    attempt = work.store.attempt("graph")
    found = runs.mapped(work, votes.shares(work), ends.find)
    pages = numbering.numbered(work, found[numbering.NAMES], attempt)
    arcs = ends.arcs(work, pages, found[ends.PLACES])
    return (of_arcs(work, pages, arcs, attempt, now, counts),)


def of_arcs(
    work: Workspace,
    pages: Nodes,
    arcs: Files,
    attempt: str,
    now: Covered | Imported,
    counts: dict[str, int],
) -> Layer:
    """Write the graphs of pages and of hosts, from runs of the arcs between pages."""
    listed = hosts.named(work, pages.files, attempt)
    forward = write(work, arcs[runs.FORWARD], pages.count, f"{attempt}/pages", hosts=listed)
    backward = write(work, arcs[runs.TRANSPOSED], pages.count, f"{attempt}/pages-t")
    host_count = sum(file.rows for file in listed)
    between = forward.between_hosts
    of_hosts = [
        write(work, between[runs.FORWARD], host_count, f"{attempt}/hosts", counted=True),
        write(work, between[runs.TRANSPOSED], host_count, f"{attempt}/hosts-t"),
    ]
    counts |= {
        "pages": pages.count,
        "page_links": forward.arcs,
        "hosts": host_count,
        "host_links": of_hosts[0].arcs,
    }
    files = [file for made in (forward, backward, *of_hosts) for file in made.files]
    file = covered.write(work, now, attempt)
    return Layer(work.round, (*pages.files, *listed, *files, file))
