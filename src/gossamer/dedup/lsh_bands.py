"""Which texts may be similar? Those whose sketches agree in a whole band (see sketches.py).

`band_hashes` makes a hash of each band of a sketch. Tasks share these out by ranges of the hashes
(`share_out_bands`), and others write the pairs of texts that share one (`write_pairs`). If few
texts are new, only their bands are shared out, and what the known ones have of these. The engine
could do it by a join, but its hash table of 140 million bands takes 3 GB and does not spill.

A band that very many texts share would make a quadratic number of pairs: pages that consist of
boilerplate, "404" pages, one product in a thousand colours. If more than MAX_SHARING texts share a
band, each is paired with its next NEIGHBOURS in an order that is random and another one in each
band, and with the text of the lowest hash, which is the same in all bands. Texts that are really
similar share other, rarer bands, too. And a group of texts that are all similar is connected by
these pairs, which is enough for near_duplicates.py to find the pairs with its survivor.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from gossamer.dedup.hash_filter import HashFilter
from gossamer.storage import parquet, task_output
from gossamer.storage.names import SCRATCH
from gossamer.storage.task_output import ParquetWriter, balance_files
from gossamer.web.sketches import BAND_VALUES, BANDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt
    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import File
    from gossamer.storage.task_output import Row

    Integers = npt.NDArray[np.int64]

PART_BANDS = 20_000_000
"""Bands that a task holds, in about a gigabyte."""
FEW = 10_000
"""Texts whose bands a single task pairs, in a tenth of a second."""
MAX_SHARING = 32
NEIGHBOURS = 4
PAIRS = pa.schema([("one", pa.int64()), ("other", pa.int64())])
BAND_ROWS = pa.schema([("band", pa.int64()), ("text", pa.int64()), ("is_new", pa.bool_())])
READ_ROWS = 16_384
"""Texts whose bands are read at once: they stay in the processor's cache."""
BAND_BYTES = 8
BAND_HASHES_DDL = "text long, bands binary"

_MIXING, _SHIFT = (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53), 33
_RANDOM = {"compression": "none", "use_dictionary": False}
"""Hashes cannot be compressed."""
_FACTORS = np.random.default_rng(1).integers(
    0, 1 << 63, (BANDS, BAND_VALUES), np.uint64
) | np.uint64(1)


def candidate_pairs(work: Workspace, known: Sequence[File], new: Sequence[File]) -> DataFrame:
    """Pairs of texts (`one` < `other`, each once) that share a band, at least one of them new.

    Both are files with rows of `sketched`. Rows of a text in several layers have the same bands, so
    outdated ones of `known` do no harm.
    """
    fresh = sum(file.rows for file in new)
    few = fresh * BANDS <= PART_BANDS // 4
    every = fresh + sum(file.rows for file in known)
    rows = fresh if few else every
    parts = 1 if rows <= FEW else max(work.engine.workers, -(-rows * BANDS // PART_BANDS))
    attempt = work.scratch_attempt()
    wanted = tuple(file.path for file in new) if few else ()
    shared = [
        BandTask(work.root, tuple(file.path for file in files), counting, parts, attempt, is_new)
        for every_file, counting, is_new in ((known, wanted, False), (new, (), True))
        for files in balance_files(every_file, work.engine.workers)
    ]
    run = partial(work.engine.map_tasks, schema=task_output.YIELD, ddl=task_output.YIELD_DDL)
    held: dict[str, list[str]] = {}
    for row in run(shared, share_out_bands, at_home=every <= FEW):
        held.setdefault(row["name"], []).append(row["path"])
    tasks = [PairTask(work.root, tuple(paths), attempt) for paths in held.values()]
    paths = [f"{work.root}/{row['path']}" for row in run(tasks, write_pairs, at_home=rows <= FEW)]
    return work.engine.read(paths, "one long, other long").distinct()


def band_hashes(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """From `text` and `sketch` to `text` and the hashes of its `bands`; none without a sketch."""
    for batch in batches:
        column = batch.column("sketch")
        sketches = np.frombuffer(b"".join(column.drop_null().to_pylist()), "<u4")
        values = sketches.reshape(-1, BANDS, BAND_VALUES).astype(np.uint64)
        sums = mix_band_hashes((values * _FACTORS).sum(axis=2, dtype=np.uint64)).astype(
            "<u8", copy=False
        )
        sizes = np.asarray(column.is_valid()) * (BANDS * BAND_BYTES)
        offsets = np.concatenate(([0], np.cumsum(sizes))).astype("<i4")
        held = [None, pa.py_buffer(offsets), pa.py_buffer(sums)]
        bands = pa.Array.from_buffers(pa.binary(), batch.num_rows, held)
        yield pa.RecordBatch.from_arrays([batch.column("text"), bands], names=["text", "bands"])


def mix_band_hashes(hashes: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """The finalizer of MurmurHash3: each bit of the result depends on all bits."""
    for factor in _MIXING:
        hashes = (hashes ^ (hashes >> np.uint64(_SHIFT))) * np.uint64(factor)
    return hashes ^ (hashes >> np.uint64(_SHIFT))


class BandTask(NamedTuple):
    """The input of a task: files with `text` and `bands`, and `wanted` ones whose bands count."""

    root: str
    paths: tuple[str, ...]
    wanted: tuple[str, ...]
    """If there are none, all bands count."""
    parts: int
    attempt: str
    is_new: bool


def share_out_bands(task: BandTask) -> list[Row]:
    """Write the bands of files with their texts; name each written file by its part."""
    writers: dict[int, ParquetWriter] = {}
    for texts, bands in _bands_to_share_out(task):
        part = (bands.view(np.uint64) % np.uint64(task.parts)).astype(np.int64)
        order = np.argsort(part, kind="stable")
        ends = np.cumsum(np.bincount(part, minlength=task.parts))
        for number, (begin, end) in enumerate(pairwise((0, *ends.tolist()))):
            if begin < end:
                rows = bands[order[begin:end]], texts[order[begin:end]]
                writer = writers.setdefault(
                    number,
                    ParquetWriter(
                        task.root, SCRATCH, task.attempt, schema=BAND_ROWS, encoding=_RANDOM
                    ),
                )
                is_new = pa.array(np.full(end - begin, task.is_new))
                writer.write(pa.table([*rows, is_new], schema=BAND_ROWS))
    return [row | {"name": str(part)} for part, writer in writers.items() for row in writer.close()]


def _bands_to_share_out(task: BandTask) -> Iterator[tuple[Integers, Integers]]:
    """The texts and bands that a task shares out."""
    found = _read_bands(task.root, task.paths)
    if not task.wanted:
        yield from ((texts.repeat(BANDS), bands) for texts, bands in found)
        return
    wanted = HashFilter(np.concatenate([bands for _, bands in _read_bands(task.root, task.wanted)]))
    for texts, bands in found:
        counts = wanted.places(bands)
        yield texts[counts // BANDS], bands[counts]


def _read_bands(root: str, paths: Iterable[str]) -> Iterator[tuple[Integers, Integers]]:
    """The texts in files of `text` and `bands` that have bands, and these, in batches."""
    for path in paths:
        with parquet.open_parquet(f"{root}/{path}") as file:
            for batch in file.iter_batches(READ_ROWS, columns=["text", "bands"], use_threads=False):
                column = batch.column("bands")
                _, offsets, bands = column.buffers()
                if bands is None:
                    continue
                # Those of rows without bands are empty, so the others' are one after the other.
                ends = np.frombuffer(offsets, "<i4")[column.offset :][: len(column) + 1]
                held = np.frombuffer(bands, "<i8")[ends[0] // BAND_BYTES : ends[-1] // BAND_BYTES]
                yield batch.column("text").to_numpy()[ends[1:] > ends[:-1]], held


class PairTask(NamedTuple):
    """The input of a task: files with the columns `band`, `text` and `is_new`."""

    root: str
    files: tuple[str, ...]
    attempt: str


def write_pairs(part: PairTask) -> list[Row]:
    """Write the pairs of texts that share a band, at least one of them new; a pair may repeat."""
    rows = pa.concat_tables(parquet.read_table(f"{part.root}/{path}") for path in part.files)
    writer = ParquetWriter(part.root, SCRATCH, part.attempt, schema=PAIRS)
    columns = (rows.column(name).to_numpy() for name in BAND_ROWS.names)
    for one, other in pairs_sharing_bands(*columns):
        writer.write(pa.table([one, other], schema=PAIRS))
    return writer.close()


def pairs_sharing_bands(
    bands: Integers, texts: Integers, is_new: npt.NDArray[np.bool_]
) -> Iterator[tuple[Integers, Integers]]:
    """Pairs of texts that share a band, in arrays; the lower text of each pair comes first."""
    order = np.argsort(bands)
    bands, texts, is_new = bands[order], texts[order], is_new[order]
    begins = np.flatnonzero(np.concatenate(([True], bands[1:] != bands[:-1])))
    sharing = np.diff(np.append(begins, bands.size))
    crowded = np.repeat(sharing > MAX_SHARING, sharing)
    members = np.flatnonzero(crowded)
    shuffled = mix_band_hashes(
        texts[members].view(np.uint64) ^ mix_band_hashes(bands[members].view(np.uint64))
    )
    order = members[np.lexsort((shuffled, bands[members]))]
    texts[members], is_new[members] = texts[order], is_new[order]

    def make_pairs(one: Integers, other: Integers) -> tuple[Integers, Integers]:
        kept = (is_new[one] | is_new[other]) & (texts[one] != texts[other])
        ends = texts[one[kept]], texts[other[kept]]
        return np.minimum(*ends), np.maximum(*ends)

    left = np.arange(bands.size)
    for distance in range(1, MAX_SHARING):
        left = left[left + distance < bands.size]
        left = left[bands[left] == bands[left + distance]]
        if distance > NEIGHBOURS:
            left = left[~crowded[left]]
        if not left.size:
            break
        yield make_pairs(left, left + distance)
    if members.size:
        # The lowest text of each band, for each of its members.
        by_text = np.lexsort((texts, bands))
        lowest = np.repeat(by_text[begins], sharing)
        yield make_pairs(lowest[members], members)
