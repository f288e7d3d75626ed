"""The names of a graph in arrays: the domain of each node, and its URL.

A name begins with its host (`graph/names.py`), and neighbours mostly have the same one. So a host
is looked at once per run of names, and bytes are copied by compiled code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from gossamer.bvgraph.compiled import compiled
from gossamer.errors import MissingFile
from gossamer.graph.names import url_of
from gossamer.suffixes import registrable
from gossamer.urls import LOCALHOST

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import numpy.typing as npt

    from gossamer.bvgraph.codes import Numbers
    from gossamer.rank.kernels import Indices

    Bytes = npt.NDArray[np.uint8]
    Offsets = npt.NDArray[np.int64]

BATCH = 1 << 17
"""Names that are decoded at once: some megabytes."""
SPACE = 32
FIELDS_OF_HOST = 2
"""Fields of a name, each before a space, that make the host."""


def batches(paths: Iterable[str]) -> Iterator[pa.LargeStringArray]:
    """All names, in the order of their numbers. Raises MissingFile."""
    for path in paths:
        try:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(BATCH, columns=["name"]):
                    yield batch.column(0).cast(pa.large_string())
        except (OSError, pa.ArrowException) as error:
            raise MissingFile(path, str(error).strip()) from None


class Runs(NamedTuple):
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


def runs_of(names: pa.LargeStringArray) -> Runs:
    offsets, data = _bytes_of(names)
    starts, lengths = host_runs(offsets, data)
    begins = offsets[starts]
    view = data.data
    hosts = [
        url_of(bytes(view[begin:end]).decode()) or LOCALHOST
        for begin, end in zip(begins.tolist(), (begins + lengths).tolist(), strict=True)
    ]
    return Runs(offsets, data, starts, lengths, hosts)


class Domains:
    """Numbers the registrable domains of hosts."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def of(self, hosts: Iterable[str]) -> Indices:
        """The number of the domain of each host."""
        numbers = self._numbers
        found = (numbers.setdefault(registrable(host), len(numbers)) for host in hosts)
        return np.fromiter(found, np.int32)


def urls(names: pa.LargeStringArray) -> pa.LargeStringArray:
    """The URLs of pages."""
    runs = runs_of(names)
    named = [
        host if length > 1 else "" for host, length in zip(runs.hosts, runs.lengths, strict=True)
    ]
    offsets, data = _bytes_of(pa.array(named, pa.large_string()))
    ends, made = joined(runs.offsets, runs.data, runs.starts, runs.lengths, offsets, data)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(made)]
    return pa.Array.from_buffers(pa.large_string(), len(names), buffers)


def hosts(names: pa.LargeStringArray) -> pa.LargeStringArray:
    """The hosts, as in `pages`, of the nodes of a graph of hosts."""
    return pa.array(runs_of(names).hosts, pa.large_string())


def _bytes_of(strings: pa.LargeStringArray) -> tuple[Offsets, Bytes]:
    """Where each string begins and the last one ends, and the bytes of all."""
    _, offsets, data = strings.buffers()
    begin, end = strings.offset, strings.offset + len(strings) + 1
    found = np.frombuffer(data if data is not None else b"", np.uint8)
    return np.frombuffer(offsets, np.int64)[begin:end], found


@compiled
def host_runs(offsets: Offsets, data: Bytes) -> tuple[Numbers, Numbers]:
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
def joined(
    offsets: Offsets,
    data: Bytes,
    starts: Numbers,
    lengths: Numbers,
    host_offsets: Offsets,
    hosts: Bytes,
) -> tuple[Offsets, Bytes]:
    """The URLs of names: `scheme://host/path`, of `… scheme /path` and the host of their run."""
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
        while begin < end and data[begin] != SPACE:
            made[at] = data[begin]
            begin, at = begin + 1, at + 1
        made[at : at + 3] = separator
        at += 3
        for n in range(host_offsets[run], host_offsets[run + 1]):
            made[at] = hosts[n]
            at += 1
        for n in range(begin + 1, end):
            made[at] = data[n]
            at += 1
        ends[name + 1] = at
    return ends, made[:at]
