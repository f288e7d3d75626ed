"""Which files of links and responses the graph has read, so that the next run reads only others.

They are listed in `covered.json`, beside the files of the graph. Rounds alone would not tell: a
graph may be built before its round is parsed, and some pages are parsed in a later round. An
imported graph has read none: `imported.json` says where it came from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from gossamer import checksums
from gossamer.graph.stored import IMPORTED
from gossamer.store import File

if TYPE_CHECKING:
    from gossamer.workspace import Workspace

NAME = "covered.json"


class Imported(msgspec.Struct, frozen=True):
    """Where a graph came from that was not built from links: paths, as the user gave them."""

    graph: str
    urls: str


class Covered(msgspec.Struct, frozen=True):
    """Paths of files, relative to the crawl's folder."""

    links: tuple[str, ...]
    responses: tuple[str, ...]


def current(work: Workspace) -> Covered:
    """All files that the crawl has now."""
    links, responses = (
        tuple(file.path for file in work.store.listed(name)) for name in ("links", "responses")
    )
    return Covered(links, responses)


def write(work: Workspace, covered: Covered | Imported, attempt: str) -> File:
    data = msgspec.json.encode(covered)
    path = f"{attempt}/{IMPORTED if isinstance(covered, Imported) else NAME}"
    work.store.backend.create(path, data)
    return File(path, 0, len(data), checksums.of_bytes(data))


def since(work: Workspace, now: Covered) -> Covered | None:
    """The files of `now` that the stored graph has not read, after checking that they are intact.

    None if there is no graph, or if it has read files that are not among them, as after `reparse`.
    Raises MissingFile.
    """
    listed = [file for file in work.store.files("graph") if file.path.endswith(NAME)]
    if not listed:
        return None
    read = msgspec.json.decode(work.store.backend.read(listed[-1].path), type=Covered)
    old, all_ = ({*covered.links, *covered.responses} for covered in (read, now))
    if not old <= all_:
        return None
    fresh = all_ - old
    names = ("links", "responses")
    work.store.check(
        file for name in names for file in work.store.listed(name) if file.path in fresh
    )
    links, responses = (
        tuple(path for path in paths if path in fresh) for paths in (now.links, now.responses)
    )
    return Covered(links, responses)
