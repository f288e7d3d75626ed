"""All links become a graph and its transpose, of pages and of hosts."""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from gossamer import linkgraph
from gossamer.graph import covered, hosts
from gossamer.graph.arcs import write
from gossamer.graph.numbering import numbered
from gossamer.store import Layer

if TYPE_CHECKING:
    from gossamer.graph.covered import Covered
    from gossamer.graph.numbering import Nodes
    from gossamer.workspace import Workspace

ENDS = ("src", "dst")


def built(work: Workspace, now: Covered, counts: dict[str, int]) -> tuple[Layer, ...]:
    """Write the graphs of pages and hosts. `now`: the files that are read."""
    attempt = work.store.attempt("graph")
    votes = linkgraph.votes(work).where(linkgraph.counted(work))
    links, _ = work.scratch(votes.select(*ENDS))
    nodes = numbered(work, _ends(links), attempt)
    arcs = links
    for end in ENDS:
        ids = nodes.rows.select(F.col("url").alias(end), F.col("id").alias(f"{end}_id"))
        arcs = arcs.join(ids, on=end, how="inner")
    arcs, _ = work.scratch(arcs.select(*(F.col(f"{end}_id").alias(end) for end in ENDS)))
    return (of_arcs(work, nodes, arcs, attempt, now, counts),)


def of_arcs(
    work: Workspace,
    pages: Nodes,
    arcs: DataFrame,
    attempt: str,
    now: Covered,
    counts: dict[str, int],
) -> Layer:
    """Write the graphs of pages and of hosts, from arcs between pages (src, dst)."""
    listed = hosts.named(work, pages.files, attempt)
    forward = write(work, arcs, pages.count, ENDS, f"{attempt}/pages", hosts=listed)
    backward = write(work, arcs, pages.count, ENDS[::-1], f"{attempt}/pages-t")
    host_count = sum(file.rows for file in listed)
    between, _ = work.scratch(forward.between_hosts)
    of_hosts = [
        write(work, between, host_count, ENDS, f"{attempt}/hosts", counted=True),
        write(work, between, host_count, ENDS[::-1], f"{attempt}/hosts-t"),
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


def _ends(links: DataFrame) -> DataFrame:
    """The URLs that link or are linked to, each once."""
    ends = (links.select(F.col(end).alias("url")) for end in ENDS)
    return reduce(DataFrame.union, ends).distinct()
