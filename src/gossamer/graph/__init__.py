"""graph: links → graph. Which page links to which, and which host to which, in a few bits a link.

Reads pages and links; replaces graph. Nodes are all pages that link or are linked to by a vote
(`linkgraph.VOTES`) that is not nofollow, and their hosts. They are numbered in the order of their
names (`names.py`). Both graphs are written as BVGraph (`bvgraph/`), forward and transposed, which
the programs of the WebGraph framework read:

    links ──names──▶ numbered ─┬─▶ arcs ─▶ pages.graph, pages-t.graph
      │                        │
      └────────────────────────┴─▶ arcs of hosts ─▶ hosts.graph, hosts-t.graph

`queries.py` answers who links to whom.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from gossamer import linkgraph
from gossamer.graph.arcs import write
from gossamer.graph.names import host_name_column, name_column
from gossamer.graph.numbering import numbered
from gossamer.store import Layer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.store import File, StepReport
    from gossamer.workspace import Workspace

ENDS = ("src", "dst")


def run(work: Workspace) -> StepReport:
    """Build the graphs of pages and hosts anew."""
    with work.step("graph", work.round) as draft:
        attempt = work.store.attempt("graph")
        votes = linkgraph.votes(work).where(~F.col("nofollow"))
        named = (name_column(F.col(end)).alias(end) for end in ENDS)
        links, _ = work.scratch(votes.select(*named).distinct())
        pages = _ends(links)
        between = links.select(*(host_name_column(F.col(end)).alias(end) for end in ENDS))
        kinds = {
            "page": (pages, links),
            "host": (
                pages.select(host_name_column(F.col("name")).alias("name")).distinct(),
                between.where("src <> dst").distinct(),
            ),
        }
        files: list[File] = []
        for kind, (names, of_kind) in kinds.items():
            nodes, arcs, made = _built(work, names, of_kind, kind, attempt)
            files += made
            draft.counts[f"{kind}s"], draft.counts[f"{kind}_links"] = nodes, arcs
        draft.replace["graph"] = (Layer(work.round, tuple(files)),)
    return draft.done


def _ends(links: DataFrame) -> DataFrame:
    """The names that link or are linked to, each once."""
    ends = (links.select(F.col(end).alias("name")) for end in ENDS)
    return reduce(DataFrame.union, ends).distinct()


def _built(
    work: Workspace, names: DataFrame, links: DataFrame, kind: str, attempt: str
) -> tuple[int, int, Sequence[File]]:
    """Write the graph of links between names (src, dst, each pair once), and its transpose.

    Returns the numbers of nodes and arcs, and the files.
    """
    nodes = numbered(work, names, kind, attempt)
    arcs = links
    for end in ENDS:
        ids = nodes.rows.select(F.col("name").alias(end), F.col("id").alias(f"{end}_id"))
        arcs = arcs.join(ids, on=end, how="inner")
    arcs, count = work.scratch(arcs.select(*(F.col(f"{end}_id").alias(end) for end in ENDS)))
    made = [
        *write(work, arcs, nodes.count, ENDS, f"{attempt}/{kind}s"),
        *write(work, arcs, nodes.count, ENDS[::-1], f"{attempt}/{kind}s-t"),
    ]
    return nodes.count, count, [*nodes.files, *made]
