"""What does `invert` cost after a round, beside inverting all links?

    python bench/inverting.py [--pages 1_000_000] [--links 10_000_000] [--changed 0.01]

The web and the rounds are those of bench/graph_changes.py. Seconds of the clock, and CPU seconds of
this process and its workers.
"""

from __future__ import annotations

import argparse

import numpy as np
from graph_changes import answered_again, fetched_web, timed

from gossamer import invert

ROUNDS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--links", type=int, default=10_000_000)
    parser.add_argument("--changed", type=float, default=0.01)
    options = parser.parse_args()
    random, pages = np.random.default_rng(3), options.pages
    with fetched_web(pages, options.links) as (work, rows, links):
        full_s, full_cpu_s = timed(lambda: invert.run(work))
        print(f"{pages:,} pages, {links:,} links: {full_s:.1f} s, {full_cpu_s:.1f} CPU s")
        for round_ in range(2, 2 + ROUNDS):
            chosen = answered_again(work, random, rows, int(options.changed * pages), round_)
            wall_s, cpu_s = timed(lambda: invert.run(work))
            changed = work.store.manifest.history[-1].counts["changed"]
            print(
                f"{chosen.size:,} pages answered, {changed:,} rows changed: {wall_s:.2f} s,"
                f" {cpu_s:.2f} CPU s: {wall_s / full_s:.1%} of the seconds,"
                f" {cpu_s / full_cpu_s:.1%} of the CPU"
            )


if __name__ == "__main__":
    main()
