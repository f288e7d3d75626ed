"""graph: links → graph. Which page links to which, and which host to which, in a few bits a link.

Reads links and responses; replaces graph. Nodes are all pages that link or are linked to by a vote
(`linkgraph.VOTES`) that counts (`linkgraph.counted`), and their hosts. They are numbered in the
order of their names (`names.py`). Both graphs are written as BVGraph (`bvgraph/`), forward and
transposed, which the programs of the WebGraph framework read (`building.py`):

    links ──names──▶ numbered ─┬─▶ arcs ─▶ pages.graph, pages-t.graph
                               └─▶ arcs of hosts ─▶ hosts.graph, hosts-t.graph

Later runs read only what was crawled since (`covered.py`), and write what it changes beside the
graph as it was built (`changes.py`), which readers see as one graph (`overlaid.py`). When that has
grown beyond a share, the graph is built again. `queries.py` answers who links to whom.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.graph import building, changes, covered

if TYPE_CHECKING:
    from gossamer.store import StepReport
    from gossamer.workspace import Workspace


def run(work: Workspace, *, anew: bool = False) -> StepReport:
    """Bring the graphs of pages and hosts up to date.

    With `anew`, or if a file of the graph is damaged, they are built from all links.
    """
    with work.step("graph", work.round) as draft:
        now = covered.current(work)
        since = None if anew or work.store.damaged("graph") else covered.since(work, now)
        layers = None if since is None else changes.overlay(work, now, since, draft.counts)
        draft.replace["graph"] = layers or building.built(work, now, draft.counts)
    return draft.done
