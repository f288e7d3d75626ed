"""The request log: what actually reached the server, one line per request.

The lines are tab-separated; the first holds the column names:

    monotonic_s   when the request was read, on the clock that all processes of the machine share
    wall_s        the same in Unix time
    connection    number of the connection, from 1
    client_port   the client's port
    address       the loopback address that received the request
    method, host, target   as sent; "-" if the request could not be parsed
    status        the status sent
    bytes         the size of the body sent
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gossamer.errors import GossamerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pyarrow as pa

BUFFER_LINES = 1024


class LogEntry(NamedTuple):
    monotonic_s: float
    wall_s: float
    connection: int
    client_port: int
    address: str
    method: str
    host: str
    target: str
    status: int
    bytes: int


HEADER = "\t".join(LogEntry._fields) + "\n"


class RequestLog:
    """Appends lines to a file, buffered until `flush`."""

    def __init__(self, path: Path) -> None:
        try:
            self._file = path.open("w", encoding="latin-1", newline="\n")
        except OSError as error:
            what = f"cannot be written ({error})"
            raise GossamerError(path, what, "choose another file") from None
        self._file.write(HEADER)
        self._lines: list[str] = []

    def add(self, line: str) -> None:
        """Add a line, without its line end. The request parser keeps tabs out of the fields."""
        self._lines.append(line)
        if len(self._lines) >= BUFFER_LINES:
            self._write()

    def flush(self) -> None:
        self._write()
        self._file.flush()

    def close(self) -> None:
        self._write()
        self._file.close()

    def _write(self) -> None:
        if self._lines:
            self._file.write("\n".join(self._lines) + "\n")
            self._lines.clear()


def read_log(path: Path | str) -> list[LogEntry]:
    """Return the entries of a log file, in the order in which the requests were read."""
    return parse_log(Path(path).read_text("latin-1"))


def parse_log(text: str) -> list[LogEntry]:
    lines = text.split("\n")
    if lines[0] + "\n" != HEADER:
        raise GossamerError("request log", "the first line does not hold the column names")
    return [_entry(line.split("\t")) for line in lines[1:] if line]


def log_table(path: Path | str) -> pa.Table:
    """Return the entries as an Arrow table, for logs of millions of lines."""
    from pyarrow import csv  # imported here because the server itself does not need pyarrow

    return csv.read_csv(
        path,
        read_options=csv.ReadOptions(encoding="latin-1"),
        parse_options=csv.ParseOptions(delimiter="\t", quote_char=False),
    )


def group_by_host(entries: Iterable[LogEntry]) -> dict[str, list[LogEntry]]:
    """Group the entries by host, in the order in which they arrived."""
    return group_entries(entries, lambda entry: entry.host)


def group_entries(
    entries: Iterable[LogEntry], key: Callable[[LogEntry], str]
) -> dict[str, list[LogEntry]]:
    groups: defaultdict[str, list[LogEntry]] = defaultdict(list)
    for entry in sorted(entries, key=lambda entry: entry.monotonic_s):
        groups[key(entry)].append(entry)
    return dict(groups)


def _entry(fields: list[str]) -> LogEntry:
    monotonic, wall, connection, port, address, method, host, target, status, size = fields
    return LogEntry(
        float(monotonic), float(wall), int(connection), int(port), address, method, host, target,
        int(status), int(size),
    )  # fmt: skip
