"""Links become names and small numbers, and these become arcs between the numbers of pages.

Each task makes a run of its share of the links: the names of their ends, sorted and each once, and
the links as places among them. When all names are numbered, its arcs are sorted from both ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from gossamer.links.graph import naming, numbering, runs, votes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gossamer.links.graph.numbering import Nodes, OfRun
    from gossamer.links.graph.runs import Files
    from gossamer.links.graph.votes import Share
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import File
    from gossamer.storage.task_output import Row

PLACES = "places"
"""Scratch files of links as places among the names of a run."""


@dataclass(frozen=True)
class Run:
    """A task: number the arcs of a run, and sort them."""

    root: str
    number: int
    places: str
    numbers: OfRun
    scratch: str


def find(share: Share) -> Iterator[Row]:
    """Write the names of the ends of links in a share, and the links as places among them."""
    urls, *ends = votes.ends(share)
    used = np.zeros(len(urls), np.bool_)
    for end in ends:
        used[end] = True
    if not used.any():
        return
    names, ranks = numbering.ranked(
        naming.names_of(urls if used.all() else urls.filter(pa.array(used)))
    )
    places = np.empty(len(urls), np.int32)
    places[used] = ranks
    yield numbering.save_names(share.root, share.scratch, share.number, names)
    links = np.stack([places[end] for end in ends])
    yield runs.save(share.root, share.scratch, PLACES, share.number, links)


def arcs(work: Workspace, nodes: Nodes, places: Sequence[File]) -> Files:
    """The runs of the arcs between pages, from the places that `find` wrote."""
    scratch = work.scratch_attempt()
    tasks = [
        Run(work.root, number, file.path, numbers, scratch)
        for number, (file, numbers) in enumerate(zip(places, nodes.of_runs, strict=True))
    ]
    return runs.mapped(work, tasks, sort)


def sort(run: Run) -> Iterator[Row]:
    """Write the arcs of a run as rows of numbers, forward and transposed."""
    numbers = run.numbers.load(run.root)
    sources, targets = runs.load(f"{run.root}/{run.places}")
    rows = runs.gathered(sources, targets, numbers.size)
    for name, each in ((runs.FORWARD, rows), (runs.TRANSPOSED, runs.turned(*rows))):
        yield runs.write(run.root, run.scratch, name, run.number, runs.of_nodes(numbers, *each))
