"""The graphs of a crawl in its files, for all who read them.

The first layer of the dataset `graph` is a graph as it was built, the base. The second one, if
there is one, is what changed since: the names of new nodes, and the changes of each graph; and the
names of the pages that answered last, which `rank` looks up next.
"""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from gossamer.errors import UsageError
from gossamer.links.bvgraph.files import BvGraph
from gossamer.links.graph.names import Names
from gossamer.links.graph.overlay import Overlaid, load_changes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import File, Layer


IMPORTED = "imported.json"
"""The file that only a graph has that was imported, not built from the crawl's links."""


class StoredGraph(NamedTuple):
    """A graph, its transpose and the names of its nodes."""

    base: str
    """The folder of the graph as it was built, in which numbers of nodes never change."""
    listed: Sequence[File]
    """The files of the names, those of added nodes last."""
    added: Sequence[File]
    """The files of the names of nodes that were added since."""
    hosts: Sequence[File]
    """The files of the names of all hosts in the graph as it was built, and their numbers of
    pages."""
    names: Names
    forward: BvGraph | Overlaid
    transposed: BvGraph | Overlaid


def open_graph(work: Workspace, kind: str) -> StoredGraph:
    """Open the graph as it was last brought up to date. `kind`: "page" or "host".

    The numbers of nodes that were added since the base was built follow those of the base.
    Raises UsageError if it was never built; MissingFile or StoreError for damaged files.
    """
    work.store.files("graph")  # checks them
    layers = work.store.manifest.layers("graph")
    if not layers:
        raise UsageError(
            work.root, "its link graph was not built yet", f"gossamer graph build {work.root}"
        )
    base, *overlays = layers
    built, added = (
        [file for layer in each for file in _files_of_names(layer.files, kind)]
        for each in ([base], overlays)
    )
    recent = [file for layer in overlays for file in _files_of_names(layer.files, f"recent-{kind}")]
    names = Names(
        *([f"{work.root}/{file.path}" for file in files] for files in (built, added, recent))
    )
    folder = folder_of(work, base)
    forward, transposed = (BvGraph(f"{folder}/{kind}s{end}") for end in ("", "-t"))
    where = str(PurePath(base.files[0].path).parent)
    files = where, [*built, *added], added, _files_of_names(base.files, "host")
    if not overlays:
        return StoredGraph(*files, names, forward, transposed)
    beside = folder_of(work, overlays[0])
    return StoredGraph(
        *files,
        names,
        Overlaid(forward, load_changes(f"{beside}/{kind}s.npy"), names.count),
        Overlaid(transposed, load_changes(f"{beside}/{kind}s-t.npy"), names.count),
    )


def is_imported(work: Workspace) -> bool:
    """Whether the graph of a crawl came from another program. Reads no files."""
    return any(file.path.endswith(f"/{IMPORTED}") for file in work.store.listed("graph"))


def folder_of(work: Workspace, layer: Layer) -> str:
    """The folder of the files of a layer."""
    return f"{work.root}/{PurePath(layer.files[0].path).parent}"


def _files_of_names(files: Sequence[File], kind: str) -> list[File]:
    return [file for file in files if PurePath(file.path).name.startswith(f"{kind}-")]
