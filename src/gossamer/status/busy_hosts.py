"""Which hosts are the busiest, the slowest and the ones that fail?

Read from the dataset `hosts`, once per commit of it: a pass over the numbers of all hosts, and
look-ups of the few that are shown.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.state.lookup import open_checked

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.state.lookup import Lookup
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer

SHOWN_HOSTS = 10


class Host(msgspec.Struct, frozen=True):
    """The columns of `hosts` that are shown."""

    host: str
    requests: int = 0
    pages: int = 0
    bytes: int = 0
    failures: int = 0
    outcome: str = ""
    latency_ms: int = 0


class Hosts(msgspec.Struct, frozen=True):
    """The hosts of a crawl: numbers, and those with the most requests, latency and failures."""

    known: int = 0
    failing_count: int = 0
    busiest: tuple[Host, ...] = ()
    slowest: tuple[Host, ...] = ()
    failing: tuple[Host, ...] = ()


class HostWatch:
    """Reads the dataset again when it has changed. Used from several threads."""

    def __init__(self, work: Workspace, lookup: Lookup) -> None:
        self._work = work
        self._lookup = lookup
        self._guard = threading.Lock()
        self._layers: tuple[Layer, ...] = ()
        self._hosts = Hosts()

    def look(self) -> Hosts:
        """The hosts as of the last commit. Raises StoreError."""
        with self._guard:
            layers = self._work.store.manifest.layers("hosts")
            if layers != self._layers:
                self._hosts = self._read_hosts()
                self._layers = layers
            return self._hosts

    def _read_hosts(self) -> Hosts:
        paths = self._work.paths("hosts")
        if not paths:
            return Hosts()
        newest = _newest_numbers_of_hosts(reversed(paths))
        failing = newest.filter(pc.greater(newest["failures"], 0))
        return Hosts(
            newest.num_rows,
            failing.num_rows,
            self._busiest(newest, "requests"),
            self._busiest(newest.filter(pc.greater(newest["latency_ms"], 0)), "latency_ms"),
            self._busiest(failing, "failures"),
        )

    def _busiest(self, rows: pa.Table, column: str) -> tuple[Host, ...]:
        order = [(column, "descending"), ("host", "ascending")]
        best = pc.select_k_unstable(rows, min(SHOWN_HOSTS, rows.num_rows), order)
        return tuple(map(self._host, rows["host"].take(best).to_pylist()))

    def _host(self, name: str) -> Host:
        row = next(self._lookup.rows("hosts", "host", name, Host.__struct_fields__))
        known = {key: value for key, value in row.items() if value is not None}
        return Host(**known)


def _newest_numbers_of_hosts(paths: Iterable[str]) -> pa.Table:
    """The numbers of each host in the first of the files that has it."""
    columns = ["host", "requests", "failures", "latency_ms"]
    rows = pa.concat_tables(_read_host_columns(path, columns) for path in paths)
    first = pc.ScalarAggregateOptions(skip_nulls=False)
    grouped = rows.group_by("host", use_threads=False)  # `first` needs an order
    newest = grouped.aggregate([(column, "first", first) for column in columns[1:]])
    return newest.rename_columns([name.removesuffix("_first") for name in newest.column_names])


def _read_host_columns(path: str, columns: list[str]) -> pa.Table:
    with open_checked(path, "hosts", columns) as file:
        return file.read(columns)
