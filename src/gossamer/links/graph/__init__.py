"""graph: links → graph. Which page links to which, and which host to which, in a few bits per link.

Reads links and responses; replaces graph. Nodes are all pages that link or are linked to by a vote
(`VOTES` in current_links.py) that counts (`vote_counts`), and their hosts. They are numbered in
the order of their names (`names.py`). Both graphs are written as BVGraph (`bvgraph/`), forward and
transposed, which the programs of the WebGraph framework read. A build (`building.py`) has four
stages, each a map over tasks that take at most `graph.memory_mb`:

    links ─▶ vote_reading ─▶ names of the ends of links; links as places among these names
    names ─▶ numbering    ─▶ all names in their order; the numbers of each task's names
    links ─▶ arc_sorting  ─▶ runs: the arcs of each task, sorted by source and by target
    runs  ─▶ arc_encoding ─▶ pages.graph, pages-t.graph; runs of the arcs between hosts, and from
                             these hosts.graph, hosts-t.graph

Later runs read only what was crawled since (`covered_links.py`), and write what it changes beside
the graph as it was built (`graph_changes.py`), which readers see as one graph (`overlay.py`). When
these changes exceed a share of the graph, it is built again. `queries.py` answers who links to
whom.

A graph of another program may take this one's place (`importing.py`). It is kept until the user
replaces it: it may be larger than what the crawl knows, and nothing here could build it again.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gossamer.links.graph.step import run

__all__ = ["run"]


def __getattr__(name: str) -> Any:
    if name == "run":  # which needs what readers of a graph do not
        return import_module(f"{__name__}.step").run
    raise AttributeError(name)
