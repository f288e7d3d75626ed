"""The step `prune`: when the archive is pruned, and which of its files are copied."""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING

from gossamer.errors import UsageError
from gossamer.storage.store import Layer
from gossamer.storage.task_output import YIELD, YIELD_DDL, layers_of
from gossamer.storage.warc.archives import Archive, divide, indexed_archives
from gossamer.tables import RESPONSES, UNPARSED, WARC
from gossamer.upkeep.prune import body_places, kept_exchanges
from gossamer.upkeep.prune.archive_copying import CopyJob, copy

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import StepReport

FEW = 8
"""Rounds since the archive was pruned, below which it is not worth a look."""
GROWTH = 4
"""The archive is pruned when it has grown by one part in GROWTH."""
SPARSE = 0.5
"""Files of which less stays are copied: so a byte is copied for each that goes."""
SMALL_BYTES = 32 << 20
"""Smaller files are copied together."""


def is_due(work: Workspace) -> bool:
    if not work.config.store.prunes:
        return False
    base, *later = work.store.manifest.layers(WARC.name) or (Layer(0, ()),)
    grown = sum(layer.bytes for layer in later)
    return bool(later) and later[-1].round - base.round >= FEW and grown * GROWTH >= base.bytes


def run(work: Workspace) -> StepReport:
    """Drop what is not kept. Raises UsageError if the settings keep everything, and MissingFile."""
    config = work.config.store
    if not config.prunes:
        raise UsageError(
            f"{work.root}/gossamer.toml",
            "the archive keeps everything",
            "set store.warc_versions or store.warc_days",
        )
    stack = work.store.manifest.layers(WARC.name)
    with work.step("prune", work.round) as draft:
        files = {file.path: file for file in work.store.files(WARC.name)}
        archives = list(indexed_archives(files.values()))
        kept = kept_exchanges.find_kept_exchanges(work, kept_exchanges.captures(work, archives))
        kept_bytes = {row["file"]: int(row["bytes"]) for row in kept.sizes}
        movable = [archive for archive in archives if archive.path not in kept.unclear]
        sparse = _sparse(movable, kept_bytes, config.warc_keep)
        limit = int(work.config.fetch.warc_mb * (1 << 20))
        sizes = ((archive, kept_bytes.get(archive.path, 0)) for archive in sparse)
        shares = list(divide(sizes, limit))
        job = CopyJob(work.root, work.store.attempt(WARC.name), work.scratch_attempt(), kept.paths)
        rows = work.engine.map_tasks(shares, partial(copy, job), YIELD, YIELD_DDL, at_home=True)
        made = layers_of(rows, stack[-1].round if stack else 0)
        gone = {path for archive in sparse for path in (archive.path, archive.index_file)}
        stay = [file for path, file in files.items() if path not in gone]
        new = made[WARC.name].files if WARC.name in made else ()
        moved = [file.path for file in made["scratch"].files] if "scratch" in made else []
        for dataset in (RESPONSES, UNPARSED):
            draft.replace |= body_places.update_places(work, dataset, moved)
        before, after = files.values(), sorted((*stay, *new), key=lambda file: file.path)
        if stack:
            ends = {"version": stack[-1].version, "since": stack[0].since}
            draft.replace[WARC.name] = (Layer(stack[-1].round, tuple(after), **ends),)
        draft.counts = {
            "files_copied": len(sparse),
            "records_dropped": sum(file.rows for file in before) - sum(file.rows for file in after),
            "bytes_freed": sum(file.bytes for file in before) - sum(file.bytes for file in after),
        }
    return draft.done


def _sparse(
    archives: Sequence[Archive], kept_bytes: Mapping[str, int], whole: Sequence[str]
) -> list[Archive]:
    """The files to copy, in the order of their paths, which is that of their rounds."""
    sparse, small = [], []
    for archive in archives:
        if any(fnmatchcase(archive.path, pattern) for pattern in whole):
            continue
        if kept_bytes.get(archive.path, 0) < SPARSE * archive.bytes:
            sparse.append(archive)
        elif archive.bytes < SMALL_BYTES:
            small.append(archive)
    return sorted([*sparse, *(small if len(small) > 1 else ())])
