from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.storage import checksums
from gossamer.storage.store import File, Layer
from gossamer.storage.task_output import (
    YIELD,
    ParquetWriter,
    balance_files,
    count_rows,
    counts_of,
    file_row,
    layers_of,
)
from gossamer.tables import RANKS

if TYPE_CHECKING:
    from pathlib import Path


def test_rows_are_written_with_the_dataset_s_columns_and_types(tmp_path: Path) -> None:
    writer = ParquetWriter(str(tmp_path), "ranks", "ranks/attempt")
    writer.write(pa.table({"rank": pa.array([1, 2], pa.int8()), "url": ["a", "b"]}))
    writer.write(pa.RecordBatch.from_pydict({"url": ["c"], "rank": [0.5]}))
    (row,) = writer.close()
    file = tmp_path / str(row["path"])
    assert (row["name"], row["rows"], row["bytes"]) == ("ranks", 3, file.stat().st_size)
    assert row["xxh3"] == checksums.checksum_file(file)
    assert pq.read_table(file).schema.equals(RANKS.schema)
    assert pq.read_table(file).to_pydict() == {"url": ["a", "b", "c"], "rank": [1.0, 2.0, 0.5]}


def test_two_attempts_never_share_a_name(tmp_path: Path) -> None:
    rows = pa.table({"url": ["a"], "rank": [1.0]})
    paths = set()
    for _ in range(2):
        writer = ParquetWriter(str(tmp_path), "ranks", "ranks/attempt")
        writer.write(rows)
        paths |= {row["path"] for row in writer.close()}
    assert len(paths) == 2


def test_nothing_written_is_no_file(tmp_path: Path) -> None:
    assert ParquetWriter(str(tmp_path), "ranks", "ranks/attempt").close() == []
    assert list(tmp_path.iterdir()) == []


def test_what_tasks_yield_becomes_layers_and_counts() -> None:
    rows = [
        file_row("links", "links/b", 2, 20, "b" * 16),
        file_row("documents", "documents/a", 1, 10, "d" * 16),
        *count_rows({"parsed": 3, "failed": 1}),
        file_row("links", "links/a", 1, 10, "a" * 16),
        *count_rows({"parsed": 2}),
    ]
    assert pa.RecordBatch.from_pylist(rows, schema=YIELD).num_rows == 6
    assert layers_of(rows, 7) == {
        "documents": Layer(7, (File("documents/a", 1, 10, "d" * 16),)),
        "links": Layer(7, (File("links/a", 1, 10, "a" * 16), File("links/b", 2, 20, "b" * 16))),
    }
    assert counts_of(rows) == {"parsed": 5, "failed": 1}


@given(st.lists(st.integers(0, 1000), max_size=30), st.integers(1, 8))
def test_shares_hold_every_file_once_and_are_fair(sizes: list[int], tasks: int) -> None:
    files = [File(f"f{number}", 1, size) for number, size in enumerate(sizes)]
    shares = balance_files(files, tasks)
    assert sorted(file.path for share in shares for file in share) == sorted(
        file.path for file in files
    )
    assert len(shares) == min(tasks, len(files))
    loads = [sum(file.bytes for file in share) for share in shares]
    # Graham, "Bounds on multiprocessing timing anomalies" (1969): LPT ends within 4/3 of the best.
    best = max(max(sizes, default=0), sum(sizes) / tasks)
    assert max(loads, default=0) <= best * 4 / 3 + max(sizes, default=0)


def test_shares_are_balanced_by_bytes_and_not_by_files() -> None:
    files = [File(f"f{size}", 1, size) for size in (10, 4, 3, 2)]
    assert [sum(file.bytes for file in share) for share in balance_files(files, 2)] == [10, 9]


def test_a_file_that_cannot_be_made_closes_no_other(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FileExistsError):
        checksums.ChecksummedFile(tmp_path / "file")
    os.fstat(0)
