"""Would a Bloom filter of the known URLs make the update of the page database cheaper?

    python bench/url_seen.py [--pages 10_000_000] [--links 1_500_000] [--repeat 3] [--engine URL]

`update` reads the rows of known pages among the URLs that a round found, half of which are new
here. Measured in one run, each as the time to write these rows to files:

  all         as `update` does it: a hash table of all found URLs, through which all known URLs pass
  Bloom       the found URLs pass through a filter of the known ones first, as Arrow batches in a
              compiled probe; the hash table holds those that may be known
  oracle      the hash table holds only URLs that are known. This is the limit of what any filter of
              the known URLs can gain, because it has no false positives and costs nothing
  URLs only   reads the column `url` of all known pages and joins nothing
  update      the whole step, once, for comparison

The filter has blocks of 256 bits with 8 bits per key, one in each 32-bit word (Putze, Sanders and
Singler: Cache-, Hash- and Space-Efficient Bloom Filters, 2007), as Parquet has, and `--bits` per
key. Its construction is not part of the times: it is printed separately.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from page_state import Clock, Lap
from pyspark.sql import functions as F
from synthetic import NOW_MS, layer_of, make_links, make_pages

from gossamer import lsm, update
from gossamer.backends import LocalBackend
from gossamer.bvgraph.compiled import compiled
from gossamer.config import Config
from gossamer.store import StepReport, Store
from gossamer.tables import PAGES
from gossamer.task_output import YIELD, YIELD_DDL
from gossamer.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

WORDS = 8
"""Words of 32 bits in a block."""


@compiled
def probe(words: NDArray[np.uint32], hashes: NDArray[np.int64], insert: bool) -> NDArray[np.bool_]:
    """Whether all bits of each hash are set; `insert` sets them."""
    blocks = np.uint64(len(words) // WORDS)
    found = np.ones(len(hashes), np.bool_)
    for i in range(len(hashes)):
        hashed = np.uint64(hashes[i])
        first = np.int64(((hashed >> np.uint64(32)) * blocks) >> np.uint64(32)) * WORDS
        low = hashed & np.uint64(0xFFFFFFFF)
        for j in range(WORDS):
            # An odd multiplier per word, as each word needs a bit of its own.
            salt = np.uint64(0x9E3779B1 + 2 * j * 0x632BE5AB)
            bit = np.uint32(1) << np.uint32(((low * salt) >> np.uint64(27)) & np.uint64(31))
            if insert:
                words[first + j] |= bit
            elif not words[first + j] & bit:
                found[i] = False
                break
    return found


def unseen_dropped(path: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Keep the URLs that may be known; batches have the columns `url` and `hash`."""
    words = np.memmap(path, np.uint32, "c")  # numba compiles `probe` for writable words
    for batch in batches:
        mask = probe(words, batch.column("hash").to_numpy(), False)
        yield batch.select(["url"]).filter(pa.array(mask))


def hashed(urls: DataFrame) -> DataFrame:
    return urls.select("url", F.xxhash64("url").alias("hash"))


def write_filter(work: Workspace, path: Path, bits: int, keys: int) -> None:
    """Write the filter of all known URLs."""
    blocks = -(-keys * bits // 256)
    words = np.zeros(blocks * WORDS, np.uint32)
    rows = hashed(lsm.current(work, PAGES).select("url")).select("hash")
    for file in work.scratch_files(rows):
        column = pq.read_table(f"{work.root}/{file.path}").column("hash")
        for chunk in column.chunks:
            probe(words, chunk.to_numpy(), True)
    words.tofile(path)


def compare(work: Workspace, ways: dict[str, Callable[[], DataFrame]], repeat: int) -> None:
    """Print the times of each way, in turn, and the ratios of the best runs to the first way."""
    clock = Clock()
    best: dict[str, Lap] = {}
    print(f"{'':10}{'s':>8}{'CPU s':>8}{'load':>8}")
    for _ in range(repeat):
        for name, rows in ways.items():
            clock.lap()
            work.scratch(rows())
            took = clock.lap()
            print_row(name, took)
            best[name] = min(best.get(name, took), took, key=lambda lap: lap.wall_s)
    base = next(iter(best.values()))
    for name, lap in best.items():
        shares = lap.wall_s / base.wall_s, lap.cpu_s / base.cpu_s
        print(f"best of {name}: {shares[0]:.2f} × the time, {shares[1]:.2f} × the CPU")


def print_row(name: str, lap: Lap) -> None:
    print(f"{name:10}{lap.wall_s:8.2f}{lap.cpu_s:8.2f}{os.getloadavg()[0]:8.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--pages", type=int, default=10_000_000)
    parser.add_argument("--links", type=int, default=1_500_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--bits", type=int, default=10, help="per known URL")
    parser.add_argument("--engine", default="local")
    parser.add_argument("--folder", default=tempfile.gettempdir())
    options = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="url-seen-", dir=options.folder))
    sql = duckdb.connect()
    store = Store.create(LocalBackend(root))
    config = Config()
    engine = msgspec.structs.replace(config.engine, url=options.engine)
    work = Workspace(store, msgspec.structs.replace(config, engine=engine), clock_ms=NOW_MS)
    try:
        base, links = root / "pages" / "base", root / "links" / "round-1"
        make_pages(sql, base, options.pages)
        make_links(sql, links, base, options.links, 1)
        sql.execute(
            f"COPY (SELECT dst AS url FROM '{links}/*.parquet' WHERE dst NOT LIKE '%/new1-%') "
            f"TO '{root}/known.parquet'"
        )
        store.commit(StepReport("inject", 0, 0, 0.0), append={"pages": layer_of(root, base, 0)})
        work.engine.map_tasks(range(work.engine.workers), lambda _: (), YIELD, YIELD_DDL)
        clock = Clock()
        write_filter(work, root / "filter", options.bits, options.pages)
        built = clock.lap()
        pages_bytes = sum(file.stat().st_size for file in base.iterdir())
        print(
            f"{options.pages:,} known URLs in {pages_bytes / 1e6:.0f} MB, {options.links:,} found; "
            f"filter of {(root / 'filter').stat().st_size / 1e6:.1f} MB built in "
            f"{built.wall_s:.1f} s, {built.cpu_s:.1f} CPU s"
        )
        found = work.engine.read([str(file) for file in links.iterdir()], "dst string")
        found, count = work.scratch(found.select(F.col("dst").alias("url")).distinct())
        known = work.engine.read([f"{root}/known.parquet"], "url string")
        maybe = partial(unseen_dropped, str(root / "filter"))

        def by_filter() -> DataFrame:
            return work.engine.map_partitions(hashed(found), maybe, "url string")

        passed, new = by_filter().count(), count - known.count()
        print(f"{(passed - count + new) / new:.4f} of the new URLs pass the filter")
        ways: dict[str, Callable[[], DataFrame]] = {
            "all": lambda: lsm.rows_for(work, PAGES, found),
            "Bloom": lambda: lsm.rows_for(work, PAGES, work.scratch(by_filter())[0]),
            "oracle": lambda: lsm.rows_for(work, PAGES, known),
            "URLs only": lambda: (
                lsm.layers(work, PAGES)[0].groupBy().agg(F.max(F.length("url")).alias("longest"))
            ),
        }
        compare(work, ways, options.repeat)
        append = {"links": layer_of(root, links, 1)}
        store.commit(StepReport("parse", 1, 0, 0.0), append=append)
        clock.lap()
        update.run(work)
        print_row("update", clock.lap())
    finally:
        work.close()
        shutil.rmtree(root)


if __name__ == "__main__":
    main()
