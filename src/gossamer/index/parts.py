"""The parts of the index, one per shard and language, and how a task changes them.

A part is a tantivy folder (`index/format/layout.py`) that never changes. Its new state is a new
folder: the files of the old one are hard-linked into it (or copied, if the file system has no hard
links), documents are deleted and added, and tantivy's logarithmic merge policy joins segments of
similar size. tantivy replaces files that it writes again and never writes into an existing one, so
the old folder stays intact for its readers. On object storage, all this happens in a folder of this
machine: new files are uploaded, and objects of the old part are copied within the store.

A deleted document stays in its segment, and in the document frequencies, until the segment is
merged. A part is rebuilt from scratch once a share of MAX_DEAD of its documents is deleted.
"""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from gossamer.index.boilerplate import split_texts
from gossamer.index.format import schema
from gossamer.index.format.document_builder import build_document
from gossamer.index.format.layout import part_key, shard_folder
from gossamer.state import sorted_rows
from gossamer.state.heartbeats import Heartbeat
from gossamer.storage import local_copies, task_output
from gossamer.storage.errors import disk_errors, disk_full
from gossamer.storage.file_modes import apply_umask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from tantivy import Document, IndexWriter

    from gossamer.index.format.layout import Key
    from gossamer.storage.store import File

MAX_DEAD = 0.3
"""The largest share of deleted documents in a part."""
QUEUE = 10_000
"""Documents that tantivy queues for its writing thread (PIPELINE_MAX_SIZE_IN_DOCS)."""
FULL_S = 0.0005
"""If adding a document takes longer than this many seconds, the queue is full."""
REST_S = 0.05
"""Seconds of rest when the queue is full, in which about a hundred documents are written."""
WORK_FILES = (".tantivy-writer.lock", ".tantivy-meta.lock", schema.MANAGED)
"""Files that tantivy needs only while it writes. Older versions have kept the last one."""


def group_by_index_part(files: Iterable[File]) -> dict[Key, list[File]]:
    """The files of each part; empty if one of them has another format."""
    found: dict[Key, list[File]] = {}
    for file in files:
        key = part_key(file.path)
        if key is None:
            return {}
        found.setdefault(key, []).append(file)
    return found


class PartSize(NamedTuple):
    """Documents of a part: `held` in its segments, of which `dead` are deleted."""

    held: int
    dead: int


def part_size(root: str, part: Iterable[File]) -> PartSize:
    meta = next(file for file in part if PurePath(file.path).name == schema.META)
    copy = local_copies.local_copy(f"{root}/{meta.path}", meta.xxh3)
    segments = _index_segments(copy.read_bytes()).values()
    return PartSize(sum(held for held, _ in segments), sum(dead for _, dead in segments))


def _index_segments(meta: bytes) -> dict[str, tuple[int, int]]:
    """By id of a segment, its documents and how many of them are deleted."""
    segments = json.loads(meta)["segments"]
    return {
        each["segment_id"]: (each["max_doc"], (each["deletes"] or {}).get("num_deleted_docs", 0))
        for each in segments
    }


@dataclass(frozen=True)
class ShardTask:
    """The task of changing a shard. `rows`: files sorted by `index_language`, `url` and `adds`.

    A row `adds` its document, or deletes that of its URL. `base`: by language, the files of the
    existing parts, except those that are rebuilt from scratch.
    """

    root: str
    round: int
    number: int
    rows: tuple[str, ...]
    changes: int
    base: Mapping[str, tuple[File, ...]]
    attempt: str
    memory_bytes: int


class WriterFeed:
    """Adds documents to a writer, and rests when its queue is full.

    When tantivy's queue is full, `add_document` spins, sleeps and is woken once per document taken.
    Sleeping while about a hundred are taken costs less CPU, and the queue never runs empty.
    """

    def __init__(
        self,
        writer: IndexWriter,
        clock: Callable[[], float] = time.perf_counter,
        rest: Callable[[float], None] = time.sleep,
    ) -> None:
        self._writer, self._clock, self._rest = writer, clock, rest
        self.added = 0

    def add(self, document: Document) -> None:
        began_s = self._clock()
        try:
            self._writer.add_document(document)
        except ValueError:  # the writing thread has ended, of which this error has no reason
            self._writer.commit()  # raises the thread's own error
            raise
        self.added += 1
        if self.added > QUEUE and self._clock() - began_s > FULL_S:
            self._rest(REST_S)


def build_shard(shard: ShardTask) -> Iterator[task_output.Row]:
    """Write the parts that change, and list their files (rows of task_output.YIELD).

    There is one writing thread, and rows come in the order of their URLs. So the same changes to
    the same parts give the same index, except for its random file names. Counts `merged`: documents
    that were written again because their segments were merged.
    """
    folder = f"{shard.attempt}/{shard_folder(shard.number)}"
    heartbeat = Heartbeat(shard.root, "index", shard.round, str(shard.number), shard.changes)
    paths = (f"{shard.root}/{name}" for name in shard.rows)
    rows = split_texts(sorted_rows.merge_sorted(paths, ["index_language", "url", "adds"]))
    for language, ours in groupby(rows, key=itemgetter("index_language")):
        named = {PurePath(file.path).name: file for file in shard.base.get(language, ())}
        base = {name: file for name, file in named.items() if name not in WORK_FILES}
        place = f"{folder}/{language}"
        with local_copies.workshop(shard.root, place) as path, index_errors(path):
            for name, file in base.items():
                local_copies.hard_link(shard.root, file, path / name)
            before = _index_segments((path / schema.META).read_bytes()) if base else {}
            index = schema.resume(path) if base else schema.create(path)
            writer = index.writer(shard.memory_bytes, 1)
            feed = WriterFeed(writer)
            for row in ours:
                if row["adds"]:
                    feed.add(build_document(row))
                elif base:
                    writer.delete_documents_by_term("url", row["url"])
                heartbeat.beat()
            writer.commit()
            writer.wait_merging_threads()
            segments = _index_segments((path / schema.META).read_bytes())
            made = sum(held for name, (held, _) in segments.items() if name not in before)
            alive = sum(held - dead for held, dead in segments.values())
            yield from task_output.count_rows({"merged": max(made - feed.added, 0)})
            if alive:
                yield from _list_files(shard.root, place, path, alive, base)
    heartbeat.finish()


def _list_files(
    root: str, place: str, folder: Path, documents: int, base: Mapping[str, File]
) -> Iterator[task_output.Row]:
    """Keep the files of a part, and list them. META has the number of documents, the others 0.

    tantivy writes its files itself, so a new one is read once for its checksum.
    """
    for file in sorted(folder.iterdir()):
        if file.name not in WORK_FILES:
            if file.name not in base:
                apply_umask(file)  # tantivy makes some files readable by their owner only
            rows = documents if file.name == schema.META else 0
            kept = local_copies.keep_copy(file, root, place, base.get(file.name), by_content=True)
            yield task_output.file_row("index", f"{place}/{file.name}", rows, *kept)


@contextmanager
def index_errors(path: Path) -> Iterator[None]:
    """Raise StoreFull for a full disk, which tantivy reports only in the text of its error."""
    try:
        with disk_errors(path):
            yield
    except ValueError as error:
        if "No space left on device" in str(error) or "Disk quota exceeded" in str(error):
            raise disk_full(path) from error
        raise
