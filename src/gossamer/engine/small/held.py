"""Small tables that are read more than once: in memory, under the names of scratch files.

A plan names such a table like a Parquet file that it reads. That file is only written when a server
has to run the plan, or at once if the table is large. A table lives as long as plans that read it.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import pyarrow as pa

from gossamer.engine.small.files import read_file, write_file
from gossamer.engine.small.frames import of_table
from gossamer.engine.small.limits import Unsupported, current
from gossamer.engine.small.types import ddl_of

if TYPE_CHECKING:
    from gossamer.engine.small.frames import Frame


class HeldTable:
    """The rows of a query, with the path of the file that they stand for."""

    def __init__(self, frame: Frame, path: str) -> None:
        """Raises Unsupported for rows that only a server can write, and OSError."""
        if "://" in path:
            raise Unsupported("a file on object storage")
        table = frame.table()
        if any(pa.types.is_null(kind) for kind in table.schema.types):
            raise Unsupported("a column of NULLs without a type")
        self.rows, self.path, self.ddl = table.num_rows, path, ddl_of(table.schema)
        self.frame: Frame | None = of_table(table)
        """The rows; None if the file has them."""
        self._lock, self._is_written = threading.Lock(), False
        if table.nbytes > current().held_bytes:
            self.write()
            self.frame = None
        else:
            _held[path] = self

    def table(self) -> pa.Table:
        return read_file(self.path) if self.frame is None else self.frame.table()

    def write(self) -> None:
        """Write the file, unless it was written before. Raises OSError."""
        with self._lock:
            if not self._is_written:
                write_file(self.table(), self.path)
                self._is_written = True


_held: WeakValueDictionary[str, HeldTable] = WeakValueDictionary()


def held_frame(path: str) -> Frame | None:
    """The rows of the table that stands for a file; None if the file has them."""
    found = _held.get(path)
    return None if found is None else found.frame


def write_named(plan: bytes | None) -> None:
    """Write the files of the tables that a serialised plan names; None: of all. Raises OSError."""
    for path, table in list(_held.items()):
        if plan is None or path.encode() in plan:
            table.write()
