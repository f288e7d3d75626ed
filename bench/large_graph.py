"""A graph of 100 million links: built, transposed and ranked, with time and peak memory per step.

    python bench/large_graph.py FOLDER [--pages 7_000_000] [--links 110_000_000]

Writes a synthetic crawl to FOLDER/crawl: sites of pages whose rows resemble each other, as in
bench/graph.py, and one of ten links leads to a popular page anywhere. Then `graph` and `rank` run
in it. Seconds of the clock, CPU seconds of this process and its workers, and the peak of the sum of
their resident memory, in which shared pages count once for each. Needs some 20 GB of disk.
"""

from __future__ import annotations

import argparse
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.compute as pc
from crawl import tree_cpu_s
from graph import synthetic
from graph_changes import PAGES_PER_HOST

from gossamer import graph, rank
from gossamer.backends import LocalBackend
from gossamer.config import Config
from gossamer.store import Store
from gossamer.tables import DATASETS
from gossamer.task_output import ParquetWriter, layers_of
from gossamer.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Self

    from gossamer.store import Layer

PART_PAGES = 50_000
ANYWHERE = 0.1
PLAIN: dict[str, Any] = {
    "round": 1,
    "relation": "a",
    "nofollow": False,
    "outcome": "ok",
    "status": "fetched",
}


def urls(pages: np.ndarray) -> pa.Array:
    """URLs whose order is that of the pages' numbers."""
    host, page = (
        pc.utf8_lpad(pc.cast(pa.array(numbers), pa.string()), width, "0")
        for numbers, width in ((pages // PAGES_PER_HOST, 6), (pages, 9))
    )
    between = ".example.org/articles/and-their-titles/"
    return pc.binary_join_element_wise("https://www.site-", host, between, page, "")


def parts(pages: int, links: int) -> Iterator[tuple[pa.Array, pa.Array, pa.Array]]:
    """The URLs of some pages, and their links: sources, targets."""
    random = np.random.default_rng(1)
    rows = synthetic(PART_PAGES, links * PART_PAGES // pages)
    sources = np.repeat(np.arange(PART_PAGES), np.diff(rows.starts))
    own = sources != rows.targets
    sources, targets = sources[own], rows.targets[own]
    for first in range(0, pages, PART_PAGES):
        names = urls(np.arange(first, first + PART_PAGES))
        elsewhere = random.random(targets.size) < ANYWHERE
        popular = (pages * random.random(np.count_nonzero(elsewhere)) ** 3).astype(np.int64)
        places = targets.copy()
        places[elsewhere] = PART_PAGES + np.arange(popular.size)
        ends = pa.concat_arrays([names, urls(popular)]).take(pa.array(places))
        yield names, names.take(pa.array(sources)), ends


def table(name: str, columns: dict[str, pa.Array]) -> pa.Table:
    count = len(next(iter(columns.values())))
    filled = {}
    for field in DATASETS[name].schema:
        if field.name in columns:
            filled[field.name] = columns[field.name]
        elif field.name in PLAIN:
            filled[field.name] = pa.repeat(pa.scalar(PLAIN[field.name], field.type), count)
        else:
            filled[field.name] = pa.nulls(count, field.type)
    return pa.table(filled)


def crawled(work: Workspace, pages: int, links: int) -> None:
    with work.step("bench", 1) as draft:
        names = ("links", "responses", "pages")
        writers = {name: ParquetWriter(work.root, name, work.store.attempt(name)) for name in names}
        for listed, src, dst in parts(pages, links):
            writers["links"].write(table("links", {"src": src, "dst": dst}))
            for name in ("responses", "pages"):
                writers[name].write(table(name, {"url": listed}))
        for name, writer in writers.items():
            layer: Layer = layers_of(writer.close(), 1)[name]
            draft.append[name] = layer


class Peak(threading.Thread):
    """The most memory that this process and its children take: a context manager."""

    def __enter__(self) -> Self:
        self.bytes, self._ended = 0, threading.Event()
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self.join()

    def run(self) -> None:
        this = psutil.Process()
        while not self._ended.wait(0.3):
            total = 0
            for process in (this, *this.children(recursive=True)):
                try:
                    total += process.memory_info().rss
                except psutil.NoSuchProcess:
                    continue
            self.bytes = max(self.bytes, total)


def measured(name: str, work: Workspace, step: Callable[[Workspace], object]) -> float:
    """Print what a step takes, and return its CPU seconds."""
    began_s, began_cpu_s = time.perf_counter(), tree_cpu_s()
    with Peak(daemon=True) as peak:
        step(work)
    took_s, cpu_s = time.perf_counter() - began_s, tree_cpu_s() - began_cpu_s
    counts = work.store.manifest.history[-1].counts
    print(
        f"{name}: {took_s:.1f} s, {cpu_s:.1f} CPU s, {peak.bytes / 1e9:.2f} GB; {counts}",
        flush=True,
    )
    return cpu_s


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=7_000_000)
    parser.add_argument("--links", type=int, default=110_000_000)
    options = parser.parse_args()
    path = options.folder / "crawl"
    work = Workspace(Store.create(LocalBackend(path)), Config())
    began_s = time.perf_counter()
    crawled(work, options.pages, options.links)
    print(f"written in {time.perf_counter() - began_s:.0f} s", flush=True)
    measured("graph", work, graph.run)
    measured("rank", work, rank.run)
    measured("rank, from these ranks", work, rank.run)
    work.close()


if __name__ == "__main__":
    main()
