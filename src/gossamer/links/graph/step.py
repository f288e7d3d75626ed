"""The step `graph` brings the stored graphs up to date, by the newest links or by all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.links.graph import building, covered_links, graph_changes, stored_graph

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer, StepReport


def run(work: Workspace, *, anew: bool = False) -> StepReport:
    """Bring the graphs of pages and hosts up to date.

    With `anew`, or if a file of the graph is damaged, they are built from all links. An imported
    graph stays as it is without `anew`; the links that it lacks are counted.
    """
    with work.step("graph", work.round) as draft:
        if stored_graph.is_imported(work) and not anew:
            draft.counts["links_left_out"] = sum(file.rows for file in work.store.listed("links"))
        else:
            draft.replace["graph"] = _update_or_build(work, draft.counts, anew=anew)
    return draft.done


def _update_or_build(work: Workspace, counts: dict[str, int], *, anew: bool) -> tuple[Layer, ...]:
    now = covered_links.covered_now(work)
    since = None if anew or work.store.damaged("graph") else covered_links.unread_files(work, now)
    layers = None if since is None else graph_changes.overlay_changes(work, now, since, counts)
    return layers or building.build_graphs(work, now, counts)
