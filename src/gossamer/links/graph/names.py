"""The names of nodes: URLs and hosts, so written that those of a domain are neighbours when sorted.

    https://www.example.org:8080/a?b    is    org,example,www :8080 https /a?b
    www.example.org:8080                is    org,example,www :8080

Nodes are numbered in the order of their names. Pages of a site link to each other, and neighbours
link to the same pages; so neighbouring rows have small differences and resemble each other
(Randall, Stata, Wickremesinghe and Wiener, "The Link Database", DCC 2002).

The names of a graph are Parquet files, in groups of GROUP rows, which are front-coded
(DELTA_BYTE_ARRAY) and compressed. A name is found by the statistics of the groups, of which one is
decoded. Many names are found together, so that each group is decoded once.
"""

from __future__ import annotations

import os
import re
import sys
from bisect import bisect_left, bisect_right
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import functions as F

from gossamer.errors import MissingFile
from gossamer.links.graph.string_arrays import find_places
from gossamer.storage import parquet
from gossamer.storage.task_output import ParquetWriter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import Column

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.storage.task_output import Row

GROUP = 1_024
"""Names per row group."""
GROUPS_KEPT = 256
"""Decoded groups that are cached."""
GROUPS_AT_ONCE = 64
"""Groups that a thread decodes at once when many names are looked up: some megabytes."""
THREADS = min(os.cpu_count() or 1, 8)
RECENT = pa.schema([("name", pa.string()), ("number", pa.int64())])
"""Names of the graph as it was built that are likely to be looked up, with their numbers."""
SCHEMAS = {
    "page": pa.schema([("name", pa.string())]),
    "host": pa.schema([("name", pa.string()), ("pages", pa.int64())]),
}
"""The columns of names. `pages`: the number of pages of a host, which have consecutive numbers."""
ENCODING = {
    "use_dictionary": False,
    "column_encoding": {"name": "DELTA_BYTE_ARRAY"},
    "compression_level": 9,
}
LAST = chr(sys.maxunicode)
"""Sorts after all that names consist of."""
_NAME = r"^([^ ]*) ([^ ]*)(?: ([^ ]*) (.*))?$"
_URL = r"^([a-z][a-z0-9+.-]*)://([^/]*?)(:\d+)?(/.*)$"


def name_of(url: str) -> str:
    """The name of a page."""
    found = re.match(_URL, url, re.DOTALL)
    if not found:
        return url
    scheme, host, port, rest = found.groups("")
    return f"{_reverse_labels(host)} {port} {scheme} {rest}"


def url_of(name: str) -> str:
    """The URL of a page, or the host of a host."""
    host, port, *rest = name.split(" ", 3)
    where = ".".join(reversed(host.split(","))) + port
    return f"{rest[0]}://{where}{rest[1]}" if rest else where


def host_name(host: str) -> str:
    """The name of a host, as in `hosts`: with its port, if it is not the default."""
    name, colon, port = host.rpartition(":")
    return (
        f"{_reverse_labels(name)} :{port}"
        if colon and port.isdigit()
        else f"{_reverse_labels(host)} "
    )


def host_prefix(name: str) -> str:
    """The name of the host of a page: the beginning of the page's."""
    return " ".join(name.split(" ", 2)[:2])


def _reverse_labels(host: str) -> str:
    return ",".join(reversed(host.split(".")))


def name_column(url: Column) -> Column:
    """`name_of` as an expression for the engine."""
    scheme, host, port, rest = (F.regexp_extract(url, _URL, group) for group in (1, 2, 3, 4))
    labels = F.array_join(F.reverse(F.split(host, r"\.")), ",")
    return F.concat_ws(" ", labels, port, scheme, rest)


def url_column(name: Column) -> Column:
    """`url_of` as an expression for the engine."""
    host, port, scheme, rest = (F.regexp_extract(name, _NAME, group) for group in (1, 2, 3, 4))
    where = F.concat(F.array_join(F.reverse(F.split(host, ",")), "."), port)
    return F.when(scheme == "", where).otherwise(F.concat(scheme, F.lit("://"), where, rest))


def host_prefixes(names: pa.StringArray) -> pa.StringArray:
    """The names of the hosts of pages, which are the beginnings of theirs."""
    return pc.replace_substring_regex(names, r"(?s)^([^ ]* [^ ]*) .*", r"\1")


def look_up_recent(paths: Sequence[str], names: pa.StringArray) -> Numbers:
    """The numbers of names in files of RECENT; -1 if they are not there. Raises MissingFile."""
    found = np.full(len(names), -1, np.int64)
    for path in paths:
        with _names_errors(path):
            recent = parquet.read_table(path)
        at = pc.index_in(names, recent["name"].combine_chunks().cast(names.type))
        is_there = at.is_valid().to_numpy(zero_copy_only=False)
        found[is_there] = recent["number"].to_numpy()[at.drop_null().to_numpy()]
    return found


class NamesWriter:
    """Writes a file of names, in groups. `kind`: "page" or "host"."""

    def __init__(self, root: str, attempt: str, kind: str, part: int = 0) -> None:
        self._file = ParquetWriter(
            root,
            "graph",
            attempt,
            name=f"{kind}-{part:04}-",
            schema=SCHEMAS[kind],
            encoding=ENCODING,
        )
        self._left = SCHEMAS[kind].empty_table()

    def write(self, rows: pa.Table) -> None:
        """Append rows, which are in the order of their names."""
        rows = pa.concat_tables([self._left, rows])
        whole = rows.num_rows - rows.num_rows % GROUP
        for first in range(0, whole, GROUP):
            self._file.write(rows.slice(first, GROUP))
        self._left = rows.slice(whole)

    def close(self) -> list[Row]:
        """Close the file and return it as a row of YIELD; no row if nothing was written."""
        if self._left.num_rows:
            self._file.write(self._left)
        return self._file.close()


class _Group(NamedTuple):
    first: int
    """The number of its first name."""
    file: int
    number: int
    """The number of the group in its file."""


class Names:
    """The names of a graph, by number and by name. Raises MissingFile.

    The names of the nodes that were added since the graph was built have the last numbers, in an
    order of their own.
    """

    def __init__(
        self, paths: Sequence[str], added: Sequence[str] = (), recent: Sequence[str] = ()
    ) -> None:
        """`added`: the files of the names that were added. `recent`: files of RECENT."""
        self._parts = tuple(_Sorted(listed) for listed in (paths, added))
        self._recent = recent
        self._built = self._parts[0].count
        self.count = sum(part.count for part in self._parts)

    def __getitem__(self, number: int) -> str:
        built, added = self._parts
        return built[number] if number < self._built else added[number - self._built]

    def number(self, name: str) -> int | None:
        """The number of a name; None if no node has it."""
        built, added = self._parts
        if (found := built.number(name)) is None and (found := added.number(name)) is not None:
            found += self._built
        return found

    def ranges_with_prefix(self, prefix: str) -> list[range]:
        """The numbers of the names that begin with a prefix, in ranges."""
        firsts = 0, self._built
        ends = prefix, prefix + LAST
        return [
            range(*(first + part.place(end) for end in ends))
            for first, part in zip(firsts, self._parts, strict=True)
        ]

    def numbers(self, names: pa.StringArray) -> Numbers:
        """The numbers of many names; -1 if no node has it. Each group is decoded once."""
        built, added = self._parts
        found = look_up_recent(self._recent, names)
        for first, part in ((self._built, added), (0, built)):
            unknown = np.flatnonzero(found < 0)
            if part.count and unknown.size:
                numbers = part.numbers(names.take(pa.array(unknown)))
                found[unknown] = np.where(numbers < 0, -1, numbers + first)
        return found

    def take(self, numbers: Numbers) -> pa.StringArray:
        """The names of many nodes. Each group is decoded once."""
        is_built = numbers < self._built
        built, added = self._parts
        if is_built.all():
            return built.take(numbers)
        names = [built.take(numbers[is_built]), added.take(numbers[~is_built] - self._built)]
        places = np.argsort(np.argsort(~is_built, kind="stable"), kind="stable")
        return pa.concat_arrays(names).take(pa.array(places))


class _Sorted:
    """Names that are numbered from 0 in their order."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._metadata: list[pq.FileMetaData] = []
        """Of each file; reading it takes longer than decoding a group."""
        for path in paths:
            with _names_errors(path):
                self._metadata.append(parquet.metadata(path))
        self.count = sum(metadata.num_rows for metadata in self._metadata)
        self._decoded = lru_cache(GROUPS_KEPT)(self._decode)

    @cached_property
    def _groups(self) -> list[_Group]:
        sizes = [
            (file, group, metadata.row_group(group).num_rows)
            for file, metadata in enumerate(self._metadata)
            for group in range(metadata.num_row_groups)
        ]
        firsts = accumulate((rows for *_, rows in sizes), initial=0)
        return [_Group(first, *where) for first, (*where, _) in zip(firsts, sizes, strict=False)]

    @cached_property
    def _starts(self) -> list[str]:
        """A lower bound of the names of each group: Parquet's statistics."""
        found = []
        for at, group in enumerate(self._groups):
            bounds = self._metadata[group.file].row_group(group.number).column(0).statistics
            has_bounds = bounds is not None and bounds.has_min_max and bounds.min is not None
            found.append(bounds.min if has_bounds else self._decode(at)[0])
        return found

    def __getitem__(self, number: int) -> str:
        at = bisect_right(self._groups, number, key=lambda group: group.first) - 1
        return self._decoded(at)[number - self._groups[at].first]

    def number(self, name: str) -> int | None:
        place = self.place(name)
        return place if place < self.count and self[place] == name else None

    def place(self, name: str) -> int:
        """How many names are smaller."""
        at = bisect_right(self._starts, name) - 1
        if at < 0:
            return 0
        return self._groups[at].first + bisect_left(self._decoded(at), name)

    def numbers(self, names: pa.StringArray) -> Numbers:
        order = pc.sort_indices(names)
        ascending = names.take(order).cast(pa.large_string())
        bounds = pa.array(self._starts, pa.large_string())
        firsts = find_places(bounds, ascending)
        firsts = np.append(np.where(firsts < 0, ~firsts, firsts), len(ascending))
        touched = np.flatnonzero(np.diff(firsts))
        files = np.array([group.file for group in self._groups], np.int64)[touched]
        found = np.full(len(names), -1, np.int64)

        def find(groups: Numbers) -> None:
            begin, end = firsts[groups[0]], firsts[groups[-1] + 1]
            opened = _NamesFile(self._paths, self._metadata)
            listed, numbers = opened.groups([self._groups[at] for at in groups])
            at = find_places(ascending.slice(begin, end - begin), listed)
            found[begin:end][at >= 0] = numbers[at[at >= 0]]

        together = [
            of_file[first : first + GROUPS_AT_ONCE]
            for of_file in (touched[files == file] for file in np.unique(files))
            for first in range(0, of_file.size, GROUPS_AT_ONCE)
        ]
        with ThreadPoolExecutor(THREADS) as threads:
            list(threads.map(find, together))
        placed = np.empty_like(found)
        placed[order.to_numpy()] = found
        return placed

    def take(self, numbers: Numbers) -> pa.StringArray:
        order = np.argsort(numbers, kind="stable")
        ascending = numbers[order]
        firsts = np.array([group.first for group in self._groups], np.int64)
        ends = np.append(np.searchsorted(ascending, firsts[1:]), ascending.size)
        found = [pa.array([], pa.string())]
        begin = 0
        opened = _NamesFile(self._paths, self._metadata)
        for group, end in zip(self._groups, ends.tolist(), strict=False):
            if begin < end:
                places = pa.array(ascending[begin:end] - group.first)
                found.append(opened.group(group).take(places))
            begin = end
        return pa.concat_arrays(found).take(pa.array(np.argsort(order, kind="stable")))

    def _decode(self, at: int) -> list[str]:
        names: list[str] = (
            _NamesFile(self._paths, self._metadata).group(self._groups[at]).to_pylist()
        )
        return names


class _NamesFile:
    """The file of names that was read last."""

    def __init__(self, paths: Sequence[str], metadata: Sequence[pq.FileMetaData]) -> None:
        self._paths, self._metadata = paths, metadata
        self._number = -1
        self._file: Any = None

    def group(self, group: _Group) -> pa.StringArray:
        """Decode the names of a group."""
        return self._read_groups([group]).combine_chunks()

    def groups(self, groups: Sequence[_Group]) -> tuple[pa.LargeStringArray, Numbers]:
        """Decode the names of groups of one file, which ascend; also return their numbers."""
        names = self._read_groups(groups).combine_chunks().cast(pa.large_string())
        metadata = self._metadata[groups[0].file]
        rows = [metadata.row_group(group.number).num_rows for group in groups]
        starts = np.cumsum(rows) - rows
        firsts = np.array([group.first for group in groups])
        return names, np.arange(len(names)) + np.repeat(firsts - starts, rows)

    def _read_groups(self, groups: Sequence[_Group]) -> pa.ChunkedArray:
        file = groups[0].file
        path = self._paths[file]
        with _names_errors(path):
            if self._number != file:
                self._number = file
                metadata = self._metadata[file]
                self._file = parquet.open_parquet(path, metadata=metadata, pre_buffer=False)
            # pyarrow's threads take longer to wake up than a group takes to decode.
            numbers = [group.number for group in groups]
            return self._file.read_row_groups(numbers, ["name"], use_threads=False).column(0)


@contextmanager
def _names_errors(path: str) -> Iterator[None]:
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise MissingFile(path, str(error).strip()) from None
