"""What do checksums cost when files are verified, and when Parquet is written?

    python bench/checksums.py [megabytes]

Files are verified from the page cache, like those of an index that was just written. Each ratio is
the median of five alternating runs.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from gossamer import checksums
from gossamer.backends import LocalBackend
from gossamer.store import File, Store
from gossamer.task_output import COMPRESSION

if TYPE_CHECKING:
    from collections.abc import Callable

FILES = 16
RUNS = 5
ROW_GROUPS, ROWS = 20, 10_000


def seconds(work: Callable[[], object]) -> float:
    began_s = time.perf_counter()
    work()
    return time.perf_counter() - began_s


def verifying(root: Path, megabytes: int) -> None:
    block, files = os.urandom(1 << 20), []
    for number in range(FILES):
        path = root / f"{number}"
        with path.open("wb") as file:
            for _ in range(megabytes // FILES):
                file.write(block)
        size = path.stat().st_size
        files.append(File(path.name, 0, size, checksums.of_file(path)))
    total_mb = sum(file.bytes for file in files) / 1e6
    store = Store(LocalBackend(root))

    def one_thread() -> None:
        for file in files:
            checksums.of_file(root / file.path)

    def verify() -> None:
        assert all(wrong is None for _, wrong in store.verify(files))

    for name, work in (("one thread", one_thread), ("Store.verify", verify)):
        took_s = statistics.median(seconds(work) for _ in range(RUNS))
        print(
            f"{name:28}{took_s:6.2f} s for {total_mb:,.0f} MB, {total_mb / took_s / 1e3:.1f} GB/s"
        )


def writing(root: Path) -> None:
    names = [f"http://host-{number % 97}.example/page/{number}" for number in range(ROWS)]
    texts = [os.urandom(300).hex() for _ in names]
    table = pa.table({"url": names, "text": texts, "number": list(range(ROWS))})

    def parquet(path: Path, *, checksummed: bool) -> None:
        path.unlink(missing_ok=True)
        file = checksums.ChecksummedFile(path) if checksummed else None
        with pq.ParquetWriter(file or path, table.schema, compression=COMPRESSION) as writer:
            for _ in range(ROW_GROUPS):
                writer.write_table(table)
        if file is not None:
            file.close()

    path = root / "rows.parquet"
    ratios = []
    for _ in range(RUNS):
        plain_s = seconds(lambda: parquet(path, checksummed=False))
        ratios.append(seconds(lambda: parquet(path, checksummed=True)) / plain_s)
    size_mb = path.stat().st_size / 1e6
    print(f"{'Parquet with checksums':28}{statistics.median(ratios):6.2f} × the time without")
    print(f"{'':28}({size_mb:.1f} MB of {ROW_GROUPS * ROWS:,} rows)")


def main(megabytes: int = 1024) -> None:
    with tempfile.TemporaryDirectory() as folder:
        verifying(Path(folder), megabytes)
        writing(Path(folder))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
