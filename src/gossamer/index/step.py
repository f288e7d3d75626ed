"""The step `index`: find out which pages have changed, and change the parts that hold them."""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING

from gossamer.errors import StoreError
from gossamer.index.changes.recording import record_changes
from gossamer.index.format import selection
from gossamer.index.indexed_rows import ADDED, KEPT, REMOVED, REPLACED
from gossamer.index.parts import MAX_DEAD, ShardTask, build_shard, group_by_index_part, part_size
from gossamer.index.pending_pages import PageMoves, PendingPages
from gossamer.index.task_rows import task_rows
from gossamer.index.touched_pages import INPUTS, index_settings, unread_inputs
from gossamer.state import sorted_rows, unread
from gossamer.state.heartbeats import clear_heartbeats
from gossamer.storage import parquet, task_output
from gossamer.storage.store import Layer
from gossamer.tables import DATASETS, DOCUMENTS, GATHERED, INDEXED, OUTER_BOILERPLATE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from pyspark.sql import DataFrame

    from gossamer.index.format.layout import Key
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import File, StepReport

RENEWED = "renewed"
"""What is counted: unchanged pages whose part is rebuilt."""
EXTRA_TASKS = 1
"""Tasks beyond the number of workers: the first tier is small and need not wait for a shard."""
MANY_CHANGES = 1_000
"""Of documents. They take two CPU seconds, beside which new workers (0.05 s each) cost little. So
those of the step before end, before the engine holds the texts that it sorts."""


def run(work: Workspace) -> StepReport:
    clear_heartbeats(work.root, "index")
    _check_documents(work)
    with work.step("index", work.round) as draft:
        draft.counts.update(selection.count_dispositions(work))
        parts, damaged = _index_parts(work)
        if damaged:
            draft.counts["damaged_parts"] = len(damaged)
        old, known = (
            work.read(name) if parts else work.engine.read([], DATASETS[name].ddl)
            for name in (INDEXED.name, OUTER_BOILERPLATE.name)
        )
        pending = PendingPages(work, old, known, unread_inputs(work, anew=not parts))
        moves = pending.moves()
        intact = {key: files for key, files in parts.items() if key not in damaged}
        stale = damaged | {
            key for key, files in intact.items() if _is_stale(work.root, files, key, moves)
        }
        if stale:
            pending.add_parts(stale)
            moves = pending.moves()
        totals = _change_totals(moves, stale)
        draft.counts.update(totals)
        touched = {key for move in moves for key in move.changed_parts()} | stale
        base = {key: parts[key] for key in parts if key in touched - stale}
        adds = sum(totals[kind] for kind in (ADDED, REPLACED, RENEWED))
        if is_large := sum(totals.values()) > MANY_CHANGES:
            work.make_room()
        written = _build_shards(work, task_rows(work, pending, stale, adds), base, is_large)
        draft.counts.update({name: n for name, n in task_output.counts_of(written).items() if n})
        new = task_output.layers_of(written, work.round).get("index")
        files = [file for key in parts if key not in touched for file in parts[key]]
        files += new.files if new else ()
        draft.replace["index"] = (Layer(work.round, tuple(files)),) if files else ()
        for table, rows in (
            (INDEXED, pending.indexed_rows(stale)),
            (OUTER_BOILERPLATE, pending.outer_boilerplate),
        ):
            draft.replace[table.name] = (work.write(rows, table.name, work.round),)
        (indexed,) = draft.replace[INDEXED.name]
        record_changes(work, draft, pending.changed, indexed, anew=not parts)
        draft.replace[GATHERED.name] = unread.write_record(
            work, GATHERED, INPUTS, index_settings(work)
        )
    return draft.done


def _index_parts(work: Workspace) -> tuple[dict[Key, list[File]], set[Key]]:
    """The files of the existing parts, and which parts are damaged and must be rebuilt.

    If a dataset that describes them is damaged, all parts are rebuilt.
    """
    if work.store.damaged("indexed") or work.store.damaged(OUTER_BOILERPLATE.name):
        return {}, set()
    parts = group_by_index_part(work.store.listed("index"))
    broken = {damage.file for damage in work.store.damaged("index")}
    return parts, {key for key, files in parts.items() if not broken.isdisjoint(files)}


def _check_documents(work: Workspace) -> None:
    """Raise StoreError if a file lacks a column, so that text would be lost."""
    for path in work.paths("documents"):
        if not {*DOCUMENTS.column_names} - DOCUMENTS.added <= {*parquet.schema(path).names}:
            remedy = "parse all pages again: gossamer reparse"
            raise StoreError(path, "was parsed by an older version", remedy)


def _change_totals(moves: Iterable[PageMoves], stale: Collection[Key]) -> Counter[str]:
    """Pages by kind of change, and those that are RENEWED."""
    totals: Counter[str] = Counter()
    for move in moves:
        if move.change != KEPT:
            totals[move.change] += move.pages
        elif (move.shard, move.index_language) in stale:
            totals[RENEWED] += move.pages
    return totals


def _is_stale(root: str, files: Iterable[File], key: Key, moves: Iterable[PageMoves]) -> bool:
    """Whether too many of a part's documents would be deleted, so that it must be rebuilt."""
    held, dead = part_size(root, files)
    dead += sum(
        move.pages
        for move in moves
        if move.change in (REPLACED, REMOVED) and key == (move.old_shard, move.old_index_language)
    )
    return dead > MAX_DEAD * held


def _build_shards(
    work: Workspace, rows: Iterable[DataFrame], base: Mapping[Key, Iterable[File]], is_large: bool
) -> list[task_output.Row]:
    """Change the shards that have `rows`. `base`: the files of the parts that are not rebuilt."""
    files = [work.scratch_files(some, ["shard"], sorted_rows.BATCH_ROWS) for some in rows]
    tasks = _part_tasks(work, chain.from_iterable(files), base)
    if is_large:  # sorting texts has freed much
        work.make_room()
    kind = task_output.YIELD, task_output.YIELD_DDL
    return list(work.engine.map_tasks(tasks, build_shard, *kind, EXTRA_TASKS))


def _part_tasks(
    work: Workspace, rows: Iterable[File], base: Mapping[Key, Iterable[File]]
) -> list[ShardTask]:
    attempt = work.store.attempt("index")
    return [
        ShardTask(
            work.root,
            work.round,
            number,
            tuple(file.path for file in files),
            sum(file.rows for file in files),
            {
                index_language: tuple(held)
                for (shard, index_language), held in base.items()
                if shard == number
            },
            attempt,
            work.config.index.memory_mb * 1_000_000,
        )
        for number, files in sorted_rows.files_of_parts(rows).items()
    ]
