"""How much memory does a task of `gossamer graph build` take per link and per name?

    python bench/graph_memory.py links 4_000_000
    python bench/graph_memory.py names 1_000_000
    python bench/graph_memory.py rows 2_000_000

Prints bytes: how far the resident memory of the process grows above what it is before the task.
`ARC_BYTES` (graph/arcs.py) and `NAME_BYTES` (graph/numbering.py), which divide `graph.memory_mb`,
are these figures, rounded up. For rows of the dataset links, it also prints what graph/votes.py
expects, by `ROW_BYTES` and `TEXT_COPIES`.
"""

from __future__ import annotations

import argparse
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gossamer.graph import arcs, numbering, runs, votes

if TYPE_CHECKING:
    from gossamer.bvgraph.codes import Numbers

NODES = 400_000
"""Nodes that link."""
TARGETS = 10_000_000
PAGES_PER_HOST = 500


def part_of_links(folder: str, links: int) -> arcs.Range:
    random = np.random.default_rng(1)
    ends = np.unique(
        random.integers(0, NODES, links) * TARGETS + random.integers(0, TARGETS, links)
    )
    files = []
    for number, some in enumerate((ends[::2], ends[1::2])):
        rows = runs.of_arcs(*np.divmod(some, TARGETS))
        row = runs.write(folder, "scratch", runs.FORWARD, number, rows)
        files.append(f"{folder}/{row['path']}")
    hosts = TARGETS // PAGES_PER_HOST
    named = pa.table({"name": ["host"] * hosts, "pages": np.full(hosts, PAGES_PER_HOST)})
    pq.write_table(named, f"{folder}/hosts.parquet")
    listed = (f"{folder}/hosts.parquet",)
    return arcs.Range(folder, 0, tuple(files), 0, NODES, "graph/pages", listed, "scratch", False)


def part_of_names(folder: str, count: int) -> numbering.Part:
    """Two runs, which have half of their names in common."""
    slices = []
    for first in (0, count // 4):
        share = _share(folder, np.arange(first, first + count // 2))
        made = {str(row["name"]): str(row["path"]) for row in numbering.find(share)}
        slices.append(numbering.Slice(made[numbering.NAMES], 0, count // 2))
    return numbering.Part(folder, 0, tuple(slices), "graph", "scratch")


def part_of_rows(folder: str, rows: int) -> votes.Share:
    """Rows each of which has a URL of its own."""
    return _share(folder, np.random.default_rng(1).permutation(rows))


def _share(folder: str, pages: Numbers) -> votes.Share:
    site = "https://www.site-{:06}.example.org/articles/and-their-titles/{:09}"
    urls = [site.format(page // PAGES_PER_HOST, page) for page in pages.tolist()]
    plain = {"relation": ["a"] * len(urls), "nofollow": [False] * len(urls)}
    path = f"{folder}/links-{pages[0]}.parquet"
    pq.write_table(pa.table({"src": urls, "dst": urls, **plain}), path)
    groups = tuple(range(pq.read_metadata(path).num_row_groups))
    return votes.Share(folder, 0, (votes.Groups(path, groups),), False, "scratch")


def resident(field: str) -> int:
    """VmRSS or VmHWM of this process, in bytes."""
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    assert found
    return int(found[1]) * 1024


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("of", choices=[*PARTS])
    parser.add_argument("count", type=int)
    options = parser.parse_args()
    made, run = PARTS[options.of]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "small").mkdir()
        list(run(made(f"{folder}/small", 1_000)))  # loads the compiled code
        part = made(folder, options.count)
        before = _settled()
        list(run(part))
        print(f"{(resident('VmHWM') - before) / options.count:.0f} bytes")
        if isinstance(part, votes.Share):
            expected = sum(size for *_, size in votes.sizes([part.groups[0].path]))
            print(f"{expected / options.count:.0f} bytes expected")


PARTS = {
    "links": (part_of_links, arcs.encode),
    "names": (part_of_names, numbering.merge),
    "rows": (part_of_rows, numbering.find),
}


def _settled() -> int:
    pa.default_memory_pool().release_unused()
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    return resident("VmRSS")


if __name__ == "__main__":
    main()
