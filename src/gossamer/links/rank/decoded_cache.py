"""The decoded rows of the graph as it was built, kept from run to run.

Decoding takes a quarter of a run after a round, and what changed since the graph was built stands
beside it anyway. So the first run after a build writes the rows (`rows.Held`) to a file, and later
ones map it into memory: four bytes per link and six per page. The name of the file says of which
graph, and of which domains of pages, they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gossamer.links.graph.overlaid import apart
from gossamer.links.rank.rows import Held, beyond
from gossamer.storage import checksums, files
from gossamer.storage.copies import local
from gossamer.storage.errors import disk_errors
from gossamer.storage.store import File
from gossamer.tables import RANKED_NODES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.links.graph.stored import Stored
    from gossamer.links.rank.kernels import Indices
    from gossamer.state.workspace import Workspace

WORD = np.uint32


def kept(work: Workspace, graph: Stored, domains: Indices) -> Held | None:
    """The rows that the last run left, if they are intact, and of this graph."""
    base, _ = apart(graph.transposed)
    for file in _named(work, graph, domains):
        words = np.memmap(local(f"{work.root}/{file.path}", file.xxh3), WORD, "c")
        if words.size != base.nodes + base.arcs + -(-base.nodes // 2):
            return None
        counts, links, order = np.split(np.asarray(words), [base.nodes, base.nodes + base.arcs])
        held = Held(counts, links, order.view(np.uint16)[: base.nodes])
        return held if held.is_sound(base.nodes, 2 * beyond(graph.transposed)) else None
    return None


def keep(work: Workspace, graph: Stored, domains: Indices, held: Held | None) -> Iterable[File]:
    """The file of the rows, which is written if the last run did not leave it.

    There is none without rows: an empty file cannot be mapped.
    """
    if held is None or not held.counts.size or held.links.dtype != WORD:
        return ()
    if left := _named(work, graph, domains):
        return left
    path = f"{work.store.attempt(RANKED_NODES.name)}/{_name(graph, domains)}"
    order = np.append(held.order, np.zeros(held.order.size % 2, np.uint16))
    file = files.create(f"{work.root}/{path}")
    with disk_errors(f"{work.root}/{path}"):
        for part in (held.counts, held.links, order):
            file.write(part.tobytes())
        file.close()
    return (File(path, held.links.size, file.size, file.xxh3),)


def _named(work: Workspace, graph: Stored, domains: Indices) -> list[File]:
    name = _name(graph, domains)
    return [file for file in work.store.whole(RANKED_NODES.name) if file.path.endswith(f"/{name}")]


def _name(graph: Stored, domains: Indices) -> str:
    built, _ = apart(graph.transposed)
    which = f"{graph.base} {beyond(graph.transposed)} ".encode()
    identity = checksums.checksum_bytes(which + domains[: built.nodes].tobytes())
    return f"votes-{identity}.u32"
