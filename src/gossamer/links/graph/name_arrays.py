"""Names of a graph in arrays: those of URLs, the domains of nodes, and their URLs.

A name begins with its host (`links/graph/names.py`), and neighbours mostly have the same one. So a
host is looked at once per run of names, and their bytes are copied by loops in C.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from gossamer.errors import MissingFile
from gossamer.links.graph.names import name_of, url_of
from gossamer.links.graph.string_arrays import string_bounds, strings_of, text_of
from gossamer.native import native
from gossamer.storage import parquet
from gossamer.web.public_suffixes import registrable
from gossamer.web.urls import LOCALHOST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy.typing as npt

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.graph.string_arrays import Bytes, Offsets

    Indices = npt.NDArray[np.int32]

BATCH = 1 << 17
"""Names that are decoded at once: some megabytes."""
HOSTS_KEPT = 1 << 15
"""Hosts that are remembered, with their domains: `rank` looks at each three times in a run."""
FIELDS_OF_HOST = 2
"""Fields of a name, each before a space, that make the host."""


def read_names(paths: Iterable[str]) -> Iterator[pa.LargeStringArray]:
    """All names, in the order of their numbers. Raises MissingFile."""
    for batch in _read_batches(paths, ["name"]):
        yield batch.column(0).cast(pa.large_string())


def read_host_sizes(paths: Iterable[str]) -> Iterator[tuple[pa.LargeStringArray, Numbers]]:
    """The names of all hosts, and their numbers of pages. Raises MissingFile."""
    for batch in _read_batches(paths, ["name", "pages"]):
        yield batch.column(0).cast(pa.large_string()), batch.column(1).to_numpy()


def _read_batches(paths: Iterable[str], columns: list[str]) -> Iterator[pa.RecordBatch]:
    for path in paths:
        try:
            with parquet.open_parquet(path) as file:
                yield from file.iter_batches(BATCH, columns=columns)
        except (OSError, pa.ArrowException) as error:
            raise MissingFile(path, str(error).strip()) from None


def names_of(urls: pa.LargeStringArray) -> pa.LargeStringArray:
    """The names of pages: `names.name_of` of each URL."""
    offsets, data = text_of(urls)
    return strings_of(offsets - offsets[0], name_bytes(offsets, data))


class HostRuns(NamedTuple):
    """Names as runs of neighbours with the same host."""

    offsets: Offsets
    data: Bytes
    starts: Numbers
    """The first name of each run."""
    lengths: Numbers
    """The bytes of the host in each name of the run."""
    hosts: list[str]
    """The host of each run, as in `pages`."""

    def spread(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """A value of each run for each name."""
        return np.repeat(values, np.diff(self.starts, append=self.offsets.size - 1))


def split_by_host(names: pa.LargeStringArray) -> HostRuns:
    offsets, data = text_of(names)
    starts, lengths = find_host_runs(offsets, data)
    begins = offsets[starts]
    view = data.data
    hosts = [
        _host(bytes(view[begin:end]))
        for begin, end in zip(begins.tolist(), (begins + lengths).tolist(), strict=True)
    ]
    return HostRuns(offsets, data, starts, lengths, hosts)


@lru_cache(HOSTS_KEPT)
def _host(name: bytes) -> str:
    return url_of(name.decode()) or LOCALHOST


_domain = lru_cache(HOSTS_KEPT)(registrable)


class DomainNumbers:
    """Numbers the registrable domains of hosts."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def number(self, hosts: Iterable[str]) -> Indices:
        """Number the domains of hosts."""
        numbers = self._numbers
        found = (numbers.setdefault(_domain(host), len(numbers)) for host in hosts)
        return np.fromiter(found, np.int32)


def urls_of(names: pa.LargeStringArray) -> pa.LargeStringArray:
    """The URLs of pages, or the hosts of the nodes of a graph of hosts."""
    runs = split_by_host(names)
    shown = [
        host if length > 1 else "" for host, length in zip(runs.hosts, runs.lengths, strict=True)
    ]
    text = text_of(pa.array(shown, pa.large_string()))
    return strings_of(*url_bytes(runs.offsets, runs.data, runs.starts, runs.lengths, *text))


def hosts_of(names: pa.LargeStringArray) -> pa.LargeStringArray:
    """The hosts, as in `pages`, of the nodes of a graph of hosts."""
    return pa.array(split_by_host(names).hosts, pa.large_string())


def name_bytes(offsets: Offsets, data: Bytes) -> Bytes:
    """The bytes of the names of URLs, each of which is as long as its URL."""
    made = np.empty(offsets[-1] - offsets[0], np.uint8)
    fill_names(offsets, data, made)
    return made


@native
def fill_names(offsets: Offsets, data: Bytes, made: Bytes) -> None:
    first = offsets[0]
    for begin, end in string_bounds(offsets, data):
        made[begin - first : end - first] = name_of(bytes(data[begin:end]).decode()).encode()


def find_host_runs(offsets: Offsets, data: Bytes) -> tuple[Numbers, Numbers]:
    """The runs of names with the same host: the first name of each, and the length of its host.

    The host of a name is all before its second space.
    """
    starts = np.empty(offsets.size - 1, np.int64)
    lengths = np.empty_like(starts)
    count = fill_host_runs(offsets, data, starts, lengths)
    return starts[:count], lengths[:count]


@native
def fill_host_runs(offsets: Offsets, data: Bytes, starts: Numbers, lengths: Numbers) -> int:
    """Write where the runs begin, and the lengths of their hosts; return their number."""
    count, host = 0, None
    for number, (begin, end) in enumerate(string_bounds(offsets, data)):
        name = bytes(data[begin:end])
        if host is None or not name.startswith(host + b" "):
            host = b" ".join(name.split(b" ", FIELDS_OF_HOST)[:FIELDS_OF_HOST])
            starts[count], lengths[count] = number, len(host)
            count += 1
    return count


def url_bytes(
    offsets: Offsets,
    data: Bytes,
    starts: Numbers,
    lengths: Numbers,
    host_offsets: Offsets,
    hosts: Bytes,
) -> tuple[Offsets, Bytes]:
    """The URLs of names: `scheme://host/path`, of `… scheme /path` and the host of their run.

    Of a name that is a host, the host.
    """
    count = offsets.size - 1
    ends = np.empty(count + 1, np.int64)
    names = np.diff(starts, append=count)
    added = names @ (np.diff(host_offsets) + len("://"))
    made = np.empty(added + offsets[-1] - offsets[0], np.uint8)
    size = fill_urls(offsets, data, starts, lengths, host_offsets, hosts, ends, made)
    return ends, made[:size]


@native
def fill_urls(
    offsets: Offsets,
    data: Bytes,
    starts: Numbers,
    lengths: Numbers,
    host_offsets: Offsets,
    hosts: Bytes,
    ends: Numbers,
    made: Bytes,
) -> int:
    """Write where each URL ends, and their bytes; return how many."""
    at, run = 0, -1
    ends[0] = 0
    for number, (begin, end) in enumerate(string_bounds(offsets, data)):
        if run + 1 < len(starts) and starts[run + 1] == number:
            run += 1
        name = bytes(data[begin:end])
        host = bytes(hosts[host_offsets[run] : host_offsets[run + 1]])
        if lengths[run] < len(name):
            scheme, _, path = name[lengths[run] + 1 :].partition(b" ")
            host = scheme + b"://" + host + path
        made[at : at + len(host)] = host
        at += len(host)
        ends[number + 1] = at
    return at
