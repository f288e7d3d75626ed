"""How small and how fast is the link graph?

    gossamer graph build CRAWL && python bench/graph.py CRAWL
    python bench/graph.py --nodes 1_000_000 --links 10_000_000

The first form reads the graph of a crawl's pages. The second makes one in which, as on the Web, a
row resembles the rows before it, most links are to neighbours, and some are to popular nodes.

  size      bits per link, forward and transposed, beside gaps in variable bytes, gzipped lists of
            numbers, CSR (32 bits per link and 64 per node) and Parquet (zstd, dictionaries)
  encoding  links per second of one core, from rows in memory
  decoding  the same for all rows in their order; and rows per second in random order, called from
            Python one at a time, and in batches

If the programs of WebGraph for Rust are installed (`cargo install webgraph-cli`), the original
writes the same graph with the same parameters, and both sizes are compared; and the package
`webgraph` reads our files, compares all rows, and is timed beside our reader.
"""

from __future__ import annotations

import gzip
import io
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from harness import Options, report

from gossamer.links.bvgraph.files import CHUNK, BvGraph, Csr, GraphWriter
from gossamer.state.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.graph.overlay import Overlaid

BATCH_ROWS = 1_000


def synthetic(nodes: int, links: int) -> Csr:
    """Return a graph with about `links` links."""
    random = np.random.default_rng(1)
    per_node = links / nodes
    targets = []
    for first in range(0, nodes, CHUNK):
        size = min(CHUNK, nodes - first)
        for site in range(first, first + size, 64):
            pages = min(64, first + size - site)
            menu = np.clip(
                site + random.integers(-200, 200, max(int(per_node / 2), 1)), 0, nodes - 1
            )
            near = site + random.integers(0, 64, (pages, max(int(per_node / 3), 1)))
            popular = (nodes * random.random((pages, max(int(per_node / 6), 1))) ** 3).astype(int)
            rows = np.hstack([np.tile(menu, (pages, 1)), np.clip(near, 0, nodes - 1), popular])
            ours = np.repeat(np.arange(site, site + pages), rows.shape[1])
            targets.append(np.unique(ours * nodes + rows.ravel()))
    arcs = np.concatenate(targets)
    return Csr(np.searchsorted(arcs // nodes, np.arange(nodes + 1)), arcs % nodes)


def read(graph: BvGraph | Overlaid) -> Csr:
    starts, targets = [np.zeros(1, np.int64)], []
    for rows in graph.rows():
        starts.append(rows.starts[1:] + starts[-1][-1])
        targets.append(rows.targets)
    return Csr(np.concatenate(starts), np.concatenate([np.empty(0, np.int64), *targets]))


def transposed(rows: Csr) -> Csr:
    nodes = rows.starts.size - 1
    sources = np.repeat(np.arange(nodes), np.diff(rows.starts))
    order = np.argsort(rows.targets, kind="stable")
    return Csr(np.searchsorted(rows.targets[order], np.arange(nodes + 1)), sources[order])


def write(base: Path, rows: Csr) -> None:
    writer = GraphWriter(base)
    starts, targets = rows
    for first in range(0, starts.size - 1, CHUNK):
        ends = starts[first : first + CHUNK + 1]
        writer.append(Csr(ends - ends[0], targets[ends[0] : ends[-1]]))
    writer.close()


def timed(work: Callable[[], object]) -> float:
    """CPU seconds, the best of three runs; the first one may compile."""
    best = float("inf")
    for _ in range(4):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best


def alternatives(rows: Csr) -> dict[str, float]:
    """Bytes of other forms."""
    starts, targets = rows
    gaps = np.diff(targets, prepend=0)
    gaps[starts[:-1][np.diff(starts) > 0]] = targets[starts[:-1][np.diff(starts) > 0]]
    sizes = np.maximum(np.ceil(np.log2(np.maximum(np.abs(gaps), 1) + 1) / 7), 1)
    lists = "\n".join(" ".join(map(str, part)) for part in np.split(targets, starts[1:-1]))
    sources = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    out = io.BytesIO()
    pq.write_table(pa.table({"src": sources, "dst": targets}), out, compression="zstd")
    return {
        "gaps in variable bytes": float(sizes.sum() + starts.size),
        "gzipped lists": float(len(gzip.compress(lists.encode(), 6))),
        "CSR": 4.0 * targets.size + 8 * starts.size,
        "Parquet": float(out.tell()),
    }


def original(base: Path, rows: Csr, some: Numbers) -> None:
    """Let WebGraph's own programs write and read the same graph."""
    program = shutil.which("webgraph")
    if program is None:
        print("WebGraph for Rust is not installed")
        return
    import webgraph

    def call(*arguments: str) -> None:
        subprocess.run([program, *arguments], check=True, capture_output=True)

    again = base.with_name("original")
    call("build", "ef", str(base))
    call("to", "bvgraph", "--sequential", str(base), str(again))
    ours, theirs = (each.with_suffix(".graph").stat().st_size for each in (base, again))
    print(f"original: {theirs:,} bytes; ours {ours:,}, {ours / theirs - 1:+.3%}")
    graph = webgraph.BvGraph(str(base))
    starts, targets = rows
    for node in range(starts.size - 1):
        if list(graph.successors(node)) != targets[starts[node] : starts[node + 1]].tolist():
            raise SystemExit(f"the original reads other successors of node {node:,}")
    took_s = timed(lambda: [list(graph.successors(node)) for node in some.tolist()])
    print(f"original reads all rows as they are; {some.size / took_s:,.0f} random rows/s")


def measure(name: str, base: Path, rows: Csr, random: int) -> str:
    """Print all figures, and return those that matter most."""
    links = max(rows.targets.size, 1)
    write(base, rows)
    graph = BvGraph(base)
    bits = graph.bits / links
    print(f"{name}: {graph.nodes:,} nodes, {graph.arcs:,} links, {bits:.2f} bits/link")
    others = {form: 8 * size / links for form, size in alternatives(rows).items()}
    print(f"  {', '.join(f'{form} {size:.2f}' for form, size in others.items())} bits/link")

    def rewrite() -> None:
        for file in base.parent.glob(f"{base.name}.*"):
            file.unlink()
        write(base, rows)

    print(f"  encoding {links / timed(rewrite) / 1e6:.2f} M links/s")
    print(f"  decoding {links / timed(lambda: read(BvGraph(base))) / 1e6:.1f} M links/s")
    some = np.random.default_rng(2).integers(0, graph.nodes, random)
    took_s = timed(lambda: [graph.successors(node) for node in some.tolist()])
    batches = np.split(some, random // BATCH_ROWS)
    together_s = timed(lambda: [graph.rows_of(nodes) for nodes in batches])
    print(f"  {some.size / took_s:,.0f} random rows/s; {some.size / together_s:,.0f} in batches")
    original(base, rows, some)
    speed = some.size / together_s
    parquet = others["Parquet"]
    return f"{bits:.1f} bits per link (Parquet {parquet:.1f}), {speed:,.0f} random rows/s"


def stored(work: Workspace) -> Csr:
    """The rows of the graph of a crawl's pages, after printing what its URLs take."""
    files = work.store.files("graph")
    listed = [file for file in files if Path(file.path).name.startswith("page-")]
    graph = BvGraph(Path(work.root, files[0].path).with_name("pages"))
    size = sum(file.bytes for file in listed) / max(graph.nodes, 1)
    print(f"{size:.1f} bytes per URL")
    return read(graph)


def main() -> None:
    parser = Options(
        __doc__, nodes=(1_000_000, 2_000), links=(10_000_000, 20_000), random=(200_000, 2_000)
    )
    parser.add_argument("crawl", nargs="?")
    options = parser.read()
    with tempfile.TemporaryDirectory() as folder:
        if options.crawl:
            rows = stored(Workspace.open(options.crawl))
        else:
            rows = synthetic(options.nodes, options.links)
        figure = measure("forward", Path(folder, "forward"), rows, options.random)
        measure("transposed", Path(folder, "transposed"), transposed(rows), options.random)
    report(figure)


if __name__ == "__main__":
    main()
