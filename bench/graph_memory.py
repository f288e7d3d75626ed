"""How much memory does a task of `gossamer graph build` take per link and per name?

    python bench/graph_memory.py links 4_000_000
    python bench/graph_memory.py names 300_000

Prints bytes: how far the resident memory of the process grows above what it is before the task.
`ARC_BYTES` (graph/arcs.py) and `NAME_BYTES` (graph/numbering.py), which divide `graph.memory_mb`,
are these figures, rounded up.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gossamer.graph import arcs, numbering
from gossamer.graph.names import name_of

NODES = 400_000
"""Nodes that link."""
TARGETS = 10_000_000
PAGES_PER_HOST = 500


def part_of_links(folder: str, links: int) -> arcs.Rows:
    random = np.random.default_rng(1)
    ends = {"src": random.integers(0, NODES, links), "dst": random.integers(0, TARGETS, links)}
    pq.write_table(pa.table(ends), f"{folder}/arcs.parquet")
    hosts = TARGETS // PAGES_PER_HOST
    named = pa.table({"name": ["host"] * hosts, "pages": np.full(hosts, PAGES_PER_HOST)})
    pq.write_table(named, f"{folder}/hosts.parquet")
    files, listed = ("arcs.parquet",), (f"{folder}/hosts.parquet",)
    return _rows(folder, files, listed, "scratch/0000")


def _rows(folder: str, files: tuple[str, ...], hosts: tuple[str, ...], base: str) -> arcs.Rows:
    nodes = NODES if files else 1
    return arcs.Rows(
        folder, files, ("src", "dst"), 0, nodes, TARGETS, base, "graph/pages", hosts, "scratch", ""
    )


def part_of_names(folder: str, names: int) -> numbering.Share:
    site = "https://www.site-{:06}.example.org/articles/and-their-titles/{:09}"
    urls = [site.format(page // PAGES_PER_HOST, page) for page in range(names)]
    rows = pa.table({"name": [name_of(url) for url in urls], "url": urls})
    pq.write_table(rows, f"{folder}/names.parquet")
    return numbering.Share(folder, 0, ("names.parquet",), 0, "graph", "scratch")


def resident(field: str) -> int:
    """VmRSS or VmHWM of this process, in bytes."""
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found
    return int(found[1]) * 1024


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("of", choices=["links", "names"])
    parser.add_argument("count", type=int)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        list(arcs.encode(_rows(folder, (), (), "scratch/0001")))  # loads the compiled code
        if options.of == "links":
            links = part_of_links(folder, options.count)
            before = _settled()
            list(arcs.encode(links))
        else:
            names = part_of_names(folder, options.count)
            before = _settled()
            list(numbering.number(names))
        print(f"{(resident('VmHWM') - before) / options.count:.0f} bytes")


def _settled() -> int:
    pa.default_memory_pool().release_unused()
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    return resident("VmRSS")


if __name__ == "__main__":
    main()
