"""Names of a graph in arrays: those of URLs, the domains of nodes, and their URLs.

A name begins with its host (`links/graph/names.py`), and neighbours mostly have the same one. So a
host is looked at once per run of names, and bytes are copied by compiled code.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from gossamer.errors import MissingFile
from gossamer.links.bvgraph.compiled import compiled
from gossamer.links.graph.names import url_of
from gossamer.links.graph.string_arrays import strings_of, text_of
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
SPACE, COMMA, DOT, SLASH, COLON, ZERO, NINE, A, Z = b" ,./:09az"
SCHEME = tuple(b"+-.")
"""Characters of schemes that are neither letters nor digits (RFC 3986 §3.1)."""
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


@compiled
def name_bytes(offsets: Offsets, data: Bytes) -> Bytes:
    """The bytes of the names of URLs, each of which is as long as its URL.

    `scheme://host:port/path` becomes `host :port scheme /path`, with the labels of the host in
    reverse order and commas between them; what is not of this form stays as it is.
    """
    made = np.empty(offsets[-1] - offsets[0], np.uint8)
    for url in range(offsets.size - 1):
        begin, end = offsets[url], offsets[url + 1]
        at = begin - offsets[0]
        colon, port, slash = _find_fields(data, begin, end)
        if slash == end:
            made[at : at + end - begin] = data[begin:end]
            continue
        host = colon + 3
        after = port
        for label in range(port, host - 1, -1):
            if label == host or data[label - 1] == DOT:
                at = _copy_bytes(made, at, data, label, after)
                after = label - 1
                if label > host:
                    made[at] = COMMA
                    at += 1
        for first, last in ((port, slash), (begin, colon), (slash, end)):
            made[at] = SPACE
            at = _copy_bytes(made, at + 1, data, first, last)
    return made


@compiled
def _find_fields(data: Bytes, begin: int, end: int) -> tuple[int, int, int]:
    """Where the scheme of a URL ends, its port begins, and its path; all at the end if none."""
    colon = begin
    while colon < end and (
        A <= data[colon] <= Z
        or (colon > begin and (ZERO <= data[colon] <= NINE or data[colon] in SCHEME))
    ):
        colon += 1
    slash = colon + 3
    if colon == begin or slash >= end or data[colon] != COLON:
        return end, end, end
    if data[colon + 1] != SLASH or data[colon + 2] != SLASH:
        return end, end, end
    while slash < end and data[slash] != SLASH:
        slash += 1
    port = slash
    while port > colon + 3 and ZERO <= data[port - 1] <= NINE:
        port -= 1
    has_port = colon + 3 < port < slash and data[port - 1] == COLON
    return colon, port - 1 if has_port else slash, slash


@compiled
def _copy_bytes(made: Bytes, at: int, data: Bytes, begin: int, end: int) -> int:
    """Copy bytes to a place, and return where they end there.

    Slices are indexed from 0: numba would look whether other indices are negative, once per byte.
    """
    source, target = data[begin:end], made[at : at + end - begin]
    for n in range(source.size):
        target[n] = source[n]
    return at + source.size


@compiled
def find_host_runs(offsets: Offsets, data: Bytes) -> tuple[Numbers, Numbers]:
    """The runs of names with the same host: the first name of each, and the length of its host.

    The host of a name is all before its second space.
    """
    starts = np.empty(max(offsets.size - 1, 0), np.int64)
    lengths = np.empty_like(starts)
    count = 0
    for name in range(starts.size):
        begin, end = offsets[name], offsets[name + 1]
        if count:
            length = lengths[count - 1]
            before = offsets[starts[count - 1]]
            same = begin + length < end and data[begin + length] == SPACE
            at = 0
            while same and at < length:
                same = data[begin + at] == data[before + at]
                at += 1
            if same:
                continue
        spaces, length = 0, 0
        while begin + length < end:
            spaces += data[begin + length] == SPACE
            if spaces == FIELDS_OF_HOST:
                break
            length += 1
        starts[count], lengths[count] = name, length
        count += 1
    return starts[:count], lengths[:count]


@compiled
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
    ends = np.zeros(count + 1, np.int64)
    separator = np.array([58, 47, 47], np.uint8)  # "://"
    longest = 0
    for run in range(starts.size):
        after = starts[run + 1] if run + 1 < starts.size else count
        longest += (after - starts[run]) * (host_offsets[run + 1] - host_offsets[run] + 3)
    made = np.empty(longest + offsets[count] - offsets[0], np.uint8)
    at, run = 0, -1
    for name in range(count):
        if run + 1 < starts.size and starts[run + 1] == name:
            run += 1
        begin, end = offsets[name] + lengths[run] + 1, offsets[name + 1]
        if begin <= end:
            while begin < end and data[begin] != SPACE:
                made[at] = data[begin]
                begin, at = begin + 1, at + 1
            made[at : at + 3] = separator
            at += 3
        at = _copy_bytes(made, at, hosts, host_offsets[run], host_offsets[run + 1])
        at = _copy_bytes(made, at, data, begin + 1, end)
        ends[name + 1] = at
    return ends, made[:at]
