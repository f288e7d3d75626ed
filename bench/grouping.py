"""What do groups of near-duplicates cost, in millions of texts, and after 1 % of them changed?

    python bench/grouping.py [--documents 200_000] [--words 150] [--changed 0.01] [--harvests 5]
        [--folder FOLDER]

The step `dedup` runs on a crawl of documents of random words: one in eight is a near-duplicate of
another, and as many are copies. Then come harvests after 1 % of the documents got another word:
`--harvests` of them in which all pages also got slightly other ranks, and as many in which nothing
was ranked. At the end, `dedup` runs once more with nothing remembered. The medians count: the first
harvest of a process imports and plans for the first time.

For each run: seconds of the clock, CPU seconds of all processes, and the peak of the sum of their
resident memory.
"""

from __future__ import annotations

import tempfile
import time
from itertools import chain, islice, product
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from harness import Options, report
from measuring import Peak, tree_cpu_s

from gossamer import dedup
from gossamer.config import Config, EngineConfig
from gossamer.engine.engine import Engine
from gossamer.parse.step.page_writer import FLUSH_PAGES
from gossamer.state.workspace import Workspace
from gossamer.storage.local_backend import LocalBackend
from gossamer.storage.store import Store
from gossamer.storage.task_output import SMALL_PAGES, ParquetWriter, layers_of
from gossamer.tables import DATASETS
from gossamer.web.sketches import shingles, sketch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy.typing as npt

NEAR = 8
"""One text in 8 is a near-duplicate of the one before it."""
ROWS = 50_000
GROUP_ROWS = FLUSH_PAGES
"""Documents of a row group."""
EDITED = 75
"""Words of which one is replaced in a near-duplicate: of 75 shingles, 5 are others: J = 0.87."""
VOCABULARY = 50_000
PAGES_PER_HOST = 1_000


def written(
    work: Workspace, dataset: str, tables: Iterator[pa.Table], each: int = 20, **more: Any
) -> list[Any]:
    """Write files of `each` tables, and return their rows of YIELD."""
    rows = []
    attempt = work.store.attempt(dataset)
    for number, held in enumerate(batched(tables, each)):
        writer = ParquetWriter(work.root, dataset, attempt, name=str(number), **more)
        for table in held:
            writer.write(table)
        rows += writer.close()
    return rows


def batched(tables: Iterator[pa.Table], each: int) -> Iterator[Iterator[pa.Table]]:
    """Yield runs of `each` tables. No table is kept after it was taken."""
    for table in tables:
        yield chain([table], islice(tables, each - 1))


def texts_of(numbers: npt.NDArray[np.int64], words: int, change: int) -> npt.NDArray[np.int64]:
    """Return the words of documents as rows of numbers; `change` words of each are new."""
    found = np.empty((numbers.size, words), np.int64)
    for row, number in enumerate(numbers):
        kind = number % NEAR
        base = number - 1 if kind in {1, 2} and number else number
        base -= base % NEAR if kind == 2 else 0
        found[row] = np.random.default_rng(int(base)).integers(0, VOCABULARY, words)
        if kind == 1:
            at = np.random.default_rng(int(number)).integers(0, words, words // EDITED)
            found[row, at] = VOCABULARY + number
        found[row, words // 2 : words // 2 + change] = 2 * VOCABULARY + number
    return found


def documents(
    numbers: npt.NDArray[np.int64], words: int, round_: int, change: int
) -> Iterator[pa.Table]:
    """Rows of `documents`."""
    blank = DATASETS["documents"].schema
    for first in range(0, numbers.size, GROUP_ROWS):
        some = numbers[first : first + GROUP_ROWS]
        rows = []
        for number, text in zip(some.tolist(), texts_of(some, words, change), strict=True):
            hashes = (text.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
            held = sketch(shingles(hashes)).astype("<u4").tobytes()
            main = " ".join(map("w{}".format, text.tolist()))
            text_hash = hash(text.tobytes())
            host, url = host_of(number), url_of(number)
            rows.append(
                {"url": url, "host": host, "round": round_, "outcome": "parsed", "noindex": False}
                | {"digest": str(number), "title": "An article", "main_text": main}
                | {"text": main, "text_hash": text_hash, "sketch": held}
            )
        full = dict.fromkeys(blank.names)
        yield pa.Table.from_pylist([full | row for row in rows], blank)


def pages(count: int) -> Iterator[pa.Table]:
    schema = DATASETS["pages"].schema
    for first in range(0, count, ROWS):
        rows = []
        for number in range(first, min(first + ROWS, count)):
            host, url = host_of(number), url_of(number)
            rows.append({"url": url, "host": host, "status": "fetched", "found_ms": 0})
        yield pa.Table.from_pylist([dict.fromkeys(schema.names) | row for row in rows], schema)


def ranks(count: int, round_: int) -> Iterator[pa.Table]:
    """Rows of `ranks`, like those of the Web: few are large. Each round moves them by 1 %."""
    for first in range(0, count, ROWS):
        numbers = np.arange(first, min(first + ROWS, count))
        values = np.random.default_rng(first).pareto(1.1, numbers.size) + 0.3
        values *= 1 + 0.01 * np.random.default_rng((first, round_)).standard_normal(numbers.size)
        yield pa.table(
            [[url_of(number) for number in numbers.tolist()], values / values.mean() / count],
            DATASETS["ranks"].schema,
        )


def host_ranks(count: int) -> Iterator[pa.Table]:
    hosts = sorted({host_of(number) for number in range(0, count, PAGES_PER_HOST)})
    held = {"host": hosts, "rank": [1 / len(hosts)] * len(hosts)}
    schema = DATASETS["host_ranks"].schema
    yield pa.Table.from_pylist(
        [
            dict.fromkeys(schema.names) | dict(zip(held, row, strict=True))
            for row in zip(*held.values(), strict=True)
        ],
        schema,
    )


def host_of(number: int) -> str:
    return f"www.site{number // PAGES_PER_HOST}.example"


def url_of(number: int) -> str:
    return f"https://{host_of(number)}/articles/and-their-titles/{number}"


def commit(work: Workspace, round_: int, **tables: Iterator[pa.Table]) -> None:
    """Add files to datasets; those of ranks replace the older ones."""
    with work.step("crawled", round_) as draft:
        for name, rows in tables.items():
            more: dict[str, Any] = (
                {"each": 50, "encoding": SMALL_PAGES} if name == "documents" else {}
            )
            layers = layers_of(written(work, name, rows, **more), round_)
            if name in {"ranks", "host_ranks"}:
                draft.replace |= {name: (layer,) for name, layer in layers.items()}
            else:
                draft.append |= layers


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


def end_to_end(work: Workspace, count: int, words: int, changed: float, harvests: int) -> None:
    everything = np.arange(count)
    commit(work, 1, documents=documents(everything, words, 1, 0), pages=pages(count))
    commit(work, 1, ranks=ranks(count, 1), host_ranks=host_ranks(count))
    measured(f"dedup of {count:,} documents", work, dedup.run)
    took_cpu_s: dict[str, list[float]] = {"all ranks": [], "no ranks": []}
    for kind, harvest in product(took_cpu_s, range(harvests)):
        round_ = work.round + 1
        draw = np.random.default_rng(round_)
        some = np.sort(draw.choice(count, int(count * changed), replace=False))
        tables = {"documents": documents(some, words, round_, round_ - 1)}
        if kind == "all ranks":
            tables["ranks"] = ranks(count, round_)
        commit(work, round_, **tables)
        name = f"{harvest + 1}. {some.size:,} documents and {kind} changed"
        took_cpu_s[kind].append(measured(name, work, dedup.run))
    with work.step("forgotten", work.round) as draft:
        draft.replace |= dict.fromkeys(("sketched", "similar", "shingled", "judged"), ())
    full_cpu_s = measured("the same with nothing remembered", work, dedup.run)
    for kind, each in took_cpu_s.items():
        share = median(each) / full_cpu_s
        print(f"{kind} changed: median {median(each):.2f} CPU s, {share:.1%} of a full grouping")
    report(f"{share:.1%} of the CPU of a full grouping, after {changed:.0%} changed")


def main() -> None:
    parser = Options(
        __doc__,
        documents=(200_000, 500),
        words=(150, 150),
        changed=(0.01, 0.01),
        harvests=(5, 1),
    )
    parser.add_argument("--folder", help="where the crawl is created, and left")
    options = parser.read()
    with (
        tempfile.TemporaryDirectory() as folder,
        Engine(EngineConfig(workers=2, memory_gb=4)) as engine,
    ):
        backend = LocalBackend(Path(options.folder or folder, "crawl"))
        work = Workspace(Store.create(backend), Config(), _engine=engine)
        end_to_end(work, options.documents, options.words, options.changed, options.harvests)


if __name__ == "__main__":
    main()
