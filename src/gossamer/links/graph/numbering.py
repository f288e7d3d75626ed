"""Pages get numbers in the order of their names.

As in any sort that does not fit into memory, there are runs: names in their order, each once, as a
task found them. They are shared among further tasks by ranges of names, which merge all runs and
write the names for readers. Then each run can be given the numbers of its names.
"""

from __future__ import annotations

import uuid
from bisect import bisect_left
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.links.graph import name_arrays, names, task_files
from gossamer.links.graph.string_arrays import string_bounds, text_of
from gossamer.native import are_places, native
from gossamer.storage import opening, task_output
from gossamer.storage.errors import disk_errors
from gossamer.storage.local_copies import local_copy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.links.graph.string_arrays import Bytes, Offsets
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import File
    from gossamer.storage.task_output import Row

MEGABYTE = 1_000_000
NAME_BYTES = 500
"""Memory that a task takes per name: 220 bytes for URLs of 71; longer ones take more."""
SAMPLES_PER_PART = 100
NAMES, PLACES, NUMBERS = "names", "places", "numbers"
"""Kinds of scratch files: the names of runs, links as places among them, and numbers of names."""


class Slice(NamedTuple):
    """A range of the names of a run, or of an array of numbers."""

    path: str
    first: int
    last: int


@dataclass(frozen=True)
class NamesToMerge:
    """A task: merge a range of the names of all runs."""

    root: str
    number: int
    slices: tuple[Slice, ...]
    """Of each run."""
    attempt: str
    scratch: str


@dataclass(frozen=True)
class NumbersOfRun:
    """The numbers of the names of a run, in their order: files and where it is in them."""

    slices: tuple[Slice, ...]
    """Of each part: the numbers of the run's names in it, from that of its first name on."""
    firsts: tuple[int, ...]
    """The number of each part's first name."""

    def load(self, root: str) -> Numbers:
        return np.concatenate(
            [
                task_files.open_array(f"{root}/{path}")[begin:end] + first
                for (path, begin, end), first in zip(self.slices, self.firsts, strict=False)
            ]
        )


@dataclass(frozen=True)
class NumberedNodes:
    """The pages of a graph: how many they are, the files of their names, and what runs need."""

    count: int
    files: tuple[File, ...]
    of_runs: tuple[NumbersOfRun, ...]


def number_names(work: Workspace, listed: Sequence[File], attempt: str) -> NumberedNodes:
    """Number the names of runs (`save_names`), and write them for readers."""
    if not listed:
        return NumberedNodes(0, (), ())
    scratch = work.scratch_attempt()
    paths = [f"{work.root}/{file.path}" for file in listed]
    cuts = _cut_into_parts(paths, work.config.graph.memory_mb * MEGABYTE)
    parts = [
        NamesToMerge(work.root, number, tuple(map(Slice, paths, begins, ends)), attempt, scratch)
        for number, (begins, ends) in enumerate(pairwise(cuts))
        if begins != ends
    ]
    made = task_files.map_to_files(work, parts, merge_names)
    firsts = tuple(accumulate((file.rows for file in made["graph"]), initial=0))
    numbers = [
        _numbers_of_runs(part, file) for part, file in zip(parts, made[NUMBERS], strict=True)
    ]
    of_runs = (NumbersOfRun(slices, firsts) for slices in zip(*numbers, strict=True))
    return NumberedNodes(firsts[-1], made["graph"], tuple(of_runs))


def merge_names(part: NamesToMerge) -> Iterator[Row]:
    """Write the names of a part, and of the names of each run, which of these they are."""
    found, numbers = sort_distinct(
        pa.concat_arrays(_open_names(path)[begin:end] for path, begin, end in part.slices)
    )
    writer = names.NamesWriter(part.root, part.attempt, "page", part.number)
    for begin in range(0, len(found), name_arrays.BATCH):
        some = found[begin : begin + name_arrays.BATCH]
        writer.write(pa.table({"name": some.cast(pa.string())}))
    yield from writer.close()
    yield task_files.save_array(part.root, part.scratch, NUMBERS, part.number, numbers)


def sort_distinct(given: pa.LargeStringArray) -> tuple[pa.LargeStringArray, Numbers]:
    """Sort strings, each once; return also, for each of those given, which of them it is."""
    order = pc.sort_indices(given).to_numpy()
    firsts, ranks = np.empty((2, len(given)), np.int64)
    count = distinct_places(*text_of(given), order.astype(np.int64, copy=False), firsts, ranks)
    return given.take(pa.array(firsts[:count])), ranks


@native
def distinct_places(
    offsets: Offsets, data: Bytes, ascending: Numbers, firsts: Numbers, numbers: Numbers
) -> int:
    """Write the places of different strings in their order, and of each string which of them it is.

    `ascending`: the places of all strings in their order. Returns the number of different ones.
    """
    bounds = [*string_bounds(offsets, data)]
    if not are_places(ascending, len(bounds)):
        raise ValueError("distinct_places: strings that are not inside their bytes")
    count, last = 0, None
    for place in ascending:
        begin, end = bounds[place]
        string = bytes(data[begin:end])
        if string != last:
            firsts[count], last = place, string
            count += 1
        numbers[place] = count - 1
    return count


def save_names(root: str, scratch: str, number: int, listed: pa.LargeStringArray) -> Row:
    """Write the names of a run, which are in their order, so that they can be mapped into memory.

    `number`: that of the task. Returns the file as a row of `task_output.YIELD`.
    """
    path = f"{scratch}/{NAMES}-{number:06}-{uuid.uuid4().hex}.arrow"
    batch = pa.record_batch([listed], [NAMES])
    file = opening.create(f"{root}/{path}")
    with disk_errors(f"{root}/{path}"):
        with pa.ipc.new_file(file, batch.schema) as writer:
            writer.write(batch)
        file.close()
    return task_output.file_row(NAMES, path, len(listed), file.size, "")


def _cut_into_parts(paths: Sequence[str], memory: int) -> list[tuple[int, ...]]:
    """Divide names by a sample; return where each part begins in each run, and the ends of runs."""
    held = [_open_names(path) for path in paths]
    count = sum(map(len, held))
    parts = max(-(-count * NAME_BYTES // memory), 1)
    step = max(count // (parts * SAMPLES_PER_PART), 1)
    sample = sorted(name for each in held for name in each[::step].to_pylist())
    bounds = {sample[len(sample) * part // parts] for part in range(1, parts)}
    cuts = [
        tuple(
            bisect_left(range(len(each)), bound, key=lambda place: each[place].as_py())
            for each in held
        )
        for bound in sorted(bounds)
    ]
    return [tuple(0 for _ in held), *cuts, tuple(map(len, held))]


def _numbers_of_runs(part: NamesToMerge, file: File) -> list[Slice]:
    """Where the numbers of each run's names are in the file of a part."""
    sizes = [end - begin for _, begin, end in part.slices]
    return [Slice(file.path, *ends) for ends in pairwise(accumulate(sizes, initial=0))]


def _open_names(path: str) -> pa.LargeStringArray:
    with pa.memory_map(str(local_copy(path))) as file:
        return pa.ipc.open_file(file).get_batch(0).column(0)
