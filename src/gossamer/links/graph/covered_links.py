"""Which links and responses has the graph read? Those up to a version of the crawl.

It stands in `covered.json`, beside the files of the graph, so the next run reads only newer layers.
An imported graph has read none: `imported.json` says where it came from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gossamer.links.graph.stored_graph import IMPORTED
from gossamer.state import unread
from gossamer.storage.kept_objects import write_kept
from gossamer.storage.local_copies import local_copy
from gossamer.storage.store import File
from gossamer.tables import LINKS, RESPONSES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.state.workspace import Workspace

NAME = "covered.json"


class Imported(msgspec.Struct, frozen=True):
    """Where a graph came from that was not built from links: paths, as the user gave them."""

    graph: str
    urls: str


class Covered(msgspec.Struct, frozen=True):
    """What was read."""

    version: int
    """The version of the crawl."""
    links: int
    responses: int
    """The versions that committed the oldest rows (`unread.oldest_unread`)."""


class UnreadFiles(msgspec.Struct, frozen=True):
    """Paths of files that were not read, relative to the crawl's folder."""

    links: Sequence[str]
    responses: Sequence[str]


def covered_now(work: Workspace) -> Covered:
    """All that the crawl has now."""
    links, responses = (
        unread.oldest_unread(work.store.manifest.layers(table.name)) for table in (LINKS, RESPONSES)
    )
    return Covered(work.store.manifest.version, links, responses)


def write_covered(work: Workspace, covered: Covered | Imported, attempt: str) -> File:
    data = msgspec.json.encode(covered)
    path = f"{attempt}/{IMPORTED if isinstance(covered, Imported) else NAME}"
    file = write_kept(f"{work.root}/{path}", data)
    return File(path, 0, file.size, file.xxh3)


def unread_files(work: Workspace, now: Covered) -> UnreadFiles | None:
    """The files that the stored graph has not read, after checking that they are intact.

    None if there is no graph, or if rows that it has read were made again, as by `reparse`.
    Raises MissingFile.
    """
    listed = [file for file in work.store.files("graph") if file.path.endswith(NAME)]
    if not listed:
        return None
    try:
        copy = local_copy(f"{work.root}/{listed[-1].path}")
        before = msgspec.json.decode(copy.read_bytes(), type=Covered)
    except msgspec.ValidationError:
        return None  # an older Gossamer wrote it
    if (before.links, before.responses) != (now.links, now.responses):
        return None
    links, responses = (
        [
            file
            for layer in unread.newer(work.store.manifest.layers(table.name), before.version)
            for file in layer.files
        ]
        for table in (LINKS, RESPONSES)
    )
    work.store.check([*links, *responses])
    return UnreadFiles([file.path for file in links], [file.path for file in responses])
