"""The names of nodes: URLs and hosts, so written that those of a domain are neighbours when sorted.

    https://www.example.org:8080/a?b    is    org,example,www :8080 https /a?b
    www.example.org:8080                is    org,example,www :8080

Nodes are numbered in the order of their names. Pages of a site link to each other, and neighbours
link to the same pages; so neighbouring rows have small differences and resemble each other
(Randall, Stata, Wickremesinghe and Wiener, "The Link Database", DCC 2002).

The names of a graph are Parquet files of one column, in groups of GROUP rows, which are front-coded
(DELTA_BYTE_ARRAY) and compressed. A name is found by the statistics of the groups, of which one is
decoded.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import functions as F

from gossamer.errors import MissingFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column

GROUP = 4_096
"""Names per row group."""
GROUPS_KEPT = 64
"""Decoded groups that are cached."""
SCHEMA = pa.schema([("name", pa.string())])
ENCODING = {
    "use_dictionary": False,
    "column_encoding": {"name": "DELTA_BYTE_ARRAY"},
    "compression_level": 9,
}
_URL = r"^([a-z]+)://([^/]*?)(:\d+)?(/.*)$"


def name_of(url: str) -> str:
    """The name of a page."""
    found = re.match(_URL, url, re.DOTALL)
    if not found:
        return url
    scheme, host, port, rest = found.groups("")
    return f"{_reversed(host)} {port} {scheme} {rest}"


def url_of(name: str) -> str:
    """The URL of a page, or the host of a host."""
    host, port, *rest = name.split(" ", 3)
    where = ".".join(reversed(host.split(","))) + port
    return f"{rest[0]}://{where}{rest[1]}" if rest else where


def host_name(host: str) -> str:
    """The name of a host, as in `hosts`: with its port, if it is not the default."""
    name, colon, port = host.rpartition(":")
    return f"{_reversed(name)} :{port}" if colon and port.isdigit() else f"{_reversed(host)} "


def _reversed(host: str) -> str:
    return ",".join(reversed(host.split(".")))


def name_column(url: Column) -> Column:
    """`name_of` as an expression for the engine."""
    scheme, host, port, rest = (F.regexp_extract(url, _URL, group) for group in (1, 2, 3, 4))
    labels = F.array_join(F.reverse(F.split(host, r"\.")), ",")
    return F.concat_ws(" ", labels, port, scheme, rest)


def host_name_column(name: Column) -> Column:
    """The name of the host of a page, of whose name it is the beginning."""
    return F.substring_index(name, " ", 2)


class _Group(NamedTuple):
    first: int
    """The number of its first name."""
    file: int
    number: int
    """The number of the group in its file."""


class Names:
    """The names of a graph, by number and by name. Raises MissingFile."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._groups: list[_Group] = []
        self._starts: list[str] = []
        """A lower bound of the names of each group: Parquet's statistics."""
        self.count = 0
        for number, path in enumerate(paths):
            self._learn(number, path)
        self._decoded = lru_cache(GROUPS_KEPT)(self._decode)

    def _learn(self, number: int, path: str) -> None:
        try:
            metadata = pq.read_metadata(path)
        except (OSError, pa.ArrowException) as error:
            raise MissingFile(path, str(error).strip()) from None
        for group in range(metadata.num_row_groups):
            rows = metadata.row_group(group)
            statistics = rows.column(0).statistics
            bound = statistics.min if statistics is not None and statistics.has_min_max else None
            self._groups.append(_Group(self.count, number, group))
            self._starts.append(bound if bound is not None else self._decode(len(self._starts))[0])
            self.count += rows.num_rows

    def __getitem__(self, number: int) -> str:
        at = bisect_right(self._groups, number, key=lambda group: group.first) - 1
        return self._decoded(at)[number - self._groups[at].first]

    def number(self, name: str) -> int | None:
        """The number of a name; None if no node has it."""
        at = bisect_right(self._starts, name) - 1
        if at < 0:
            return None
        names = self._decoded(at)
        place = bisect_left(names, name)
        is_there = place < len(names) and names[place] == name
        return self._groups[at].first + place if is_there else None

    def _decode(self, at: int) -> list[str]:
        _, file, number = self._groups[at]
        try:
            with pq.ParquetFile(self._paths[file]) as opened:
                names: list[str] = opened.read_row_group(number, ["name"]).column(0).to_pylist()
        except (OSError, pa.ArrowException) as error:
            raise MissingFile(self._paths[file], str(error).strip()) from None
        return names
