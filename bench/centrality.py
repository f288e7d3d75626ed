"""How fast, and how exact, are components and harmonic centrality?

    python bench/centrality.py [--nodes 1_000_000] [--links 10_000_000] [--small 20_000]

On graphs like those of bench/graph.py:

  components   seconds for strong and weak components and the bow tie
  exact        seconds for the harmonic centrality of all nodes of the small graph
  HyperBall    for some numbers of registers, the measured relative standard deviation over all
               nodes of the small graph and fifty hash functions, beside the published one; and
               seconds for the large graph, with all processors and with one thread

If networkit and igraph are installed, they are timed beside it on the same graph, and the results
compared. Exits with 1 if an estimate is less exact than published.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from graph import synthetic, write

from gossamer.bvgraph.files import BvGraph
from gossamer.graph import components, harmonic, hyperball

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.bvgraph.files import Csr

SEEDS = range(50)
Peer = Any


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


def stored(folder: str, name: str, rows: Csr) -> BvGraph:
    write(Path(folder, name), rows)
    return BvGraph(Path(folder, name))


def peers(rows: Csr) -> dict[str, Peer]:
    """The same graph in the packages that are installed."""
    sources = np.repeat(np.arange(rows.starts.size - 1), np.diff(rows.starts))
    found: dict[str, Peer] = {}
    for name in ("networkit", "igraph"):
        try:
            package = importlib.import_module(name)
        except ImportError:
            print(f"{name} is not installed")
            continue
        if name == "igraph":
            edges = np.stack([sources, rows.targets], axis=1)
            found[name] = package.Graph(n=rows.starts.size - 1, edges=edges, directed=True)
        else:
            package.setNumberOfThreads(os.cpu_count() or 1)
            ends = (sources.astype(np.uint64), rows.targets.astype(np.uint64))
            found[name] = package.GraphFromCoo(ends, rows.starts.size - 1, directed=True)
    return found


def strong_of(name: str, graph: Peer) -> int:
    if name == "igraph":
        return len(graph.connected_components("strong"))
    import networkit

    return int(networkit.components.StronglyConnectedComponents(graph).run().numberOfComponents())


def harmonic_of(name: str, graph: Peer) -> np.ndarray:
    if name == "igraph":
        return np.array(graph.harmonic_centrality(mode="in", normalized=False))
    import networkit

    backwards = networkit.graphtools.transpose(graph)
    return np.array(networkit.centrality.HarmonicCloseness(backwards, False).run().scores())


def measure_components(graph: BvGraph, others: dict[str, Peer]) -> None:
    components.structure(graph)  # compiles
    took_s, found = timed(lambda: components.structure(graph))
    print(f"components: {found.strong_components:,} strong, {found.weak_components:,} weak")
    print("  " + ", ".join(f"{name} {count:,}" for name, count in found.bow_tie.items()))
    print(f"  all of it {took_s:.2f} s")
    took_s, mine = timed(lambda: components.strong_components(graph))
    print(f"  strong components only {took_s:.2f} s")
    for name, other in others.items():
        theirs_s, count = timed(lambda: strong_of(name, other))  # noqa: B023
        assert count == mine.sizes.size
        print(f"  {name} {theirs_s:.2f} s, {theirs_s / took_s:.1f} times ours")


def measure_exact(graph: BvGraph, others: dict[str, Peer]) -> np.ndarray:
    took_s, mine = timed(lambda: harmonic.exact(graph))
    print(f"exact: {graph.nodes:,} nodes, {graph.arcs:,} links: {took_s:.2f} s")
    for name, other in others.items():
        theirs_s, values = timed(lambda: harmonic_of(name, other))  # noqa: B023
        assert np.allclose(values, mine), name
        print(f"  {name} {theirs_s:.2f} s, {theirs_s / took_s:.1f} times ours")
    return mine


def measure_estimates(small: BvGraph, exact: np.ndarray, large: BvGraph) -> bool:
    print("HyperBall:  registers   measured  published   seconds  one thread  ratio")
    is_exact = True
    for registers in (16, 64, 256):
        found = np.array([hyperball.harmonic(small, registers, seed) for seed in SEEDS])
        measured = float(np.sqrt(np.mean(((found - exact) / (exact + 1)) ** 2)))
        published = hyperball.deviation(registers)
        alone_s, _ = timed(lambda: hyperball.harmonic(large, registers, workers=1))  # noqa: B023
        took_s, _ = timed(lambda: hyperball.harmonic(large, registers))  # noqa: B023
        times = f"{took_s:10.1f}{alone_s:12.1f}{alone_s / took_s:8.1f}"
        print(f"{registers:20}{measured:11.2%}{published:11.2%}{times}")
        is_exact &= measured <= published
    return is_exact


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=1_000_000)
    parser.add_argument("--links", type=int, default=10_000_000)
    parser.add_argument("--small", type=int, default=20_000, help="nodes of the small graph")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="centrality-") as folder:
        rows = synthetic(options.small, 10 * options.small)
        small = stored(folder, "small", rows)
        harmonic.exact(small)  # compiles
        exact = measure_exact(small, peers(rows))
        rows = synthetic(options.nodes, options.links)
        large = stored(folder, "large", rows)
        print(f"large: {large.nodes:,} nodes, {large.arcs:,} links")
        is_exact = measure_estimates(small, exact, large)
        measure_components(large, peers(rows))
    return int(not is_exact)


if __name__ == "__main__":
    sys.exit(main())
