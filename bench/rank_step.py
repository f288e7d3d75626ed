"""How long does the whole step `rank` take, at first, by joins, and after a small round?

    python bench/rank_step.py [--pages 1_200_000] [--links 12_000_000] [--changed 0.01] [--joins]

A synthetic web (bench/graph.py, with URLs and rounds as in bench/graph_changes.py), of which every
page was fetched. Its graph is built and ranked; then rounds follow that change a share of the
pages, after each of which the graph and the ranks are brought up to date, the latter from the last
ones. Seconds of the clock, and CPU seconds of this process and its workers.

With `--joins`, the ranks are computed by joins on the engine at first, too, as without a graph.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from graph_changes import answered_again, fetched_web, layer, timed, urls

from gossamer import graph, rank
from gossamer.rank import joins
from gossamer.tables import RANKS

if TYPE_CHECKING:
    from gossamer.workspace import Workspace

ROUNDS = 3


def fetched(work: Workspace, pages: np.ndarray, round_: int) -> None:
    """Commit pages as fetched."""
    with work.step("bench", round_) as draft:
        columns = {"url": urls(pages), "status": pa.array(["fetched"] * pages.size)}
        draft.append["pages"] = layer(work, "pages", columns, round_, pages.size)


def ranked(work: Workspace) -> tuple[float, float, int]:
    wall_s, cpu_s = timed(lambda: rank.run(work))
    return wall_s, cpu_s, work.store.manifest.history[-1].counts["page_iterations"]


def without_ranks(work: Workspace) -> None:
    with work.step("bench", work.round) as draft:
        draft.replace |= {"ranks": (), "host_ranks": ()}


def by_joins(work: Workspace) -> None:
    """Rank the pages by joins, and leave the result alone."""
    with work.step("bench", work.round):
        joins.ranked(work, "page", RANKS)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=1_200_000)
    parser.add_argument("--links", type=int, default=12_000_000)
    parser.add_argument("--changed", type=float, default=0.01)
    parser.add_argument("--joins", action="store_true")
    options = parser.parse_args()
    random, pages = np.random.default_rng(3), options.pages
    with fetched_web(pages, options.links) as (work, rows, links):
        fetched(work, np.arange(pages), 1)
        built_s, built_cpu_s = timed(lambda: graph.run(work))
        print(f"{pages:,} pages, {links:,} links")
        print(f"built in {built_s:.1f} s, {built_cpu_s:.1f} CPU s")
        ranked(work)  # loads the compiled code
        without_ranks(work)
        whole_s, whole_cpu_s, iterations = ranked(work)
        print(f"ranked in {whole_s:.2f} s, {whole_cpu_s:.2f} CPU s, {iterations} iterations")
        if options.joins:
            without_ranks(work)
            joins_s, joins_cpu_s = timed(lambda: by_joins(work))
            print(
                f"by joins {joins_s:.1f} s, {joins_cpu_s:.1f} CPU s:"
                f" {joins_s / whole_s:.0f} times as long, {joins_cpu_s / whole_cpu_s:.0f} in CPU"
            )
            ranked(work)
        full_s, full_cpu_s = built_s + whole_s, built_cpu_s + whole_cpu_s
        for round_ in range(2, 2 + ROUNDS):
            count = int(options.changed * pages)
            chosen = answered_again(work, random, rows, count, round_)
            fetched(work, chosen, round_)
            graph_s, graph_cpu_s = timed(lambda: graph.run(work))
            again_s, again_cpu_s, iterations = ranked(work)
            print(
                f"{chosen.size:,} pages answered: graph {graph_s:.2f} s, {graph_cpu_s:.2f} CPU s;"
                f" rank {again_s:.2f} s, {again_cpu_s:.2f} CPU s, {iterations} iterations:"
                f" {(graph_s + again_s) / full_s:.1%} of the seconds,"
                f" {(graph_cpu_s + again_cpu_s) / full_cpu_s:.1%} of the CPU"
            )


if __name__ == "__main__":
    main()
