"""graph: links → graph. Which page links to which, and which host to which, in a few bits a link.

Reads links and responses; replaces graph. Nodes are all pages that link or are linked to by a vote
(`VOTES` in current_links.py) that counts (`counted`), and their hosts. They are numbered in the
order of their names (`names.py`). Both graphs are written as BVGraph (`bvgraph/`), forward and
transposed, which the programs of the WebGraph framework read (`building.py`):

    links ─votes─▶ runs ─numbering─▶ names, arcs ─┬─▶ pages.graph, pages-t.graph
                                                  └─▶ arcs of hosts ─▶ hosts.graph, hosts-t.graph

Each arrow is a map over tasks (`votes.py`, `numbering.py`, `runs.py`, `arcs.py`), which sort what
fits into `graph.memory_mb`, and merge it.

Later runs read only what was crawled since (`covered.py`), and write what it changes beside the
graph as it was built (`changes.py`), which readers see as one graph (`overlaid.py`). When that has
grown beyond a share, the graph is built again. `queries.py` answers who links to whom.

A graph of another program may take this one's place (`importing.py`). It is kept until the user
replaces it: it may be larger than what the crawl knows, and nothing here could build it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.links.graph import building, changes, covered, stored

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer, StepReport


def run(work: Workspace, *, anew: bool = False) -> StepReport:
    """Bring the graphs of pages and hosts up to date.

    With `anew`, or if a file of the graph is damaged, they are built from all links. An imported
    graph stays as it is without `anew`; the links that it lacks are counted.
    """
    with work.step("graph", work.round) as draft:
        if stored.is_imported(work) and not anew:
            draft.counts["links_left_out"] = sum(file.rows for file in work.store.listed("links"))
        else:
            draft.replace["graph"] = _built(work, draft.counts, anew=anew)
    return draft.done


def _built(work: Workspace, counts: dict[str, int], *, anew: bool) -> tuple[Layer, ...]:
    now = covered.current(work)
    since = None if anew or work.store.damaged("graph") else covered.since(work, now)
    layers = None if since is None else changes.overlay(work, now, since, counts)
    return layers or building.built(work, now, counts)
