"""Graphs in files that other programs wrote become files that `BvGraph` reads safely.

Their bits are copied, so that nobody changes them while they are read, and filled with zeros to the
end of a word. The positions of rows are found anew by one pass over the bits, which checks all
that can be checked without the successors: so files of offsets are not needed, and cannot lie.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gossamer.errors import StoreError
from gossamer.links.bvgraph import REMEDY, codes, properties
from gossamer.links.bvgraph.codes import WORD_BITS, WORD_BYTES
from gossamer.links.bvgraph.files import (
    CHUNK,
    ZERO_IN_GAMMA,
    BitFile,
    BvGraph,
    map_words,
    with_ending,
    write_properties,
)
from gossamer.links.bvgraph.measuring import measure_rows
from gossamer.storage.errors import disk_errors, system_error

if TYPE_CHECKING:
    from gossamer.links.bvgraph.properties import Properties

ALWAYS_ARCS = 100_000_000
ARCS_PER_BIT = 1_000
"""A graph of more arcs than ALWAYS_ARCS has at most so many per bit. Graphs of the web have less
than 10; a file of a megabyte may stand for 10^13 arcs, which would fill any disk."""


def adopt_graph(source: Path, target: Path) -> BvGraph:
    """Copy a graph to files that did not exist, and open these. Both paths lack an ending.

    Raises StoreError, with the path of the source, if its files are missing, damaged, or those of
    another kind of graph.
    """
    found = properties.read_properties(with_ending(source, ".properties"))
    bits, copied = Path(with_ending(source, ".graph")), with_ending(target, ".graph")
    _copy_to_words(bits, Path(copied))
    words = map_words(copied)
    size = WORD_BITS * words.size
    if found.nodes > size:  # each takes at least a bit
        raise _damage_error(bits, f"it is too short for {found.nodes:,} nodes")
    if found.arcs > max(ALWAYS_ARCS, ARCS_PER_BIT * size):
        raise _damage_error(bits, f"{found.arcs:,} arcs in {size:,} bits are no graph of pages")
    _write_offsets(words, found, bits, target)
    write_properties(target, found)
    return BvGraph(target, source)


def _copy_to_words(source: Path, target: Path) -> None:
    """Copy a file, and append zeros up to a whole word."""
    try:
        if not source.is_file():
            source.stat()
            raise StoreError(source, "is not a file", "give the path of a graph without .graph")
        with source.open("rb") as file, disk_errors(target), target.open("xb") as copied:
            shutil.copyfileobj(file, copied, 1 << 20)
            copied.write(bytes(-copied.tell() % WORD_BYTES))
    except OSError as error:
        raise system_error(error, source) from None


def _write_offsets(words: codes.Words, found: Properties, bits: Path, target: Path) -> None:
    window, _, *rest = found.shape
    recent = np.zeros(window + 1, np.int64)
    file = BitFile(with_ending(target, ".offsets"))
    file.append(ZERO_IN_GAMMA, 0, 1)
    at = arcs = 0
    for first in range(0, found.nodes, CHUNK):
        lengths = np.zeros(min(CHUNK, found.nodes - first), np.int64)
        at, more = measure_rows(words, at, first, found.nodes, recent, lengths, window, *rest)
        arcs += more
        if at < 0 or arcs > found.arcs:
            break
        coded = np.zeros(2 * lengths.size + 2, np.uint64)
        file.append(coded, 0, codes.write_gammas(coded, 0, lengths))
    file.close()
    if at < 0:
        raise _damage_error(bits, "its bits are no rows")
    if arcs != found.arcs:
        what = "more" if arcs > found.arcs else f"{arcs:,}"
        raise _damage_error(bits, f"its properties promise {found.arcs:,} arcs, and it has {what}")


def _damage_error(path: Path, what: str) -> StoreError:
    return StoreError(path, f"this graph is damaged: {what}", REMEDY)
