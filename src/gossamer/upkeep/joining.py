"""join: small files of the archive become few large ones.

Each round and fetch task begins a file, so a crawl of brief rounds would have tens of thousands of
them a day. Once there are FAN_IN files of about a size, they are joined: concatenated, as each
record is a gzip member, with one index. A file that has a part in FAN_IN of `fetch.warc_mb` stays
as it is. So there are O(log n) smaller files, and a byte is copied O(log n) times, as each copy
makes the file that holds it about FAN_IN times larger. Files of large rounds are never copied.

The rows of `responses` and `unparsed` that name bodies in these files get their new places. A merge
of layers mixes rows of many rounds, but those that name a small file are in layers that are as new
as it, which are a small part of a large crawl until all layers are merged.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING

from msgspec import structs

from gossamer.errors import MissingFile
from gossamer.storage.task_output import YIELD, YIELD_DDL, layers_of
from gossamer.storage.warc.archives import Archive, divide, indexed_archives
from gossamer.tables import RESPONSES, UNPARSED, WARC
from gossamer.upkeep.prune import body_places
from gossamer.upkeep.prune.archive_copying import CopyJob, copy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import File, Layer, StepReport

FAN_IN_BITS = 4
FAN_IN = 1 << FAN_IN_BITS
"""Files of about a size that are joined: sizes that differ by a factor below FAN_IN."""


def is_due(work: Workspace) -> bool:
    return bool(_joinable(work))


def run(work: Workspace) -> StepReport:
    """Join the small files of the archive. Raises MissingFile."""
    with work.step("join", work.round) as draft:
        shares = _joinable(work)
        gone = {path for share in shares for each in share for path in (each.path, each.index_file)}
        stack = work.store.manifest.layers(WARC.name)
        old = [layer for layer in stack if any(file.path in gone for file in layer.files)]
        if old:
            job = CopyJob(work.root, work.store.attempt(WARC.name), work.scratch_attempt(), None)
            rows = work.engine.map_tasks(shares, partial(copy, job), YIELD, YIELD_DDL, at_home=True)
            made = layers_of(rows, work.round)
            moved = [file.path for file in made["scratch"].files]
            since = min(layer.since for layer in old)
            for dataset in (RESPONSES, UNPARSED):
                draft.replace |= body_places.update_places(work, dataset, moved, since)
            home = structs.replace(
                old[-1], files=(*old[-1].files, *made[WARC.name].files), since=since
            )
            after = (home if layer is old[-1] else layer for layer in stack)
            draft.replace[WARC.name] = tuple(_without_files(after, gone))
        draft.counts = {
            "files_joined": sum(map(len, shares)),
            "files_made": len(shares),
            "bytes_copied": sum(each.bytes for share in shares for each in share),
        }
    return draft.done


def _without_files(layers: Iterable[Layer], gone: set[str]) -> Iterator[Layer]:
    for layer in layers:
        files = [file for file in layer.files if file.path not in gone]
        if files:
            yield structs.replace(layer, files=tuple(sorted(files, key=lambda file: file.path)))


def _joinable(work: Workspace) -> list[tuple[Archive, ...]]:
    """The files to join, in shares that each become a file."""
    limit = int(work.config.fetch.warc_mb * (1 << 20))
    files = {file.path: file for file in work.store.listed(WARC.name)}
    archives = [
        archive
        for archive in indexed_archives(files.values())
        if not any(fnmatchcase(archive.path, kept) for kept in work.config.store.warc_keep)
    ]
    for group in groups_by_size(archives, limit):
        whole = [
            each for each in group if _are_whole(work, files[each.path], files[each.index_file])
        ]
        if len(whole) >= FAN_IN:
            shares = divide(((each, each.bytes) for each in whole), limit)
            return [share for share in shares if len(share) > 1]
    return []


def groups_by_size(archives: Iterable[Archive], limit: int) -> Iterator[list[Archive]]:
    """The files of about a size that are to be joined, if there are enough; the smallest first.

    `limit`: the size of a full file, of which a part in FAN_IN is enough.
    """
    groups: dict[int, list[Archive]] = {}
    for archive in archives:
        if FAN_IN * archive.bytes < limit:
            size = archive.bytes.bit_length() // FAN_IN_BITS
            groups.setdefault(size, []).append(archive)
    for _, group in sorted(groups.items()):
        if len(group) >= FAN_IN:
            yield group


def _are_whole(work: Workspace, *files: File) -> bool:
    """Whether files are as they were written. One that is gone must not end a crawl."""
    try:
        work.store.check(files)
    except MissingFile:
        return False
    return True
