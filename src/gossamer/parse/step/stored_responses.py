"""What a parse task reads: its pieces of the files of responses, and the bodies in WARC.

A piece is a share of the bodies that a file of responses names. They are neighbours in the WARC
file, so bodies are read in order. Pieces are far smaller than files, so slow pages keep one core
busy for the time of a piece, not of a file. To read a piece, a task reads some columns of the whole
file of responses, which costs 3 µs per page, once per process.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import accumulate, groupby
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

import pyarrow.compute as pc

from gossamer.errors import MissingFile
from gossamer.storage import parquet
from gossamer.storage.warc import WarcReader
from gossamer.tables import RESPONSES, UNPARSED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gossamer.storage.store import File
    from gossamer.storage.warc import StoredResponse

MIN_PAGES = 50
"""Smallest piece, on average: each task writes its own files, and a crawl keeps them."""
LOST = {"warc_file": "", "warc_offset": 0}
"""The place of a body that was lost. Columns of `responses` are null then (see repair.py)."""
PAGE_BYTES = 2_000
"""Weight of a page without its body: its rows, and the way to the parser and back."""


class Piece(NamedTuple):
    """Part `number` of `of` equal parts of a file; `bytes` is the part's share of its size."""

    path: str
    number: int
    of: int
    bytes: int


class ResponseRow(NamedTuple):
    """The columns of responses that parsing needs."""

    round: int
    url: str
    host: str
    depth: int
    fetches: int
    fetched_ms: int
    content_type: str | None
    body_bytes: int
    truncated: bool | None
    digest: str
    warc_file: str
    warc_offset: int
    headers: str | None = None
    announced: bool | None = None


class Redirect(NamedTuple):
    """The columns of responses that describe a redirect."""

    round: int
    url: str
    redirect_url: str
    redirect_spelling: str | None
    depth: int
    hops: int
    fetches: int
    announced: bool | None = None


def response_pieces(files: Sequence[File], tasks: int) -> list[Piece]:
    """Cut files into pieces of at most 1/`tasks` of all bytes, but not below MIN_PAGES pages."""
    share = sum(file.bytes for file in files) / tasks
    cut = []
    for file in files:
        of = min(-int(-file.bytes // share), max(1, file.rows // MIN_PAGES))
        cut += [Piece(file.path, number, of, file.bytes // of) for number in range(of)]
    return cut


def taper_response_pieces(pieces: Sequence[Piece], workers: int) -> list[list[Piece]]:
    """Distribute pieces over tasks that become smaller, for workers that take one after the other.

    Each task gets about 1/(2 `workers`) of the bytes that are left, and at least one piece. So
    there are few tasks, and the last ones, which decide when the step ends, are small. This is
    guided self-scheduling (Polychronopoulos and Kuck, IEEE Transactions on Computers, 1987).
    """
    shares: list[list[Piece]] = []
    left, room = sum(piece.bytes for piece in pieces), 0
    for piece in pieces:
        if not shares or room < piece.bytes:
            shares.append([])
            room = left // (2 * workers)
        shares[-1].append(piece)
        left -= piece.bytes
        room -= piece.bytes
    return shares


@lru_cache(maxsize=1)
def read_answers(path: str, *, fetched: bool = True) -> tuple[ResponseRow, ...]:
    """Return the rows of a file that have a new body, in the order of the WARC files.

    With `fetched` the file is one of `responses`, which also has other rows; else of `unparsed`.
    The latest file is remembered, because a process parses several of its pieces in a row.
    """
    only = [("outcome", "=", "ok")] if fetched else None
    schema = (RESPONSES if fetched else UNPARSED).schema  # older files lack `truncated`: nulls
    table = parquet.read_table(path, columns=list(ResponseRow._fields), filters=only, schema=schema)
    columns = {name: table.column(name) for name in ResponseRow._fields}
    columns |= {name: pc.fill_null(columns[name], lost) for name, lost in LOST.items()}
    rows = zip(*(column.to_pylist() for column in columns.values()), strict=True)
    return tuple(sorted(map(ResponseRow._make, rows), key=place_of))


def piece_responses(answers: Sequence[ResponseRow], piece: Piece) -> list[ResponseRow]:
    """Return the piece's share of a file's answers. Those that share a record stay together."""
    records = [list(sharing) for _, sharing in groupby(answers, key=record_of)]
    begins = [0, *accumulate(PAGE_BYTES + sharing[0].body_bytes for sharing in records)]
    return [
        answer
        for begin, sharing in zip(begins, records, strict=False)
        if begin * piece.of // begins[-1] == piece.number
        for answer in sharing
    ]


def record_of(answer: ResponseRow) -> tuple[str, int]:
    return answer.warc_file, answer.warc_offset


def place_of(answer: ResponseRow) -> tuple[str, int, str]:
    """The order of pages in the archive."""
    return answer.warc_file, answer.warc_offset, answer.url


def read_stored_redirects(paths: Sequence[str]) -> list[Redirect]:
    """Return the rows that redirect to a URL that can be crawled."""
    if not paths:
        return []
    only = [("outcome", "=", "redirect")]
    names, schema = list(Redirect._fields), RESPONSES.schema  # older files lack a column: nulls
    table = parquet.read_table(list(paths), columns=names, filters=only, schema=schema)
    columns = [table.column(name).to_pylist() for name in Redirect._fields]
    return [row for row in map(Redirect._make, zip(*columns, strict=True)) if row.redirect_url]


def bodies(
    root: str, answers: Iterable[ResponseRow], *, near: bool = False
) -> Iterator[tuple[ResponseRow, StoredResponse | None]]:
    """Yield each answer with its stored response, or None if the WARC record is damaged or lost.

    Answers with equal bodies share a record. They follow each other, and the record is read once.
    Each record is read only when it is needed. `near`: from a copy of its file, if this machine has
    one. Raises MissingFile if a WARC file is gone.
    """
    for file, of_file in groupby(answers, key=attrgetter("warc_file")):
        if not file:
            yield from ((answer, None) for answer in of_file)
            continue
        path = f"{root}/{file}"
        try:
            reader = WarcReader(path, near=near)
        except FileNotFoundError:
            raise MissingFile(path, "responses name this file, but it is gone") from None
        with reader:
            for offset, sharing in groupby(of_file, key=attrgetter("warc_offset")):
                stored = reader.at(offset)
                for answer in sharing:
                    yield answer, stored
