"""How fast is PageRank, beside scipy, igraph and networkit?

    python bench/pagerank.py [--nodes 1_200_000] [--links 10_000_000] [--kind local | powerlaw]
    python bench/pagerank.py CRAWL

The second form reads the pages of a crawl whose graph was built. `local` is the graph of
bench/graph.py; in `powerlaw`, both ends of a link are drawn from a power law.

  iteration  the time of an iteration: of ours, the time of two cycles, with their extrapolations,
             less that of one iteration; of scipy, a product of the transposed matrix (CSR) and a
             vector, also with what else an iteration needs (damping, dangling rank and the change);
             of networkit, its time divided by its iterations; of igraph, which does not say how
             many iterations PRPACK took, the time of the whole computation, beside ours to an error
             of TOLERANCE
  to the     the time of all iterations until the same bound on the error is at most TOLERANCE, of
  same error ours and of scipy's power iteration; rows in memory
  error      Σ|rank − rank| of ours and of networkx's definition, by scipy's products

The links of a synthetic graph are within domains of 500 pages. scipy, igraph and networkit are
installed for this script alone: pip install scipy igraph networkit.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from graph import read, synthetic, transposed, write

from gossamer.bvgraph.files import BvGraph, Csr
from gossamer.config import RankConfig
from gossamer.graph.stored import stored
from gossamer.rank.power import bound, fixed_point, shared
from gossamer.rank.rows import Threads, Votes
from gossamer.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.graph.overlaid import Graph

RUNS = 15
ITERATIONS = 10
WHOLE_RUNS = 3
DOMAIN = 500
ALPHA = 0.85
TOLERANCE = 1e-8


def powerlaw(nodes: int, links: int) -> Csr:
    """A graph whose in- and outdegrees follow a power law."""
    random = np.random.default_rng(1)
    ends = [(nodes * random.random(links) ** 4).astype(np.int64) for _ in range(2)]
    order = random.permutation(nodes)
    arcs = np.unique(ends[0] * nodes + order[ends[1]])
    sources, targets = np.divmod(arcs, nodes)
    return Csr(np.searchsorted(sources, np.arange(nodes + 1)), targets)


def best_s(work: Callable[[], object], runs: int = RUNS) -> float:
    """The fastest of some runs after one that may compile."""
    times = []
    for _ in range(runs + 1):
        began_s = time.perf_counter()
        work()
        times.append(time.perf_counter() - began_s)
    return min(times[1:])


def show(name: str, ours_s: float, theirs_s: float) -> None:
    ratio = theirs_s / ours_s
    print(f"  {name:42} ours {1e3 * ours_s:9.1f} ms, theirs {1e3 * theirs_s:9.1f}: {ratio:.1f} ×")


def measure(backward: Graph, rows: Csr, threads: int, *, alone: bool = False) -> None:
    nodes = backward.nodes
    print(f"{nodes:,} nodes, {backward.arcs:,} links, {threads} threads")
    domains = (np.arange(nodes) // DOMAIN).astype(np.int32)
    even = np.full(nodes, 1 / nodes)
    with Threads(nodes, threads) as pool:
        held = Votes(backward, domains, 1e12, pool)
        weights, plain = (shared(held, part, np.ones(nodes), pool) for part in (0.5, 1.0))
        packed = Votes(backward, domains, 0, pool)

        def ranks(votes: Votes, iterations: int) -> object:
            config = RankConfig(iterations=iterations, tolerance=1e-300)
            return fixed_point(votes, weights, even, even.copy(), config, pool)

        once_s = best_s(lambda: ranks(held, 1))
        ours_s = (best_s(lambda: ranks(held, ITERATIONS + 1)) - once_s) / ITERATIONS
        packed_s = best_s(lambda: ranks(packed, 1)) - once_s + ours_s
        print(f"  iteration {1e3 * ours_s:.1f} ms; {1e3 * packed_s:.1f} ms from compressed rows")
        config = RankConfig(iterations=1000, tolerance=TOLERANCE)

        def whole() -> object:
            return fixed_point(held, plain, even, even.copy(), config, pool)

        whole_s = best_s(whole, WHOLE_RUNS)
        found, iterations, _ = fixed_point(held, plain, even, even.copy(), config, pool)
    print(f"  all {iterations} iterations to an error of {TOLERANCE}: {whole_s:.2f} s")
    if alone:
        return
    beside_scipy(rows, ours_s, whole_s, found)
    beside_igraph(rows, whole_s)
    beside_networkit(rows, ours_s)


def beside_scipy(rows: Csr, ours_s: float, whole_s: float, found: np.ndarray) -> None:
    from scipy import sparse

    nodes = rows.starts.size - 1
    degrees = np.diff(rows.starts)
    shares_of = np.repeat(1 / np.maximum(degrees, 1), degrees)
    matrix = sparse.csr_matrix((shares_of, rows.targets, rows.starts), shape=(nodes, nodes))
    matrix = matrix.T.tocsr()
    matrix.indices, matrix.indptr = (
        each.astype(np.int32) for each in (matrix.indices, matrix.indptr)
    )
    vector = np.full(nodes, 1 / nodes)
    show("scipy, a product only", ours_s, best_s(lambda: matrix @ vector))

    def iteration(vector: np.ndarray) -> tuple[np.ndarray, float]:
        moved = ALPHA * (matrix @ vector)
        moved += (1 - moved.sum()) / nodes
        return moved, np.abs(moved - vector).sum()

    show("scipy, an iteration", ours_s, best_s(lambda: iteration(vector)))

    def power() -> int:
        ranks, change, count = vector, np.inf, 0
        while bound(change, ALPHA) > TOLERANCE:
            ranks, change = iteration(ranks)
            count += 1
        return count

    theirs_s = best_s(power, WHOLE_RUNS)
    show(f"scipy, to the same error, {power()} iterations", whole_s, theirs_s)
    for _ in range(150):
        vector, _ = iteration(vector)
    print(f"  error beside scipy's power iteration {np.abs(vector - found).sum():.1e}")


def beside_igraph(rows: Csr, whole_s: float) -> None:
    import igraph

    nodes = rows.starts.size - 1
    sources = np.repeat(np.arange(nodes), np.diff(rows.starts))
    graph = igraph.Graph(nodes, np.stack([sources, rows.targets], axis=1), directed=True)
    began_s = time.perf_counter()
    graph.pagerank(damping=ALPHA)
    show("igraph, all iterations", whole_s, time.perf_counter() - began_s)


def beside_networkit(rows: Csr, ours_s: float) -> None:
    import networkit

    nodes = rows.starts.size - 1
    sources = np.repeat(np.arange(nodes), np.diff(rows.starts))
    graph = networkit.GraphFromCoo(
        (np.ones(rows.targets.size), (sources, rows.targets)), nodes, directed=True
    )
    ranking = networkit.centrality.PageRank(graph, ALPHA, TOLERANCE)
    began_s = time.perf_counter()
    ranking.run()
    taken_s = time.perf_counter() - began_s
    show("networkit, an iteration", ours_s, taken_s / ranking.numberOfIterations())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("crawl", nargs="?")
    parser.add_argument("--nodes", type=int, default=1_200_000)
    parser.add_argument("--links", type=int, default=10_000_000)
    parser.add_argument("--kind", choices=("local", "powerlaw"), default="local")
    parser.add_argument("--alone", action="store_true", help="without the others")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    if options.crawl:
        graph = stored(Workspace.open(options.crawl), "page")
        measure(graph.transposed, read(graph.forward), options.threads)
        return
    make = synthetic if options.kind == "local" else powerlaw
    rows = make(options.nodes, options.links)
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder, "transposed")
        write(base, transposed(rows))
        measure(BvGraph(base), rows, options.threads, alone=options.alone)


if __name__ == "__main__":
    main()
