"""What does `invert` cost after a round, beside inverting all links?

    python bench/inverting.py [--pages 1_000_000] [--links 10_000_000] [--changed 0.01]

The web and the rounds are those of bench/graph_changes.py. Seconds of the clock, and CPU seconds of
this process and its workers.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from graph import synthetic
from graph_changes import answered, answered_again, timed

from gossamer import invert
from gossamer.backends import LocalBackend
from gossamer.config import Config
from gossamer.store import Store
from gossamer.workspace import Workspace

ROUNDS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--links", type=int, default=10_000_000)
    parser.add_argument("--changed", type=float, default=0.01)
    options = parser.parse_args()
    random = np.random.default_rng(3)
    pages = options.pages
    rows = synthetic(pages, options.links)
    src = np.repeat(np.arange(pages), np.diff(rows.starts))
    own = src != rows.targets
    with tempfile.TemporaryDirectory() as folder:
        work = Workspace(Store.create(LocalBackend(Path(folder, "crawl"))), Config())
        answered(work, np.arange(pages), src[own], rows.targets[own], 1)
        work.engine.spark.range(1).collect()  # the engine starts before the clock
        full_s, full_cpu_s = timed(lambda: invert.run(work))
        print(f"{pages:,} pages, {own.sum():,} links: {full_s:.1f} s, {full_cpu_s:.1f} CPU s")
        for round_ in range(2, 2 + ROUNDS):
            chosen = answered_again(work, random, rows, int(options.changed * pages), round_)
            wall_s, cpu_s = timed(lambda: invert.run(work))
            changed = work.store.manifest.history[-1].counts["changed"]
            print(
                f"{chosen.size:,} pages answered, {changed:,} rows changed: {wall_s:.2f} s,"
                f" {cpu_s:.2f} CPU s: {wall_s / full_s:.1%} of the seconds,"
                f" {cpu_s / full_cpu_s:.1%} of the CPU"
            )
        work.close()


if __name__ == "__main__":
    main()
