"""How a task writes a dataset: Parquet files under the name of its own attempt.

A task of `engine.map_tasks` writes its files with `ParquetWriter`, and yields rows of `YIELD`:
the files it wrote and what it counted. The driver turns them into layers and counts and commits
both. What a task wrote and nobody listed is garbage.
"""

from __future__ import annotations

import uuid
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from gossamer.backends import disk_errors
from gossamer.store import File, Layer
from gossamer.tables import DATASETS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

YIELD = pa.schema(
    [("name", pa.string()), ("path", pa.string()), ("rows", pa.int64()), ("bytes", pa.int64())]
)
"""A file: dataset, path, rows, bytes. A count: its name, no path, the count in `rows`."""
YIELD_DDL = "name string, path string, rows long, bytes long"

Row = dict[str, str | int | None]
COMPRESSION = "zstd"


class _Writer(pq.ParquetWriter):  # type: ignore[misc]  # pyarrow has no types
    def __del__(self) -> None:
        """Nothing: what was not closed is garbage, and writing its end would fail once more."""


class ParquetWriter:
    """One file of a dataset. `attempt` is a folder from `Store.attempt`.

    Rows of `scratch` are of the given `schema`. The name of a file begins with `name`; `encoding`
    is for pyarrow's writer. A `write` makes a row group.
    """

    def __init__(
        self,
        root: str,
        dataset: str,
        attempt: str,
        *,
        name: str = "",
        schema: pa.Schema | None = None,
        encoding: Mapping[str, Any] | None = None,
    ) -> None:
        self._dataset = dataset
        self._schema = schema or DATASETS[dataset].schema
        self._encoding = {"compression": COMPRESSION} | dict(encoding or {})
        self._relative = f"{attempt}/{name}{uuid.uuid4().hex}.parquet"
        self._path = Path(root, self._relative)
        self._writer: _Writer | None = None
        self._rows = 0

    def write(self, rows: pa.Table | pa.RecordBatch) -> None:
        """Append rows; columns are put in the order of the schema and cast to its types."""
        table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
        with disk_errors(self._path):
            if self._writer is None:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                self._writer = _Writer(self._path, self._schema, **self._encoding)
            self._writer.write_table(table.select(self._schema.names).cast(self._schema))
        self._rows += table.num_rows

    def close(self) -> list[Row]:
        """The file as rows of YIELD: none where nothing was written."""
        if self._writer is None:
            return []
        with disk_errors(self._path):
            self._writer.close()
        return [written(self._dataset, self._relative, self._rows, self._path.stat().st_size)]


def written(dataset: str, path: str, rows: int, size: int) -> Row:
    return {"name": dataset, "path": path, "rows": rows, "bytes": size}


def counted(counts: Mapping[str, int]) -> list[Row]:
    return [{"name": name, "path": None, "rows": n, "bytes": 0} for name, n in counts.items()]


def layers_of(rows: Iterable[Row], round_: int) -> dict[str, Layer]:
    """The layer of each dataset, from rows of YIELD, in the order of the paths."""
    files: dict[str, list[File]] = {}
    for row in sorted((row for row in rows if row["path"]), key=lambda row: str(row["path"])):
        file = msgspec.convert(row, File)
        files.setdefault(str(row["name"]), []).append(file)
    return {dataset: Layer(round_, tuple(listed)) for dataset, listed in files.items()}


def counts_of(rows: Iterable[Row]) -> Counter[str]:
    """The sums of what the tasks counted, from rows of YIELD."""
    counts: Counter[str] = Counter()
    for row in rows:
        if not row["path"]:
            counts[str(row["name"])] += int(row["rows"] or 0)
    return counts


def balance(files: Sequence[File], tasks: int) -> list[list[File]]:
    """Share files among at most `tasks` tasks, largest first to the least loaded (LPT)."""
    shares: list[list[File]] = [[] for _ in range(min(tasks, len(files)))]
    loads = [0] * len(shares)
    for file in sorted(files, key=lambda file: (-file.bytes, file.path)):
        lightest = loads.index(min(loads))
        shares[lightest].append(file)
        loads[lightest] += file.bytes
    return shares
