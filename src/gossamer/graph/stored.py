"""The graphs of a crawl in its files, for all who read them."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import TYPE_CHECKING, NamedTuple

from gossamer.bvgraph.files import BvGraph
from gossamer.errors import UsageError
from gossamer.graph.names import Names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.store import File
    from gossamer.workspace import Workspace


class Stored(NamedTuple):
    """A graph, its transpose and the names of its nodes."""

    listed: Sequence[File]
    """The files of the names."""
    names: Names
    forward: BvGraph
    transposed: BvGraph


def stored(work: Workspace, kind: str) -> Stored:
    """Open the graph as it was last built. `kind`: "page" or "host".

    Raises UsageError if it was never built; MissingFile or StoreError for damaged files.
    """
    files = work.store.files("graph")
    if not files:
        raise UsageError(
            work.root, "its link graph was not built yet", f"gossamer graph build {work.root}"
        )
    listed = [file for file in files if PurePath(file.path).name.startswith(f"{kind}-")]
    folder = Path(work.root, files[0].path).parent
    return Stored(
        listed,
        Names([f"{work.root}/{file.path}" for file in listed]),
        BvGraph(folder / f"{kind}s"),
        BvGraph(folder / f"{kind}s-t"),
    )
