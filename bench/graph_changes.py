"""What does the link graph cost after a round that changed few pages?

    python bench/graph_changes.py [--pages 1_000_000] [--links 10_000_000] [--changed 0.01]

A synthetic web (bench/graph.py) is written as the dataset `links` of a crawl, and its graph is
built. Then rounds of which each answers with a share of the pages, chosen at random over all hosts,
each with a tenth of its links replaced and one to a page that is new, are added to the graph, and
it is built anew for comparison. Seconds of the clock, and CPU seconds of this process and its
workers; also how fast rows are read in their order, over the graph and beside its changes.
"""

from __future__ import annotations

import argparse
import gc
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from crawl import tree_cpu_s
from graph import synthetic

from gossamer import graph
from gossamer.backends import LocalBackend
from gossamer.config import Config
from gossamer.graph.stored import stored
from gossamer.parse.task import FLUSH_PAGES
from gossamer.store import Store
from gossamer.tables import DATASETS
from gossamer.task_output import ParquetWriter, layers_of
from gossamer.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gossamer.bvgraph.codes import Numbers
    from gossamer.bvgraph.files import Csr
    from gossamer.store import Layer

PAGES_PER_HOST = 500
ROUNDS = 3


def urls(pages: Numbers) -> pa.Array:
    """URLs whose order is that of the pages' numbers, as in a graph."""
    hosts = np.char.add(np.char.zfill((pages // PAGES_PER_HOST).astype(str), 6), ".example.org/")
    paths = np.char.add("articles/and-their-titles/", np.char.zfill(pages.astype(str), 9))
    return pa.array(np.char.add("https://www.site-", np.char.add(hosts, paths)))


def layer(
    work: Workspace, name: str, columns: dict[str, object], round_: int, group_rows: int
) -> Layer:
    """Write columns, and nulls or plain values for the others, in row groups of so many rows."""
    schema = DATASETS[name].schema
    count = len(next(iter(columns.values())))  # type: ignore[arg-type]
    writer = ParquetWriter(work.root, name, work.store.attempt(name))
    plain = {"round": round_, "relation": "a", "nofollow": False, "outcome": "ok"}
    for first in range(0, count, group_rows):
        size = min(group_rows, count - first)
        rows = {
            field.name: columns[field.name][first : first + size]  # type: ignore[index]
            if field.name in columns
            else pa.array([plain.get(field.name)] * size, field.type)
            for field in schema
        }
        writer.write(pa.table(rows))
    return layers_of(writer.close(), round_)[name]


def answered(work: Workspace, pages: Numbers, src: Numbers, dst: Numbers, round_: int) -> None:
    """Commit a round in which pages answered with these links, in row groups as parse makes."""
    names = urls(np.arange(max(int(dst.max()), int(pages.max())) + 1))
    with work.step("bench", round_) as draft:
        ends = {"src": names.take(pa.array(src)), "dst": names.take(pa.array(dst))}
        group_rows = -(-src.size * FLUSH_PAGES // pages.size)
        draft.append["links"] = layer(work, "links", ends, round_, group_rows)
        urls_ = {"url": names.take(pa.array(pages))}
        draft.append["responses"] = layer(work, "responses", urls_, round_, pages.size)


@contextmanager
def fetched_web(pages: int, links: int) -> Iterator[tuple[Workspace, Csr, int]]:
    """A crawl that has fetched a synthetic web, its rows, and the number of its links."""
    rows = synthetic(pages, links)
    src = np.repeat(np.arange(pages), np.diff(rows.starts))
    own = src != rows.targets
    with tempfile.TemporaryDirectory() as folder:
        work = Workspace(Store.create(LocalBackend(Path(folder, "crawl"))), Config())
        answered(work, np.arange(pages), src[own], rows.targets[own], 1)
        work.engine.spark.range(1).collect()  # the engine starts before the clock
        yield work, rows, int(own.sum())
        work.close()


def answered_again(
    work: Workspace, random: np.random.Generator, rows: Csr, count: int, round_: int
) -> Numbers:
    """Answer so many pages once more, and return them.

    A tenth of their links lead elsewhere, and each has a link to a page that is new.
    """
    pages = rows.starts.size - 1
    src = np.repeat(np.arange(pages), np.diff(rows.starts))
    chosen = np.sort(random.choice(pages, count, replace=False))
    old = np.flatnonzero((src != rows.targets) & np.isin(src, chosen))
    moved = random.random(old.size) < 0.1
    targets = np.where(moved, random.integers(0, pages, old.size), rows.targets[old])
    new = pages * round_ + np.arange(chosen.size)
    ends = [np.append(src[old], chosen), np.append(targets, new)]
    leave = ends[0] != ends[1]
    answered(work, chosen, ends[0][leave], ends[1][leave], round_)
    return chosen


def timed(work: Callable[[], object]) -> tuple[float, float]:
    gc.collect()  # what was made to be measured is not collected meanwhile
    wall_s, cpu_s = time.perf_counter(), tree_cpu_s()
    work()
    return time.perf_counter() - wall_s, tree_cpu_s() - cpu_s


def read_s(work: Workspace) -> float:
    began = time.perf_counter()
    for _ in stored(work, "page").forward.rows():
        pass
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--pages", type=int, default=1_000_000)
    parser.add_argument("--links", type=int, default=10_000_000)
    parser.add_argument("--changed", type=float, default=0.01)
    options = parser.parse_args()
    random = np.random.default_rng(3)
    pages = options.pages
    with fetched_web(pages, options.links) as (work, rows, links):
        build_s, build_cpu_s = timed(lambda: graph.run(work))
        print(
            f"{pages:,} pages, {links:,} links: built in {build_s:.1f} s, CPU {build_cpu_s:.1f} s"
        )
        whole_s = read_s(work)
        for round_ in range(2, 2 + ROUNDS):
            count = int(options.changed * pages)
            chosen = answered_again(work, random, rows, count, round_)
            took_s, cpu_s = timed(lambda: graph.run(work))
            changed = work.store.manifest.history[-1].counts["changed_links"]
            print(
                f"{chosen.size:,} pages answered, {changed:,} changed links so far: {took_s:.2f} s,"
                f" {took_s / build_s:.1%} of the build;"
                f" CPU {cpu_s:.1f} s, {cpu_s / build_cpu_s:.1%}"
            )
        print(f"all rows in order: {read_s(work) / whole_s:.2f} times the time without changes")
        took_s, cpu_s = timed(lambda: graph.run(work, anew=True))
        print(f"built anew: {took_s:.1f} s, CPU {cpu_s:.1f} s")


if __name__ == "__main__":
    main()
