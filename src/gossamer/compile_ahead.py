"""Compiles the functions of the link graph and of `rank`, while the first crawl fetches.

numba compiles a function at its first call, and keeps the machine code (`bvgraph/compiled.py`). All
of them together take longer than a small crawl. So the first crawl of an installation starts a
process of low priority that calls each of them; a crawl that needs them earlier compiles them
itself. `make setup` runs this module as a program.
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

from gossamer.processes import start_python

NICE = 19
MACHINE_CODE = "bvgraph/__pycache__/*.nbi"


@cache
def start() -> None:
    """Compile in a process of its own, unless there is machine code beside the sources."""
    if next(Path(__file__).parent.glob(MACHINE_CODE), None) is None:
        with suppress(OSError):  # then nothing is compiled ahead
            process = start_python(
                f"from {__name__} import main; main()",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            Thread(target=process.wait, name="compiling", daemon=True).start()


def main() -> None:
    """Write a small graph in two parts, read it in each way, and rank it."""
    os.nice(NICE)
    import numpy as np
    import pyarrow as pa

    from gossamer.bvgraph.files import BvGraph, Csr, Writer
    from gossamer.config import RankConfig
    from gossamer.graph.overlaid import Overlaid
    from gossamer.rank import naming
    from gossamer.rank.power import fixed_point
    from gossamer.rank.rows import Threads, Votes, links_within
    from gossamer.rank.shares import shares

    rows = Csr(np.arange(4), np.array([1, 2, 0]))
    with TemporaryDirectory() as folder:
        part, base = Path(folder, "part"), Path(folder, "graph")
        for path in (part, base):
            writer = Writer(path)
            writer.append(rows) if path == part else writer.join(BvGraph(part))
            writer.close()
        graph = BvGraph(base)
        changed = Overlaid(graph, np.array([[0], [2]]), graph.nodes)
        for each in (graph, changed):
            each.successors(0)
            list(each.rows())
        names = pa.array(["org,example,a  https /", "org,example,b  https /"], pa.large_string())
        naming.Domains().of(naming.runs_of(names).hosts)
        for strings in (naming.urls, naming.hosts):
            strings(names)
        domains, even = np.zeros(graph.nodes, np.int32), np.full(graph.nodes, 1 / graph.nodes)
        with Threads(graph.nodes, 1) as threads:
            each_share = shares(*links_within(graph, domains, threads), 1.0)
            votes = Votes(graph, domains, sys.maxsize, threads)
            fixed_point(votes, each_share, even, even.copy(), RankConfig(), threads)


if __name__ == "__main__":
    main()
