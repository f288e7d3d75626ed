"""Compiles the functions of the link graph and of `rank`, or loads them, while a crawl fetches.

numba compiles a function at its first call, and keeps the machine code
(`links/bvgraph/compiled.py`). All of them together take longer than a small crawl. So the first
crawl of an installation starts a process of low priority that calls each of them; a crawl that
needs them earlier compiles them itself. `make setup` runs this module as a program.

Loading numba and the machine code takes 0.6 s of processor time, which a small crawl notices, too.
So a thread loads them while the driver waits for the engine, in the first `update` that follows a
fetch of more than a few pages. Earlier, it would compete with the workers that start.
"""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import TYPE_CHECKING

from gossamer.engine.processes import start_python

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.storage.task_output import Row

NICE = 19
FEW = 50
"""Pages of a round after which there is time to load. A crawl of fewer pages has it at its end."""
MACHINE_CODE = "bvgraph/__pycache__/*.nbi"


def start_compiling(pages: int) -> None:
    """Load the machine code in a thread, or compile in a process if there is none yet.

    Called with the number of pages that a round has asked for.
    """
    if next(Path(__file__).parent.glob(MACHINE_CODE), None) is None:
        _compile()
    elif pages > FEW:
        _start_loading()


@cache
def _compile() -> None:
    with suppress(OSError):  # then nothing is compiled ahead
        process = start_python(
            f"from {__name__} import main; main()",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        Thread(target=process.wait, name="compiling", daemon=True).start()


@cache
def _start_loading() -> None:
    Thread(target=_load, name="loading", daemon=True).start()


def _load() -> None:
    with suppress(Exception):  # whatever it is, the steps that need the functions will meet it
        call_each()


def main() -> None:
    os.nice(NICE)
    call_each()


def call_each() -> None:
    """Build a small graph from links, read it in each way, and rank it."""
    import numpy as np
    import pyarrow as pa

    from gossamer.config import RankConfig
    from gossamer.links.bvgraph.adoption import adopt_graph
    from gossamer.links.bvgraph.files import BvGraph
    from gossamer.links.graph import name_arrays, string_arrays
    from gossamer.links.graph.overlay import Overlaid
    from gossamer.links.rank.fetched_nodes import hashes_of
    from gossamer.links.rank.power import fixed_point, share_votes
    from gossamer.links.rank.vote_rows import SpanThreads, Votes

    with TemporaryDirectory() as folder:
        base = _build_small_graph(folder)
        adopt_graph(base, Path(folder, "adopted"))
        graph = BvGraph(base)
        changed = Overlaid(graph, np.array([[0], [2]]), graph.nodes)
        for each in (graph, changed):
            each.successors(0)
            list(each.rows())
        names = pa.array(["org,example,a  https /", "org,example,b  https /"], pa.large_string())
        name_arrays.DomainNumbers().number(name_arrays.split_by_host(names).hosts)
        string_arrays.find_places(names, names)
        for strings in (name_arrays.urls_of, name_arrays.hosts_of, hashes_of):
            strings(names)
        domains, even = np.zeros(graph.nodes, np.int32), np.full(graph.nodes, 1 / graph.nodes)
        with SpanThreads(graph.nodes, 1) as threads:
            votes = Votes(graph, domains, sys.maxsize, threads)
            how = share_votes(votes, 1.0, even, threads)
            start = np.eye(graph.nodes)[0]  # far enough from the ranks for an extrapolation
            fixed_point(votes, how, even, start, RankConfig(), threads)


def _build_small_graph(folder: str) -> Path:
    """Run each task of a build on the same few links, and join the graph; return where it is."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from gossamer.links.bvgraph.files import BvGraph, GraphWriter
    from gossamer.links.graph import arc_encoding, arc_runs, arc_sorting, numbering, vote_reading
    from gossamer.links.graph.numbering import Slice

    hosts = [f"https://{host}.example.org/" for host in "abc"]
    links = {
        "src": [src for src in hosts for _ in hosts],
        "dst": hosts * len(hosts),
        "relation": ["a"] * len(hosts) ** 2,
        "nofollow": [False] * len(hosts) ** 2,
    }
    pq.write_table(pa.table(links), f"{folder}/links.parquet")
    named = pa.table({"name": hosts, "pages": np.ones(len(hosts), np.int64)})
    pq.write_table(named, f"{folder}/hosts.parquet")
    made: dict[str, str] = {}

    def run(rows: Iterable[Row]) -> None:
        made.update({str(row["name"]): str(row["path"]) for row in rows if row["path"]})

    groups = (vote_reading.RowGroups(f"{folder}/links.parquet", (0,)),)
    run(vote_reading.name_ends(vote_reading.Share(folder, 0, groups, True, "scratch")))
    slices = (Slice(f"{folder}/{made[numbering.NAMES]}", 0, len(hosts)),)
    run(numbering.merge_names(numbering.NamesToMerge(folder, 0, slices, "graph", "scratch")))
    numbers = numbering.NumbersOfRun((Slice(made[numbering.NUMBERS], 0, len(hosts)),), (0,))
    task = arc_sorting.RunToSort(folder, 0, made[numbering.PLACES], numbers, "scratch")
    run(arc_sorting.sort_run(task))
    listed = (f"{folder}/hosts.parquet",)
    for counted in (False, True):
        files = (f"{folder}/{made[arc_runs.FORWARD]}",) * 2
        span = (0, len(hosts), "graph/hosts", () if counted else listed, "scratch")
        run(arc_encoding.encode_range(arc_encoding.NodeRange(folder, 0, files, *span, counted)))
    writer = GraphWriter(Path(folder, "whole"))
    writer.join(BvGraph(Path(folder, made[arc_encoding.PARTS]).with_suffix("")))
    writer.close()
    return Path(folder, "whole")


if __name__ == "__main__":
    main()
