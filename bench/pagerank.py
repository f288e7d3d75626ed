"""How fast is PageRank, beside scipy, igraph and networkit?

    python bench/pagerank.py [--nodes 1_200_000] [--links 10_000_000] [--threads 2]

The graph is that of bench/graph.py.

  iteration  the time of an iteration: of ours, the time of two cycles, with their extrapolations,
             less that of one iteration; of scipy, a product of the transposed matrix (CSR) and a
             vector, also with what else an iteration needs (damping, dangling rank and the change);
             of networkit, its time divided by its iterations; of igraph, which does not say how
             many iterations PRPACK took, the time of the whole computation, beside ours to an error
             of TOLERANCE
  to the     the time of all iterations until the same bound on the error is at most TOLERANCE, of
  same error ours and of scipy's power iteration; rows in memory
  error      Σ|rank − rank| of ours and of networkx's definition, by scipy's products

Times of ours and of scipy are the least of several runs, which take turns, by the clock and in CPU
time of all threads. The links of a synthetic graph are within domains of 500 pages. scipy, igraph
and networkit are peers of this script only: pip install scipy igraph networkit. Those that are not
installed are left out.
"""

from __future__ import annotations

import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from graph import synthetic, transposed, write
from harness import Options, report

from gossamer.config import RankConfig
from gossamer.links.bvgraph.files import BvGraph, Csr
from gossamer.links.rank.power import error_bound, fixed_point, share_votes
from gossamer.links.rank.vote_rows import SpanThreads, Votes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gossamer.links.rank.power import FixedPoint

RUNS = 15
ITERATIONS = 10
WHOLE_RUNS = 3
EXACT = 212
DOMAIN = 500
ALPHA = 0.85
TOLERANCE = 1e-8


class Time(NamedTuple):
    wall_s: float
    cpu_s: float
    """Of all threads."""


NO_TIME = Time(0, 0)


def best(works: Sequence[Callable[[], object]], runs: int = RUNS) -> list[Time]:
    """The least times of some runs after one that may compile. They take turns.

    So what else the machine does slows all of them down, and the least times hardly at all.
    """
    times: list[list[Time]] = [[] for _ in works]
    for _ in range(runs + 1):
        for work, taken in zip(works, times, strict=True):
            taken.append(once(work))
    return [Time(*map(min, zip(*taken[1:], strict=True))) for taken in times]


def once(work: Callable[[], object]) -> Time:
    """The time of one run."""
    wall_s, cpu_s = time.perf_counter(), time.process_time()
    work()
    return Time(time.perf_counter() - wall_s, time.process_time() - cpu_s)


def each(many: Time, one: Time = NO_TIME) -> Time:
    """The time of each of ITERATIONS iterations, less that of what comes with `one`."""
    return Time(*((most - least) / ITERATIONS for most, least in zip(many, one, strict=True)))


def show(name: str, ours: Time, theirs: Time) -> None:
    wall, cpu = (other / mine for mine, other in zip(ours, theirs, strict=True))
    print(
        f"  {name:42} ours {1e3 * ours.wall_s:9.1f} ms, theirs {1e3 * theirs.wall_s:9.1f}:"
        f" {wall:.1f} ×; CPU {1e3 * ours.cpu_s:.1f} ms, {1e3 * theirs.cpu_s:.1f}: {cpu:.1f} ×"
    )


def measure(backward: BvGraph, rows: Csr, threads: int) -> None:
    nodes = backward.nodes
    print(f"{nodes:,} nodes, {backward.arcs:,} links, {threads} threads")
    domains = (np.arange(nodes) // DOMAIN).astype(np.int32)
    even = np.full(nodes, 1 / nodes)
    with SpanThreads(nodes, threads) as pool:
        held = Votes(backward, domains, 1e12, pool)
        weights, plain = (share_votes(held, part, np.ones(nodes), pool) for part in (0.5, 1.0))
        packed = Votes(backward, domains, 0, pool)

        def ranks(votes: Votes, iterations: int) -> object:
            config = RankConfig(iterations=iterations, tolerance=1e-300)
            return fixed_point(votes, weights, even, even.copy(), config, pool)

        config = RankConfig(iterations=1000, tolerance=TOLERANCE)

        def whole() -> FixedPoint:
            return fixed_point(held, plain, even, even.copy(), config, pool)

        scipy = Scipy(rows)
        once, many, *theirs = best(
            [
                lambda: ranks(held, 1),
                lambda: ranks(held, ITERATIONS + 1),
                scipy.products,
                scipy.iterations,
            ]
        )
        ours = each(many, once)
        (packed_once,) = best([lambda: ranks(packed, 1)])
        packed_s = packed_once.wall_s - once.wall_s + ours.wall_s
        print(f"  iteration {1e3 * ours.wall_s:.1f} ms; {1e3 * packed_s:.1f} from compressed rows")
        all_of_ours, all_of_theirs = best([whole, scipy.power], WHOLE_RUNS)
        found, iterations, _ = whole()
    print(f"  all {iterations} iterations to {TOLERANCE}: {all_of_ours.wall_s:.2f} s")
    show("scipy, a product only", ours, each(theirs[0]))
    show("scipy, an iteration", ours, each(theirs[1]))
    name = f"scipy, to the same error, {scipy.power()} iterations"
    show(name, all_of_ours, all_of_theirs)
    print(f"  error beside scipy's power iteration {np.abs(scipy.ranks() - found).sum():.1e}")
    if find_spec("igraph"):
        beside_igraph(rows, all_of_ours)
    if find_spec("networkit"):
        beside_networkit(rows, ours)
    ratio = all_of_theirs.wall_s / all_of_ours.wall_s
    report(f"{1e3 * ours.wall_s:.1f} ms per iteration, {ratio:.1f} × as fast as scipy")


class Scipy:
    """The same by scipy's products of the transposed matrix and a vector."""

    def __init__(self, rows: Csr) -> None:
        from scipy import sparse

        self._nodes = nodes = rows.starts.size - 1
        degrees = np.diff(rows.starts)
        shares_of = np.repeat(1 / np.maximum(degrees, 1), degrees)
        matrix = sparse.csr_matrix((shares_of, rows.targets, rows.starts), shape=(nodes, nodes))
        self._matrix = matrix = matrix.T.tocsr()
        matrix.indices, matrix.indptr = (
            each.astype(np.int32) for each in (matrix.indices, matrix.indptr)
        )
        self._even = np.full(nodes, 1 / nodes)

    def products(self) -> None:
        for _ in range(ITERATIONS):
            self._matrix @ self._even

    def iterations(self) -> None:
        for _ in range(ITERATIONS):
            self._moved(self._even)

    def power(self) -> int:
        """The number of iterations to the same error."""
        ranks, change, count = self._even, np.inf, 0
        while error_bound(change, ALPHA) > TOLERANCE:
            ranks, change = self._moved(ranks)
            count += 1
        return count

    def ranks(self) -> np.ndarray:
        """Return the ranks after EXACT iterations, when only rounding errors are left."""
        ranks = self._even
        for _ in range(EXACT):
            ranks, _ = self._moved(ranks)
        return ranks

    def _moved(self, vector: np.ndarray) -> tuple[np.ndarray, float]:
        moved = ALPHA * (self._matrix @ vector)
        moved += (1 - moved.sum()) / self._nodes
        return moved, np.abs(moved - vector).sum()


def beside_igraph(rows: Csr, whole: Time) -> None:
    import igraph

    nodes = rows.starts.size - 1
    sources = np.repeat(np.arange(nodes), np.diff(rows.starts))
    graph = igraph.Graph(nodes, np.stack([sources, rows.targets], axis=1), directed=True)
    show("igraph, all iterations", whole, once(lambda: graph.pagerank(damping=ALPHA)))


def beside_networkit(rows: Csr, ours: Time) -> None:
    import networkit

    nodes = rows.starts.size - 1
    sources = np.repeat(np.arange(nodes), np.diff(rows.starts))
    graph = networkit.GraphFromCoo(
        (np.ones(rows.targets.size), (sources, rows.targets)), nodes, directed=True
    )
    ranking = networkit.centrality.PageRank(graph, ALPHA, TOLERANCE)
    taken, count = once(ranking.run), ranking.numberOfIterations()
    show("networkit, an iteration", ours, Time(taken.wall_s / count, taken.cpu_s / count))


def main() -> None:
    sizes = {"nodes": (1_200_000, 2_000), "links": (10_000_000, 20_000), "threads": (2, 2)}
    options = Options(__doc__, **sizes).read()
    rows = synthetic(options.nodes, options.links)
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder, "transposed")
        write(base, transposed(rows))
        measure(BvGraph(base), rows, options.threads)


if __name__ == "__main__":
    main()
