"""How fast is the link graph built from the dataset links, and which of its steps takes how long?

    python bench/graph_build.py [--pages 1_000_000] [--links 10_000_000] [--rounds 1]
    python bench/graph_build.py CRAWL

The first form builds the graph of a synthetic web (bench/graph_changes.py), whose pages were
crawled in so many rounds. Menus and the like have many links per page: 10_000_000 links of 120_000
pages. The second builds that of a crawl, anew. Both count links of the graph per CPU second of this
process and its workers, from the Parquet files of links to the files of the graphs of pages and
hosts, forward and transposed. The first build also starts workers and loads compiled code, so it is
reported by itself.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from crawl import tree_cpu_s
from graph import synthetic
from graph_changes import answered, timed

from gossamer import graph
from gossamer.backends import LocalBackend
from gossamer.config import Config
from gossamer.store import Store
from gossamer.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

BUILDS = 2


def built(work: Workspace, *, shown: bool) -> None:
    """Build the graph, and print the links per CPU second, and the shares of the steps."""
    engine = work.engine
    map_tasks, steps = engine.map_tasks, list[tuple[str, float]]()

    def measured(tasks: Sequence[Any], fn: Callable[..., Any], *rest: Any, **named: Any) -> Any:
        before_s = tree_cpu_s()
        found = map_tasks(tasks, fn, *rest, **named)
        name = f"{fn.__name__}, {len(tasks)} tasks"
        steps.append((name, tree_cpu_s() - before_s))
        return found

    engine.map_tasks = measured  # type: ignore[assignment,method-assign]
    took_s, cpu_s = timed(lambda: graph.run(work, anew=True))
    engine.map_tasks = map_tasks  # type: ignore[method-assign]
    counts = work.store.manifest.history[-1].counts
    links = counts["page_links"]
    print(
        f"{counts['pages']:,} pages, {links:,} links: built in {took_s:.1f} s, CPU {cpu_s:.2f} s,"
        f" {links / cpu_s:,.0f} links per CPU s"
    )
    if shown:
        for name, step_s in [*steps, ("the rest", cpu_s - sum(step_s for _, step_s in steps))]:
            print(f"  {step_s:6.2f} CPU s {step_s / cpu_s:6.1%}  {name}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("crawl", nargs="?")
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--links", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.crawl:
            work = Workspace.open(options.crawl)
        else:
            work = Workspace(Store.create(LocalBackend(Path(folder, "crawl"))), Config())
            rows = synthetic(options.pages, options.links)
            src = np.repeat(np.arange(options.pages), np.diff(rows.starts))
            own = src != rows.targets
            for number, pages in enumerate(
                np.array_split(np.arange(options.pages), options.rounds)
            ):
                ours = own & (src >= pages[0]) & (src <= pages[-1])
                answered(work, pages, src[ours], rows.targets[ours], number + 1)
        work.engine.spark.range(1).collect()  # the engine starts before the clock
        for number in range(BUILDS + 1):
            built(work, shown=number == BUILDS)
        work.close()


if __name__ == "__main__":
    main()
