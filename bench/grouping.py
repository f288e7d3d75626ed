"""What do groups of near-duplicates cost, in millions of texts, and after 1 % of them changed?

    python bench/grouping.py [--sketches N] [--documents N] [--changed 0.01] [--folder FOLDER]

`--sketches`: candidates among N synthetic sketches, of which one in eight is a near-duplicate of
another (J = 0.9): hashes of bands, the shuffle of 14 of them for each text, and the distinct pairs.
No documents are read, and nothing is verified.

`--documents`: the step `dedup` from end to end, on a crawl of N documents of WORDS random words
with the same share of near-duplicates, and as many copies of equal texts; then again after a
harvest in which 1 % of the documents changed; and once more with nothing remembered, for
comparison.

For each run: seconds of the clock, CPU seconds of all processes, and the peak of the sum of their
resident memory.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from large_graph import measured

from gossamer import dedup
from gossamer.backends import LocalBackend
from gossamer.config import Config, EngineConfig
from gossamer.dedup.candidates import BAND_HASHES_DDL, band_hashes, candidates
from gossamer.engine import Engine
from gossamer.sketches import VALUES, shingles, sketch
from gossamer.store import Store
from gossamer.tables import DATASETS
from gossamer.task_output import ParquetWriter, layers_of
from gossamer.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

NEAR = 8
"""One text in so many is a near-duplicate of the one before it."""
ROWS = 50_000
SIMILARITY = 0.9
WORDS = 150
EDITED = 2
"""Words replaced in a near-duplicate: of 146 shingles, 10 are others, so J = 0.87."""
VOCABULARY = 50_000
PAGES_PER_HOST = 1_000


def sketches(count: int) -> Iterator[pa.Table]:
    """Tables of `text` and `sketch`: near-duplicates agree in each value with probability J."""
    draw = np.random.default_rng(1)
    for first in range(0, count, ROWS):
        rows = min(ROWS, count - first)
        values = draw.integers(0, 1 << 32, (rows, VALUES), np.uint32)
        copies = np.arange(NEAR, rows, NEAR)
        agree = draw.random((copies.size, VALUES)) < SIMILARITY
        values[copies] = np.where(agree, values[copies - 1], values[copies])
        hashes = draw.integers(-(1 << 63), 1 << 63, rows, np.int64)
        binary = pa.FixedSizeBinaryArray.from_buffers(
            pa.binary(4 * VALUES), rows, [None, pa.py_buffer(values.tobytes())]
        )
        yield pa.table({"text": hashes, "sketch": binary.cast(pa.binary())})


def written(work: Workspace, dataset: str, tables: Iterator[pa.Table], **more: Any) -> list[Any]:
    """The rows of YIELD for files of at most twenty tables."""
    rows = []
    attempt = work.store.attempt(dataset)
    for number, table in enumerate(tables):
        if number % 20 == 0:
            writer = ParquetWriter(work.root, dataset, attempt, name=str(number), **more)
        writer.write(table)
        if number % 20 == 19:
            rows += writer.close()
    return rows + ([] if number % 20 == 19 else writer.close())


def group(work: Workspace, count: int) -> None:
    """Time the candidates among so many sketches."""
    schema = pa.schema([("text", pa.int64()), ("sketch", pa.binary())])
    rows = written(work, "scratch", sketches(count), schema=schema)
    paths = [f"{work.root}/{row['path']}" for row in rows]

    def step(work: Workspace) -> None:
        with work.step("candidates", 1) as draft:
            held = work.engine.read(paths, "text long, sketch binary")
            hashed = work.engine.map_partitions(held, band_hashes, BAND_HASHES_DDL)
            bands = work.scratch_files(hashed)
            _, draft.counts["pairs"] = work.scratch(candidates(work, (), bands))

    measured(f"candidates among {count:,} sketches", work, step)


def texts_of(numbers: npt.NDArray[np.int64], change: int) -> npt.NDArray[np.int64]:
    """The words of documents, as rows of numbers. `change` makes others of the same documents."""
    found = np.empty((numbers.size, WORDS), np.int64)
    for row, number in enumerate(numbers):
        kind = number % NEAR
        base = number - 1 if kind in {1, 2} and number else number
        base -= base % NEAR if kind == 2 else 0
        found[row] = np.random.default_rng((int(base), change)).integers(0, VOCABULARY, WORDS)
        if kind == 1:
            at = np.random.default_rng(int(number)).integers(0, WORDS, EDITED)
            found[row, at] = VOCABULARY + number
    return found


def documents(numbers: npt.NDArray[np.int64], round_: int, change: int) -> Iterator[pa.Table]:
    """Rows of `documents`."""
    blank = DATASETS["documents"].schema
    for first in range(0, numbers.size, ROWS // 10):
        some = numbers[first : first + ROWS // 10]
        rows = []
        for number, words in zip(some.tolist(), texts_of(some, change), strict=True):
            hashes = (words.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
            held = sketch(shingles(hashes)).astype("<u4").tobytes()
            main = " ".join(map("w{}".format, words.tolist()))
            text_hash = hash(words.tobytes())
            host = f"www.site{number // PAGES_PER_HOST}.example"
            url = f"https://{host}/articles/and-their-titles/{number}"
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
            host = f"www.site{number // PAGES_PER_HOST}.example"
            url = f"https://{host}/articles/and-their-titles/{number}"
            rows.append({"url": url, "host": host, "status": "fetched", "found_ms": 0})
        yield pa.Table.from_pylist([dict.fromkeys(schema.names) | row for row in rows], schema)


def commit(work: Workspace, round_: int, rows: list[Any]) -> None:
    with work.step("crawled", round_) as draft:
        draft.append = layers_of(rows, round_)


def end_to_end(work: Workspace, count: int, changed: float) -> None:
    everything = np.arange(count)
    commit(work, 1, written(work, "documents", documents(everything, 1, 0)))
    commit(work, 1, written(work, "pages", pages(count)))
    measured(f"dedup of {count:,} documents", work, dedup.run)
    some = np.sort(np.random.default_rng(1).choice(count, int(count * changed), replace=False))
    commit(work, 2, written(work, "documents", documents(some, 2, 1)))
    measured(f"after {some.size:,} of them changed", work, dedup.run)
    with work.step("forgotten", 2) as draft:
        draft.replace |= {"sketched": (), "similar": ()}
    measured("the same with nothing remembered", work, dedup.run)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sketches", type=int, default=0)
    parser.add_argument("--documents", type=int, default=0)
    parser.add_argument("--changed", type=float, default=0.01)
    parser.add_argument("--folder", help="where the crawl is created, and left")
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        Engine(EngineConfig(workers=2, memory_gb=4)) as engine,
    ):
        backend = LocalBackend(Path(options.folder or folder, "crawl"))
        work = Workspace(Store.create(backend), Config(), _engine=engine)
        if options.sketches:
            group(work, options.sketches)
        if options.documents:
            end_to_end(work, options.documents, options.changed)


if __name__ == "__main__":
    main()
