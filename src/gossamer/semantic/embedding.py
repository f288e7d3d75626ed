"""The task that brings the vectors of a shard up to date.

Its rows are the pages of the shard that have changed: with a text, or gone. The passages of each
part go to a new segment. A passage that any older segment of the crawl has, by the hash of its
text, keeps its vector, so copies of texts and pages that were fetched again cost next to nothing;
the others are encoded in batches.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from gossamer.config import SemanticConfig  # noqa: TC001  # tasks are pickled
from gossamer.index.format.page_keys import page_key
from gossamer.semantic.merging import (
    MAX_DEAD,
    dead_share,
    group_owners,
    merge_segments,
    taken_up,
)
from gossamer.semantic.models import Model, load_model
from gossamer.semantic.passages import passages_of
from gossamer.semantic.quantizing import Vectors, copy_rows, empty_vectors
from gossamer.semantic.segments import (
    Segment,
    open_segment,
    order_by_page,
    text_hash,
    write_segment,
)
from gossamer.semantic.vector_parts import segment_name, segment_number, shard_folder
from gossamer.state import sorted_rows
from gossamer.state.heartbeats import Heartbeat
from gossamer.storage import local_copies, opening, task_output

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gossamer.storage.store import File

BATCH = 256
"""Passages that the model gets at once."""
SEGMENT_TEXTS = 100_000
"""Passages that a task collects before it writes a segment: 60 MB."""


@dataclass(frozen=True)
class EmbedTask:
    """The task of a shard. `rows`: files sorted by `index_language`, `url` and `adds`.

    `base`: by language, the segments of the shard, oldest first. `known`: all segments of the
    crawl, whose vectors are used again.
    """

    root: str
    round: int
    number: int
    rows: tuple[str, ...]
    changes: int
    base: Mapping[str, tuple[File, ...]]
    known: tuple[File, ...]
    attempt: str
    config: SemanticConfig


def embed_shard(task: EmbedTask) -> Iterator[task_output.Row]:
    """Write the segments of the parts that change, and list all of theirs (task_output.YIELD).

    Counts `passages` of these pages, and those that were `encoded`.
    """
    model = load_model(task.config)
    folder = f"{task.attempt}/{shard_folder(task.number, model.digest)}"
    heartbeat = Heartbeat(task.root, "embed", task.round, str(task.number), task.changes)
    paths = (f"{task.root}/{name}" for name in task.rows)
    rows = sorted_rows.merge_sorted(paths, ["index_language", "url", "adds"])
    known = [_open(task.root, file) for file in task.known]
    for language, pages in groupby(rows, key=itemgetter("index_language")):
        stack = _Stack(task.root, f"{folder}/{language}", task.base.get(language, ()))
        draft = SegmentDraft(model, known)
        for row in pages:
            draft.add(row, task.config.passages)
            heartbeat.beat()
            if draft.passages >= SEGMENT_TEXTS:
                stack.push(draft.segment())
                yield from task_output.count_rows(draft.counts())
                draft = SegmentDraft(model, [*known, *stack.segments])
        stack.push(draft.segment())
        yield from task_output.count_rows(draft.counts())
        yield from stack.files()
    heartbeat.finish()


def _open(root: str, file: File) -> Segment:
    path = f"{root}/{file.path}"
    return open_segment(local_copies.local_copy(path, file.xxh3), path)


class SegmentDraft:
    """A new segment of a part. The same text is encoded once."""

    def __init__(self, model: Model, known: Sequence[Segment]) -> None:
        self._model, self._known = model, known
        self._covered: list[int] = []
        self._hashes: list[int] = []
        self._pages: list[int] = []
        self._texts: dict[int, str] = {}
        self._encoded = 0

    @property
    def passages(self) -> int:
        return len(self._hashes)

    def counts(self) -> dict[str, int]:
        return {"passages": len(self._hashes), "encoded": self._encoded}

    def add(self, row: Mapping[str, Any], most: int) -> None:
        """Add a page with its passages, or that it is gone."""
        key = page_key(row["url"], row["host"])
        self._covered.append(key)
        if row["adds"]:
            for passage in passages_of(row["title"], row["main_text"], most):
                self._hashes.append(digest := text_hash(passage))
                self._pages.append(key)
                self._texts[digest] = passage

    def segment(self) -> Segment:
        hashes, pages = np.array(self._hashes, np.uint64), np.array(self._pages, np.int64)
        texts, starts, owners = group_owners(hashes, pages)
        covered = np.unique(np.array(self._covered, np.int64))
        vectors = self._vectors([int(each) for each in texts])
        return Segment(texts, vectors, starts, owners, order_by_page(owners), covered)

    def _vectors(self, hashes: list[int]) -> Vectors:
        found = empty_vectors(len(hashes), self._model.dimension)
        wanted = np.array(hashes, np.uint64)
        missing = np.ones(len(hashes), np.bool_)
        for segment in self._known:
            places = segment.find(wanted)
            here = np.flatnonzero(missing & (places >= 0))
            copy_rows(segment.vectors, places[here], found, here)
            missing[here] = False
        new = np.flatnonzero(missing)
        # Texts of one length share a batch, so a model may pad them.
        new = np.array(sorted(new, key=lambda row: len(self._texts[hashes[row]])), np.int64)
        for begin in range(0, len(new), BATCH):
            batch = new[begin : begin + BATCH]
            made = self._model.encode([self._texts[hashes[row]] for row in batch])
            copy_rows(made, np.arange(len(batch)), found, batch)
        self._encoded = len(new)
        return found


class _Stack:
    """The segments of a part, oldest first, and their files."""

    def __init__(self, root: str, folder: str, base: Iterable[File]) -> None:
        self._root, self._folder = root, folder
        self._files = list(base)
        self.segments = [_open(root, file) for file in self._files]
        self._number = max(map(segment_number, self._files), default=0)

    def push(self, newest: Segment) -> None:
        """Add a segment, and merge the newest ones if they are large enough for the older ones."""
        stack = [*self.segments, newest]
        count = taken_up(stack)
        is_oldest = count == len(stack)
        merged = merge_segments(stack[-count:], (), is_oldest=is_oldest)
        kept = len(stack) - count
        del self.segments[kept:], self._files[kept:]
        if merged.size:
            self._append(merged)

    def files(self) -> Iterator[task_output.Row]:
        """All files of the part, after what is outdated in them was left out."""
        for number, segment in enumerate(self.segments):
            newer = self.segments[number + 1 :]
            if newer and dead_share(segment, newer) > MAX_DEAD:
                cleaned = merge_segments([segment], newer, is_oldest=number == 0)
                self.segments[number] = cleaned
                self._files[number] = self._write(cleaned, segment_number(self._files[number]))
        for file, segment in zip(self._files, self.segments, strict=True):
            if segment.size:
                yield task_output.file_row("vectors", file.path, file.rows, file.bytes, file.xxh3)

    def _append(self, segment: Segment) -> None:
        self._number += 1
        self._files.append(file := self._write(segment, self._number))
        self.segments.append(_open(self._root, file))

    def _write(self, segment: Segment, number: int) -> File:
        from gossamer.storage.store import File

        path = f"{self._folder}/{segment_name(number)}"
        file = opening.create(f"{self._root}/{path}")
        write_segment(file, segment)
        file.close()
        return File(path, segment.texts, file.size, file.xxh3)
