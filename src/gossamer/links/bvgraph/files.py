"""Graphs in the files of WebGraph.

  NAME.graph       the rows of all nodes, one after the other (see `bvgraph`), and zeros to the end
                   of a word
  NAME.offsets     the positions of the rows in NAME.graph, in bits: 0, then the length of each
                   row, in γ
  NAME.properties  the numbers of nodes and arcs, and the parameters, as Java's properties

A graph may be written in parts, each with the files of a graph, whose bits are joined afterwards.
As references do not leave a chunk of CHUNK nodes, the files are the same whatever the parts are, if
each but the last one has whole chunks.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from gossamer.errors import StoreError
from gossamer.links.bvgraph import ORIGINAL, REMEDY, Shape, codes, offsets, properties
from gossamer.links.bvgraph.codes import WORD_BITS, WORD_BYTES
from gossamer.links.bvgraph.decoding import decode_rows
from gossamer.links.bvgraph.encoding import encode_rows
from gossamer.links.bvgraph.properties import Properties
from gossamer.storage.errors import disk_errors, system_error
from gossamer.storage.kept_objects import create_kept, write_kept
from gossamer.storage.local_copies import local_copy

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gossamer.links.bvgraph.codes import Numbers, Words

CHUNK = 4_096
"""Nodes of a chunk. References that would leave it are not made, which bench/graph.py cannot tell
from the original's size."""
SAMPLED = 64
"""Offsets are found from every SAMPLED-th one, which are held in memory."""
BUFFER_WORDS = 1 << 17
KEPT = 64
"""Rows to which others may refer are kept: at most so many times the successors read at a time."""

ZERO_IN_GAMMA = np.frombuffer(b"\x80" + bytes(WORD_BYTES - 1), np.uint64)


class Csr(NamedTuple):
    """Rows of successors: those of row n are `targets[starts[n]:starts[n + 1]]`, ascending."""

    starts: Numbers
    targets: Numbers


class BitFile:
    """A new file to which bits are appended."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file = create_kept(path)
        self._words = np.zeros(BUFFER_WORDS, np.uint64)
        self._at = 0

    def append(self, words: Words, begin: int, bits: int) -> None:
        if self._at + bits > WORD_BITS * (self._words.size - 1):
            self._flush()
        if bits > WORD_BITS * (self._words.size - 2):
            self._words = np.concatenate([self._words[:1], np.zeros(bits // 64 + 2, np.uint64)])
        self._at = codes.copy_bits(self._words, self._at, words, begin, bits)

    def _flush(self) -> None:
        whole = self._at >> 6
        with disk_errors(self._path):
            self._file.write(self._words[:whole].tobytes())
        last = self._words[whole]
        self._words[: whole + 1] = 0
        self._words[0], self._at = last, self._at & 63

    def close(self) -> tuple[int, str]:
        """Fill the last word with zeros; return the size in bytes and the checksum."""
        with disk_errors(self._path):
            self._file.write(self._words[: -(-self._at // 64)].tobytes())
            self._file.close()
        return self._file.size, self._file.xxh3


class WrittenFile(NamedTuple):
    """A file that was written."""

    name: str
    bytes: int
    xxh3: str


class GraphWriter:
    """Writes a graph, or a part of one that begins with the node `first`."""

    def __init__(self, base: str | Path, shape: Shape = ORIGINAL, first: int = 0) -> None:
        """`base`: the path or URL without an ending."""
        self._first = first
        self.nodes = self.arcs = 0
        self._base, self._shape = base, shape
        self._graph = BitFile(with_ending(base, ".graph"))
        self._offsets = BitFile(with_ending(base, ".offsets"))
        self._offsets.append(ZERO_IN_GAMMA, 0, 1)  # the offset of the first row, 0

    def append(self, rows: Csr) -> None:
        """Append rows, whose references do not leave them."""
        starts, targets = rows
        ends = np.zeros(starts.size - 1, np.int64)
        words, bits = encode_rows(self._first + self.nodes, starts, targets, *self._shape, ends)
        self._graph.append(words, 0, bits)
        lengths = np.diff(ends, prepend=0)
        words = np.zeros(2 * lengths.size + 2, np.uint64)
        self._offsets.append(words, 0, codes.write_gammas(words, 0, lengths))
        self._count(starts.size - 1, targets.size)

    def join(self, part: BvGraph) -> None:
        """Append the rows of another graph, the first of which has the number `nodes`."""
        self._graph.append(part.words, 0, part.bits)
        self._offsets.append(part.offsets, 1, part.offset_bits - 1)
        self._count(part.nodes, part.arcs)

    def _count(self, nodes: int, arcs: int) -> None:
        self.nodes += nodes
        self.arcs += arcs

    def close(self) -> list[WrittenFile]:
        name = PurePath(self._base).name
        written = [
            WrittenFile(f"{name}.graph", *self._graph.close()),
            WrittenFile(f"{name}.offsets", *self._offsets.close()),
        ]
        found = Properties(self.nodes, self.arcs, self._shape)
        return [*written, write_properties(self._base, found)]


def write_properties(base: str | Path, found: Properties) -> WrittenFile:
    """Write the properties of a graph."""
    path = with_ending(base, ".properties")
    file = write_kept(path, str(found).encode())
    return WrittenFile(PurePath(path).name, file.size, file.xxh3)


class BvGraph:
    """A graph in the files of WebGraph, which are mapped into memory.

    Raises StoreError for files that are missing, damaged, or of another kind of graph.
    """

    def __init__(self, base: str | Path, original: Path | None = None) -> None:
        """`base`: the path or URL without an ending. `original`: what errors name instead."""
        self.path = str(original or base)
        self.nodes, self.arcs, self.shape = properties.read_properties(
            with_ending(base, ".properties")
        )
        self.words = map_words(with_ending(base, ".graph"))
        self.offsets = map_words(with_ending(base, ".offsets"))
        if self.nodes > WORD_BITS * self.offsets.size:  # each takes at least a bit
            raise self._damage_error()

    @cached_property
    def _samples(self) -> Numbers:
        """The positions of some rows, for which all offsets are read."""
        last = WORD_BITS * self.words.size
        found = offsets.sample_offsets(self.offsets, self.nodes, SAMPLED, last)
        if not 0 <= int(found[-1, 0]) <= last:
            raise self._damage_error()
        return found

    @property
    def bits(self) -> int:
        """The size of the rows."""
        return int(self._samples[-1, 0])

    @property
    def offset_bits(self) -> int:
        return int(self._samples[-1, 1])

    def outdegrees(self, first: int, count: int) -> Numbers:
        """The numbers of successors of nodes, from `first` on."""
        found = np.empty(count, np.int64)
        offsets.read_outdegrees(self.words, self.offsets, self._samples, SAMPLED, first, found)
        if count and not 0 <= int(found.min()) <= int(found.max()) <= self.nodes:
            raise self._damage_error()
        return found

    def successors(self, node: int) -> Numbers:
        """The successors of a node, ascending."""
        return self.rows_of(np.array([node])).targets

    def rows_of(self, nodes: Numbers) -> Csr:
        """The rows of some nodes, in their order."""
        window, _, *rest = self.shape
        starts, targets, is_whole = offsets.read_rows(
            self.words, self.offsets, self._samples, SAMPLED, nodes, self.nodes, window, *rest
        )
        if not is_whole:
            raise self._damage_error()
        return Csr(starts, targets)

    def rows(
        self, count: int = CHUNK, first: int = 0, last: int | None = None, most: int | None = None
    ) -> Iterator[Csr]:
        """The rows of the nodes from `first` to before `last`, by default all, `count` at a time.

        `most`: at a time, only as many as have this number of successors together, or one.
        Several threads may read rows: decoding runs without the GIL.
        """
        window, _, *rest = self.shape
        last = self.nodes if last is None else last
        kept = self._rows_before(first)  # rows to which others may refer
        at, end = self._row_offset(first), self._row_offset(last)
        begin, arcs = first, 0
        while begin < last:
            have = kept.starts.size - 1
            degrees = self.outdegrees(begin, min(count, last - begin))
            if most is not None:
                degrees = degrees[: max(np.searchsorted(degrees.cumsum(), most, "right"), 1)]
            arcs += int(degrees.sum())
            if arcs > self.arcs:
                raise self._damage_error()
            starts = np.concatenate([kept.starts, np.zeros(degrees.size, np.int64)])
            targets = np.concatenate([kept.targets, np.empty(int(degrees.sum()), np.int64)])
            at = decode_rows(self.words, at, begin - have, have, starts, targets, window, *rest)
            if at < 0 or at > end or starts[-1] != targets.size:
                raise self._damage_error()
            if targets.max(initial=0) >= self.nodes:
                raise self._damage_error()
            yield Csr(starts[have:] - starts[have], targets[starts[have] :])
            oldest = max(starts.size - 1 - window, 0)
            kept = Csr(starts[oldest:] - starts[oldest], targets[starts[oldest] :])
            if most is not None and kept.targets.size > KEPT * most:
                what = f"{window} rows, to which one may refer, are too long to be held in memory"
                raise StoreError(self.path, what, "store the graph again with a smaller window")
            begin += degrees.size
        if at != end or (last - first == self.nodes and arcs != self.arcs):
            raise self._damage_error()

    def _rows_before(self, node: int) -> Csr:
        """The rows before a node to which its row may refer."""
        rows = [self.successors(other) for other in range(max(node - self.shape.window, 0), node)]
        starts = np.cumsum([0, *(row.size for row in rows)])
        return Csr(starts, np.concatenate([np.empty(0, np.int64), *rows]))

    def _row_offset(self, node: int) -> int:
        if node == self.nodes:
            return self.bits
        return offsets.row_offset(self.offsets, self._samples, SAMPLED, node)

    def _damage_error(self) -> StoreError:
        return StoreError(
            self.path, "this graph is damaged: its files do not belong together", REMEDY
        )


def with_ending(base: str | Path, ending: str) -> str:
    return f"{base}{ending}"


def map_words(path: str) -> Words:
    """The words of a file. A last one that is not whole is filled with zeros, in memory."""
    try:
        here = local_copy(path)
        size = here.stat().st_size
        if size and not size % WORD_BYTES:
            return np.asarray(np.memmap(here, np.uint64, "r"))
        data = here.read_bytes()
    except OSError as error:
        raise system_error(error, path) from None
    return np.frombuffer(data.ljust(-(-size // WORD_BYTES) * WORD_BYTES, b"\0"), np.uint64)
