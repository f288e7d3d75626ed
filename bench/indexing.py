"""How fast is `index`, beside a bare tantivy loop over the same documents?

    python bench/indexing.py [--documents 50_000] [--repeat 5]

The documents are those of corpus.py, in two shards, and with 50,000 or more also a first tier. The
bare loop has one process for each of these, like the step: use two cores.

  bare   the lower bound. Each process holds the documents of a shard in memory, as the fields and
         values of our index, whose texts are terms already (folded and stemmed). The loop makes a
         tantivy.Document of each (from_dict), adds it to a writer with one thread, and commits at
         the end. Schema, order and the writer's memory are the same as in the step
  tasks  the tasks of the step (parts.build): they read rows from Parquet, turn them into fields
         (texts, keys, the stored document), add these, commit, and list the files
  step   the whole step including its commit: selection of documents, changes, joins, a sort

The start of the engine and processes is not counted, nor is reading the bare loop's documents. The
sides take turns, and each is compared with the bare loop of the same turn, because a machine's
speed varies. The figures are medians. CPU is that of all processes, per document.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import shutil
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import tantivy
from corpus import CorpusOptions, crawl, requested_documents
from harness import report
from measuring import tree_cpu_s

from gossamer import dedup, index
from gossamer.config import EngineConfig
from gossamer.engine.engine import Engine
from gossamer.engine.priorities import NICE
from gossamer.index.boilerplate import split_texts
from gossamer.index.format import schema
from gossamer.index.format.document_builder import build_document
from gossamer.state import sorted_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from gossamer.api.crawl import Crawl
    from gossamer.index.parts import ShardTask

SHARDS = 2
LANGUAGE = "en"
"""The language of the corpus."""
ORDER = ("url",)

_documents: list[dict[str, Any]] = []
"""The documents that a process of the bare loop holds."""


class Cost(NamedTuple):
    wall_s: float
    cpu_s: float


class Clocked(Engine):
    """An engine that measures the cost of a step's tasks, and keeps copies of their rows."""

    def __init__(self, config: EngineConfig, kept: Path) -> None:
        super().__init__(config)
        self._kept = kept
        self.cost = Cost(0, 0)
        self.shards: Sequence[ShardTask] = ()

    def map_tasks(self, tasks: Sequence[Any], *rest: Any, **more: Any) -> list[dict[str, Any]]:
        if not self.shards:
            self.shards = tasks
            for task in tasks:
                for path in task.rows:
                    kept = self._kept / path
                    kept.parent.mkdir(parents=True)
                    shutil.copyfile(Path(task.root, path), kept)
        rows: list[dict[str, Any]]
        rows, self.cost = clocked(lambda: super(Clocked, self).map_tasks(tasks, *rest, **more))
        return rows


def clocked(work: Callable[[], Any]) -> tuple[Any, Cost]:
    began_s, before_s = time.perf_counter(), tree_cpu_s(0)
    done = work()
    return done, Cost(time.perf_counter() - began_s, tree_cpu_s(0) - before_s)


def reindexed(made: Crawl) -> Cost:
    """Run the step on a crawl whose index was dropped, and return its cost."""
    with made.work.step("test", 1) as draft:
        draft.replace = {"index": (), "indexed": ()}
    _, cost = clocked(lambda: index.run(made.work))
    return cost


class Bare:
    """The bare loop, in processes that each hold the documents of a shard."""

    def __init__(self, kept: Path, shards: Sequence[ShardTask]) -> None:
        start = multiprocessing.get_context("spawn")
        self._folder, self._memory_bytes = kept / "bare", shards[0].memory_bytes
        self._processes = [
            ProcessPoolExecutor(1, start, hold, ([f"{kept}/{path}" for path in shard.rows],))
            for shard in shards
        ]
        self.documents = sum(self._each(count))

    def run(self) -> Cost:
        shutil.rmtree(self._folder, ignore_errors=True)
        _, cost = clocked(lambda: self._each(loop, self._folder, self._memory_bytes))
        return cost

    def close(self) -> None:
        for process in self._processes:
            process.shutdown()

    def _each(self, work: Callable[..., int], *given: Any) -> list[int]:
        futures = [process.submit(work, *given) for process in self._processes]
        return [future.result() for future in futures]


def hold(paths: Sequence[str]) -> None:
    os.nice(NICE)  # like the tasks
    rows = split_texts(sorted_rows.merge_sorted(paths, ORDER))
    _documents.extend(build_document(row).to_dict() for row in rows)
    gc.freeze()  # spare the garbage collector these objects, which a loop over a stream lacks


def count() -> int:
    return len(_documents)


def loop(folder: Path, memory_bytes: int) -> int:
    mine = folder / str(os.getpid()) / LANGUAGE
    mine.mkdir(parents=True)
    writer = schema.create(mine).writer(memory_bytes, 1)
    for each in _documents:
        writer.add_document(tantivy.Document.from_dict(each))
    writer.commit()
    writer.wait_merging_threads()
    return len(_documents)


def summarize(costs: Mapping[str, Sequence[Cost]], n: int) -> None:
    print(f"{'':8}{'documents/s':>12}{'of bare':>9}{'CPU µs':>9}{'bare / CPU':>12}")
    for name, turns in costs.items():
        beside = list(zip(costs["bare"], turns, strict=True))
        print(
            f"{name:8}{median(n / cost.wall_s for cost in turns):12,.0f}"
            f"{median(bare.wall_s / cost.wall_s for bare, cost in beside):9.0%}"
            f"{median(1e6 * cost.cpu_s / n for cost in turns):9.0f}"
            f"{median(bare.cpu_s / cost.cpu_s for bare, cost in beside):12.0%}"
        )
    ratio = median(
        bare.wall_s / step.wall_s for bare, step in zip(costs["bare"], costs["step"], strict=True)
    )
    report(f"{ratio:.0%} of the speed of a bare loop over tantivy")


def main() -> None:
    options = CorpusOptions(__doc__, documents=(50_000, 200), repeat=(5, 1)).read()
    costs: dict[str, list[Cost]] = {"bare": [], "tasks": [], "step": []}
    with tempfile.TemporaryDirectory(prefix="indexing-") as name:
        kept = Path(name)
        with Clocked(EngineConfig(), kept) as engine:
            made = crawl(
                kept / "crawl", requested_documents(options), engine, f"index.shards = {SHARDS}"
            )
            dedup.run(made.work)
            reindexed(made)
            bare = Bare(kept, engine.shards)
            for _ in range(options.repeat):
                costs["bare"].append(bare.run())
                costs["step"].append(reindexed(made))
                costs["tasks"].append(engine.cost)
            bare.close()
    print(f"{bare.documents:,} documents; load {os.getloadavg()[0]:.1f}")
    summarize(costs, bare.documents)


if __name__ == "__main__":
    main()
