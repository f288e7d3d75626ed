"""Read the links of the graph: which rows of the dataset links a task reads, and which are votes.

Rows are shared among tasks by whole row groups, as many as fit into `graph.memory_mb`. In Parquet,
URLs are mostly written once per row group, with a number for each row that has them. They are read
like that, so that work on strings is done once per URL of a row group, and not once per link.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.links import current_links
from gossamer.links.graph import name_arrays, numbering, task_files
from gossamer.links.graph.numbering import MEGABYTE
from gossamer.state import sorted_rows
from gossamer.storage import parquet
from gossamer.storage.task_output import ParquetWriter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt

    from gossamer.links.bvgraph.codes import Numbers
    from gossamer.state.workspace import Workspace
    from gossamer.storage.task_output import Row

    Indices = npt.NDArray[np.int32]
    Mask = npt.NDArray[np.bool_]

ENDS = ("src", "dst")
ROW_BYTES = 60
TEXT_COPIES = 6
"""Memory that a task takes per row, and per byte of the columns of URLs as they are encoded."""
FEWEST_BYTES = 64 * MEGABYTE
"""Shares are not made smaller than this to occupy all workers."""
SOURCES = pa.schema([("share", pa.int32()), ("src", pa.string()), ("round", pa.int32())])
SOURCES_DDL = "share int, src string, round int"


class RowGroups(NamedTuple):
    """Row groups of a file, with its absolute path."""

    path: str
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class Share:
    """The rows that a task reads."""

    root: str
    number: int
    groups: tuple[RowGroups, ...]
    counts_nofollow: bool
    scratch: str
    outdated: tuple[str, ...] = ()
    """Files of the pages that answered again since (SOURCES), whose links do not count."""


def share_links(work: Workspace) -> list[Share]:
    """Divide all rows of links among tasks."""
    made = share_files(work, work.paths("links"), tasks=work.engine.workers)
    return _add_outdated_votes(work, made) if current_links.has_history(work) else made


def share_files(
    work: Workspace, paths: Sequence[str], outdated: Sequence[str] = (), *, tasks: int = 1
) -> list[Share]:
    """Divide the rows of some files among concurrent tasks. `outdated`: as in `Share`."""
    found = list(memory_of_groups(paths))
    memory = work.config.graph.memory_mb * MEGABYTE
    total = sum(size for *_, size in found)
    most = min(memory, max(-(-total // tasks), FEWEST_BYTES))
    scratch, old = work.scratch_attempt(), tuple(outdated)
    return [
        Share(work.root, number, tuple(groups), work.config.rank.nofollow, scratch, old)
        for number, groups in enumerate(_fill_shares(found, most))
    ]


def memory_of_groups(paths: Iterable[str]) -> Iterator[tuple[str, int, int]]:
    """The row groups of files: path, number, and the memory that a task takes for it."""
    for path in paths:
        metadata = parquet.metadata(path)
        columns = [metadata.schema.names.index(end) for end in ENDS]
        for number in range(metadata.num_row_groups):
            group = metadata.row_group(number)
            text = sum(group.column(column).total_uncompressed_size for column in columns)
            yield path, number, ROW_BYTES * group.num_rows + TEXT_COPIES * text


def _fill_shares(groups: Iterable[tuple[str, int, int]], most: int) -> Iterator[list[RowGroups]]:
    """Divide row groups into shares of at most `most` bytes, or one group."""
    held: dict[str, list[int]] = {}
    size = 0
    for path, number, bytes_ in groups:
        if held and size + bytes_ > most:
            yield [RowGroups(path, tuple(numbers)) for path, numbers in held.items()]
            held, size = {}, 0
        held.setdefault(path, []).append(number)
        size += bytes_
    if held:
        yield [RowGroups(path, tuple(numbers)) for path, numbers in held.items()]


def _add_outdated_votes(work: Workspace, made: Sequence[Share]) -> list[Share]:
    """Add to each share the pages in it that answered again later."""
    found = task_files.map_to_files(work, made, write_sources)["scratch"]
    paths = [f"{work.root}/{file.path}" for file in found]
    old = current_links.outdated_pages(work, work.engine.read(paths, SOURCES_DDL))
    files = sorted_rows.files_of_parts(work.scratch_files(old.repartition("share"), by=["share"]))
    return [
        replace(share, outdated=tuple(file.path for file in files.get(share.number, ())))
        for share in made
    ]


def write_sources(share: Share) -> Iterator[Row]:
    """Write which pages link in the rows of a share, with the rounds in which they did."""
    table = _read_votes(share, ("src", "round"))
    strings, (pages,) = merge_dictionaries([table["src"]])
    rounds = _integers(table["round"])
    begins = np.flatnonzero(np.diff(pages, prepend=-1) | np.diff(rounds, prepend=-1))
    found = np.unique(np.stack([pages[begins], rounds[begins]]), axis=1)
    file = ParquetWriter(share.root, "scratch", share.scratch, schema=SOURCES)
    columns = [np.full(found.shape[1], share.number), strings.take(pa.array(found[0])), found[1]]
    file.write(pa.table(columns, SOURCES.names))
    yield from file.close()


def name_ends(share: Share) -> Iterator[Row]:
    """Write the names of the ends of links in a share, and the links as places among them."""
    urls, *ends = read_ends(share)
    used = np.zeros(len(urls), np.bool_)
    for end in ends:
        used[end] = True
    if not used.any():
        return
    names, ranks = numbering.sort_distinct(
        name_arrays.names_of(urls if used.all() else urls.filter(pa.array(used)))
    )
    places = np.empty(len(urls), np.int32)
    places[used] = ranks
    yield numbering.save_names(share.root, share.scratch, share.number, names)
    links = np.stack([places[end] for end in ends])
    kind = numbering.PLACES
    yield task_files.save_array(share.root, share.scratch, kind, share.number, links)


def read_ends(share: Share) -> tuple[pa.LargeStringArray, Indices, Indices]:
    """Read the links of a share: URLs, each once, and the places among them of both ends."""
    table = _read_votes(share, (*ENDS, *(["round"] if share.outdated else [])))
    urls, (src, dst) = merge_dictionaries([table[end] for end in ENDS])
    if share.outdated:
        old = pa.concat_tables(
            parquet.read_table(f"{share.root}/{path}") for path in share.outdated
        )
        pages = pc.index_in(old["src"].cast(urls.type), urls).fill_null(-1).to_numpy()
        rounds, last = (_integers(each["round"]) for each in (table, old))
        is_here = pages >= 0
        is_old = np.isin(rounds * len(urls) + src, last[is_here] * len(urls) + pages[is_here])
        src, dst = src[~is_old], dst[~is_old]
    return urls, src, dst


def _read_votes(share: Share, columns: Sequence[str]) -> pa.Table:
    """Read some columns of the votes in a share that count."""
    return pa.concat_tables(_read_votes_of(groups, columns, share) for groups in share.groups)


def _read_votes_of(groups: RowGroups, columns: Sequence[str], share: Share) -> pa.Table:
    by_number = [*ENDS, "relation"]
    with parquet.open_parquet(groups.path, read_dictionary=by_number) as file:
        table = file.read_row_groups(
            groups.numbers, [*columns, "relation", "nofollow"], use_threads=False
        )
    counts = np.concatenate([_is_vote(chunk) for chunk in table["relation"].chunks])
    if not share.counts_nofollow:
        nofollow = table["nofollow"].combine_chunks()
        counts &= ~nofollow.fill_null(True).to_numpy(zero_copy_only=False)
    table = table.select([*columns])
    return table if counts.all() else table.filter(pa.array(counts))


def _is_vote(relations: pa.DictionaryArray) -> Mask:
    is_vote = np.isin(relations.dictionary.to_pylist(), current_links.VOTES)
    found: Mask = is_vote[relations.indices.to_numpy()]
    return found


def merge_dictionaries(
    columns: Sequence[pa.ChunkedArray],
) -> tuple[pa.LargeStringArray, list[Indices]]:
    """Give columns of dictionaries one dictionary; return it, and its numbers in each column."""
    firsts: dict[int, int] = {}
    dictionaries: list[pa.LargeStringArray] = [pa.array([], pa.large_string())]
    count = 0
    chunks = [[chunk for chunk in column.chunks if len(chunk)] for column in columns]
    for chunk in (each for listed in chunks for each in listed):
        address = _address(chunk)
        if address not in firsts:
            firsts[address] = count
            count += len(chunk.dictionary)
            dictionaries.append(chunk.dictionary.cast(pa.large_string()))
    encoded = pa.concat_arrays(dictionaries).dictionary_encode()
    numbers = encoded.indices.to_numpy()

    def number(chunk: pa.DictionaryArray) -> Indices:
        first = firsts[_address(chunk)]
        found: Indices = numbers[first : first + len(chunk.dictionary)][chunk.indices.to_numpy()]
        return found

    none = np.empty(0, np.int32)
    return encoded.dictionary, [
        np.concatenate([none, *(number(chunk) for chunk in listed)]) for listed in chunks
    ]


def _address(chunk: pa.DictionaryArray) -> int:
    """Where the dictionary is in memory: chunks of a row group share theirs."""
    address: int = chunk.dictionary.buffers()[1].address
    return address


def _integers(column: pa.ChunkedArray) -> Numbers:
    found: Numbers = column.to_numpy().astype(np.int64)
    return found
