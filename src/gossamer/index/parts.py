"""The index as it lies in the crawl: parts, one for each shard and language, and how one changes.

A part is a folder of tantivy (`layout.py`), and never changes. A new state of it is a new folder:
the files of the old one are linked into it (a hard link: no byte is copied where the file system
knows them), documents are deleted and added, and tantivy's merge policy, which is logarithmic,
joins segments of like size. tantivy replaces the few files that it writes again, and never writes
into one; so the old folder stays as it is, for who reads it.

What was deleted stays in its segment until that is merged, and in the frequencies of words. A part
of which MAX_DEAD are such documents is made anew.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, NamedTuple

from gossamer import layers, shuffle
from gossamer.backends import disk_errors, full
from gossamer.index import schema
from gossamer.index.layout import key_of, shard_folder
from gossamer.monitor import Pulse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from tantivy import Document, IndexWriter

    from gossamer.index.layout import Key
    from gossamer.store import File

MAX_DEAD = 0.3
QUEUE = 10_000
"""Documents that tantivy takes ahead of its writing thread (PIPELINE_MAX_SIZE_IN_DOCS)."""
FULL_S = 0.0005
REST_S = 0.05
"""A hundred documents are written meanwhile."""
LOCKS = (".tantivy-writer.lock", ".tantivy-meta.lock")


def parts_of(files: Iterable[File]) -> dict[Key, list[File]]:
    """The files of each part. Empty where one of them is of another format."""
    found: dict[Key, list[File]] = {}
    for file in files:
        key = key_of(file.path)
        if key is None:
            return {}
        found.setdefault(key, []).append(file)
    return found


class Size(NamedTuple):
    """Documents of a part: `held` in its segments, `dead` of them deleted."""

    held: int
    dead: int


def size_of(root: str, files: Iterable[File]) -> Size:
    meta = next(file.path for file in files if PurePath(file.path).name == schema.META)
    segments = _segments(Path(root, meta)).values()
    return Size(sum(held for held, _ in segments), sum(dead for _, dead in segments))


def _segments(meta: Path) -> dict[str, tuple[int, int]]:
    """By id of a segment its documents, and how many of them are deleted."""
    told = json.loads(meta.read_bytes())["segments"]
    return {
        each["segment_id"]: (each["max_doc"], (each["deletes"] or {}).get("num_deleted_docs", 0))
        for each in told
    }


@dataclass(frozen=True)
class Shard:
    """The task of changing a shard, from files of rows sorted by `tongue`, `url` and `adds`.

    A row `adds` its document, or deletes that of its URL. `base`: by language the files of the
    parts as they are, but for those that are made anew.
    """

    root: str
    round: int
    number: int
    rows: tuple[str, ...]
    changes: int
    base: Mapping[str, tuple[str, ...]]
    attempt: str
    memory_bytes: int


class Feed:
    """Gives documents to a writer.

    Where tantivy's queue is full, who adds a document spins, sleeps, and is woken for each one that
    is taken. A rest for many at once costs less CPU, and the queue does not run dry by it.
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
        self._writer.add_document(document)
        self.added += 1
        if self.added > QUEUE and self._clock() - began_s > FULL_S:
            self._rest(REST_S)


def build(shard: Shard) -> Iterator[layers.Row]:
    """Write the parts that change, and list their files (rows of layers.YIELD).

    One writing thread and rows in the order of their URLs: the same changes of the same parts give
    the same index, but for its random file names. Counts `merged`: documents that were written
    again as their segments were joined.
    """
    folder = f"{shard.attempt}/{shard_folder(shard.number)}"
    pulse = Pulse(shard.root, "index", shard.round, str(shard.number), shard.changes)
    paths = (f"{shard.root}/{name}" for name in shard.rows)
    rows = shuffle.merged(paths, ["tongue", "url", "adds"])
    for language, ours in groupby(rows, key=itemgetter("tongue")):
        path = Path(shard.root, folder, language)
        base = [Path(shard.root, name) for name in shard.base.get(language, ())]
        with index_errors(path):
            path.mkdir(parents=True)
            for file in base:
                _link(file, path / file.name)
            before = _segments(path / schema.META) if base else {}
            index = schema.resume(path) if base else schema.create(path)
            writer = index.writer(shard.memory_bytes, 1)
            feed = Feed(writer)
            for row in ours:
                if row["adds"]:
                    feed.add(schema.document(row))
                elif base:
                    writer.delete_documents_by_term("url", row["url"])
                pulse.beat()
            writer.commit()
            writer.wait_merging_threads()
            segments = _segments(path / schema.META)
            made = sum(held for name, (held, _) in segments.items() if name not in before)
            alive = sum(held - dead for held, dead in segments.values())
            yield from layers.counted({"merged": max(made - feed.added, 0)})
            if alive:
                yield from _listed(f"{folder}/{language}", path, alive)
    pulse.finish()


def _listed(folder: str, path: Path, documents: int) -> Iterator[layers.Row]:
    """The documents are counted once, in the file that names the others."""
    for file in sorted(path.iterdir()):
        if file.name not in LOCKS:
            rows = documents if file.name == schema.META else 0
            yield layers.written("index", f"{folder}/{file.name}", rows, file.stat().st_size)


def _link(file: Path, name: Path) -> None:
    with suppress(OSError):
        os.link(file, name)
        return
    shutil.copyfile(file, name)


@contextmanager
def index_errors(path: Path) -> Iterator[None]:
    """A full disk is a StoreFull, of which tantivy tells as text."""
    try:
        with disk_errors(path):
            yield
    except ValueError as error:
        if "No space left on device" in str(error) or "Disk quota exceeded" in str(error):
            raise full(path) from error
        raise
