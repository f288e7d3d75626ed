"""How a task writes a dataset: Parquet files in the folder of its attempt.

A task of `engine.map_tasks` writes its files with `ParquetWriter`, and yields rows of `YIELD`: the
files that it wrote, and its counts. The driver turns them into layers and counts and commits both.
Files that no committed list names are garbage.
"""

from __future__ import annotations

import uuid
from collections import Counter
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from gossamer.storage.errors import disk_errors
from gossamer.storage.kept_objects import create_kept
from gossamer.storage.store import File, Layer
from gossamer.tables import DATASETS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gossamer.storage.opening import NewFile

YIELD = pa.schema(
    [
        ("name", pa.string()),
        ("path", pa.string()),
        ("rows", pa.int64()),
        ("bytes", pa.int64()),
        ("xxh3", pa.string()),
    ]
)
"""A file: dataset, path, rows, bytes, checksum. A count: its name, no path, the count in `rows`."""
YIELD_DDL = "name string, path string, rows long, bytes long, xxh3 string"

Row = dict[str, str | int | None]
COMPRESSION = "zstd"
SMALL_PAGES = {
    "data_page_size": 1 << 16,
    "write_batch_size": 16,
    "write_page_index": True,
    "use_dictionary": False,
}
"""Encoding for long texts of which few are read (`Engine.read_some`): 64 KB are decoded for each,
instead of the megabytes of 1,024 rows, or of a dictionary of texts that hardly ever repeat."""


class _Writer(pq.ParquetWriter):  # type: ignore[misc]  # pyarrow has no types
    def __del__(self) -> None:
        """Do not close the file: it is garbage, and writing its footer would fail again."""


class ParquetWriter:
    """Writes one file of a dataset. `attempt`: a folder from `Store.attempt`.

    `name`: the beginning of the file's name. `schema`: needed for `scratch` only. `encoding`:
    options of pyarrow's writer. Each `write` makes a row group.
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
        self._path = f"{root}/{self._relative}"
        self._file: NewFile | None = None
        self._writer: _Writer | None = None
        self._rows = 0

    def write(self, rows: pa.Table | pa.RecordBatch) -> None:
        """Append rows; columns are put in the order of the schema and cast to its types."""
        table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
        with disk_errors(self._path):
            if self._writer is None:
                self._file = create_kept(self._path)
                self._writer = _Writer(self._file, self._schema, **self._encoding)
            self._writer.write_table(table.select(self._schema.names).cast(self._schema))
        self._rows += table.num_rows

    def close(self) -> list[Row]:
        """Close the file and return it as a row of YIELD; no row if nothing was written."""
        if self._writer is None or self._file is None:
            return []
        file = self._file
        with disk_errors(self._path):
            self._writer.close()
            file.close()
        return [file_row(self._dataset, self._relative, self._rows, file.size, file.xxh3)]


def file_row(dataset: str, path: str, rows: int, size: int, xxh3: str) -> Row:
    return {"name": dataset, "path": path, "rows": rows, "bytes": size, "xxh3": xxh3}


def count_rows(counts: Mapping[str, int]) -> list[Row]:
    return [
        {"name": name, "path": None, "rows": n, "bytes": 0, "xxh3": None}
        for name, n in counts.items()
    ]


def layers_of(rows: Iterable[Row], round_: int) -> dict[str, Layer]:
    """The layer of each dataset, from rows of YIELD. Its files are in the order of their paths."""
    files: dict[str, list[File]] = {}
    for row in sorted((row for row in rows if row["path"]), key=lambda row: str(row["path"])):
        file = msgspec.convert(row, File)
        files.setdefault(str(row["name"]), []).append(file)
    return {dataset: Layer(round_, tuple(listed)) for dataset, listed in files.items()}


def counts_of(rows: Iterable[Row]) -> Counter[str]:
    """The sums of the tasks' counts, from rows of YIELD."""
    counts: Counter[str] = Counter()
    for row in rows:
        if not row["path"]:
            counts[str(row["name"])] += int(row["rows"] or 0)
    return counts


class Part(Protocol):
    """A file, or a piece of one."""

    @property
    def path(self) -> str: ...
    @property
    def bytes(self) -> int: ...


Shared = TypeVar("Shared", bound=Part)


def balance_files(files: Sequence[Shared], tasks: int) -> list[list[Shared]]:
    """Share files among at most `tasks` tasks, largest first to the least loaded (LPT)."""
    shares: list[list[Shared]] = [[] for _ in range(min(tasks, len(files)))]
    loads = [0] * len(shares)
    for file in sorted(files, key=lambda file: (-file.bytes, file.path)):
        lightest = loads.index(min(loads))
        shares[lightest].append(file)
        loads[lightest] += file.bytes
    return shares
