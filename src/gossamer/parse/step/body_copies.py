"""Which pages have a body that another file holds, too? They are parsed together.

A body is read once for pages that follow each other (`body_cache.py`). Those of one file of
responses do, since fetch stores equal bodies of a file only once. Pages with equal bodies in
several files move to the first of these files, by the name of its WARC file. When a round is parsed
again, its files may have been merged; then nothing moves, and some bodies are read more than once.

The engine finds the pages that move before the tasks run. So tasks need not communicate, and each
page belongs to exactly one piece of a file, however often a task runs.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from gossamer.parse.step.stored_responses import (
    ResponseRow,
    piece_responses,
    place_of,
    read_answers,
    record_of,
)
from gossamer.storage import parquet
from gossamer.tables import RESPONSES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gossamer.parse.step.stored_responses import Piece
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import File

MIN_BODIES = 500
"""Rounds with fewer responses are not searched for copies, which would gain little. The query takes
0.02 s on the embedded engine."""
MAX_COPIES = 1_000
"""Bodies of more pages do not move: a task would have too many of them, and as each file has many,
reading the body once per file costs little."""


class Moves(NamedTuple):
    """Pages that move, as far as they concern some files. Files are named by their WARC file."""

    leaving: frozenset[tuple[str, str]]
    """File and digest. All pages of this body leave the file."""
    arriving: dict[tuple[str, str], list[ResponseRow]]
    """By the file to which they move, and their digest."""


def moving(work: Workspace, files: Sequence[File]) -> tuple[File, ...]:
    """Write the pages of these files that move, with their new file (`home`), to scratch files."""
    from pyspark.sql import functions as F

    if len(files) < 2 or sum(file.rows for file in files) < MIN_BODIES:  # noqa: PLR2004
        return ()
    if not _copies_name_one_archive(work, files):
        return ()
    rows = work.engine.read([f"{work.root}/{file.path}" for file in files], RESPONSES.ddl)
    rows = rows.where("outcome = 'ok'").select(*ResponseRow._fields)
    bodies = rows.groupBy("digest").agg(
        F.min("warc_file").alias("home"),
        F.max("warc_file").alias("last"),
        F.count("*").alias("copies"),
    )
    shared = bodies.where((F.col("home") < F.col("last")) & (F.col("copies") <= MAX_COPIES))
    moved = rows.join(shared.select("digest", "home"), on="digest", how="inner")
    return work.scratch_files(moved.where("warc_file <> home").select(*ResponseRow._fields, "home"))


def _copies_name_one_archive(work: Workspace, files: Sequence[File]) -> bool:
    """Whether files are as fetch wrote them: `compact`, `prune` and `join` mix what they name."""
    met: set[str] = set()
    for file in files:
        named = parquet.read_table(f"{work.root}/{file.path}", columns=["warc_file"])["warc_file"]
        found = {name for name in named.unique().to_pylist() if name is not None}
        if len(found) > 1 or not met.isdisjoint(found):
            return False
        met |= found
    return True


def read_moves(paths: Sequence[str], warc_files: Sequence[str]) -> Moves:
    """Read the pages that move from or to some WARC files."""
    if not paths or not warc_files:
        return Moves(frozenset(), {})
    columns, here = [*ResponseRow._fields, "home"], ("in", list(warc_files))
    concerned = [[("warc_file", *here)], [("home", *here)]]
    table = parquet.read_table(list(paths), columns=columns, filters=concerned)
    leaving: set[tuple[str, str]] = set()
    arriving: dict[tuple[str, str], list[ResponseRow]] = {}
    for *values, home in zip(*(table.column(name).to_pylist() for name in columns), strict=True):
        row = ResponseRow(*values)
        leaving.add((row.warc_file, row.digest))
        arriving.setdefault((home, row.digest), []).append(row)
    for rows in arriving.values():
        rows.sort(key=place_of)
    return Moves(frozenset(leaving), arriving)


def responses_of_copies(
    root: str, pieces: Sequence[Piece], moved: Sequence[str]
) -> list[ResponseRow]:
    """Return the pages of pieces of files of responses, those with equal bodies together."""
    files = [(piece, read_answers(f"{root}/{piece.path}")) for piece in pieces]
    names = {answers[-1].warc_file for _, answers in files if answers}  # the first may be lost
    moves = read_moves(moved, sorted(names))
    return [page for piece, answers in files for page in gather_copies(answers, piece, moves)]


def gather_copies(
    answers: Sequence[ResponseRow], piece: Piece, moves: Moves
) -> Iterator[ResponseRow]:
    """Yield the pages of a piece of a file that stay, each followed by those that move to it.

    `answers` are those of the whole file. Pages move to the first record that has their body.
    """
    first = {answer.digest: record_of(answer) for answer in reversed(answers)}
    for record, sharing in groupby(piece_responses(answers, piece), key=record_of):
        pages = list(sharing)
        body = pages[0].warc_file, pages[0].digest
        if body not in moves.leaving:
            yield from pages
        if first[pages[0].digest] == record:
            yield from moves.arriving.get(body, ())
