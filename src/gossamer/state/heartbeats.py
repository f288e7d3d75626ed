"""The progress of tasks on any engine, as small files in the crawl folder.

A task, wherever it runs, rewrites `heartbeats/<step>-<task>.json` every half second; `gossamer
crawl`, `gossamer status` and the web page read these files. No step reads them, so nothing depends
on them.

A crawl without end that waits has a file, too (`note_waiting`): it holds no lock by which others
could know of it.
"""

from __future__ import annotations

import re
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import msgspec

from gossamer.errors import StoreError
from gossamer.storage import opening
from gossamer.storage.lock_holder import Holder  # noqa: TC001  # msgspec reads the annotations
from gossamer.storage.objects.bucket import is_object_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BEAT_S = 0.5
OBJECT_BEAT_S = 5.0
"""On object storage, where each record costs a request. A task that ends sooner leaves none."""


class TaskProgress(msgspec.Struct, frozen=True):
    """The progress of a task: `done` of `total` units of work (pages, documents)."""

    step: str
    round: int
    task: str
    done: int
    total: int
    started_ms: int
    at_ms: int
    counts: dict[str, int] = {}


class Heartbeat:
    """Writes the progress of one task. `beat` is cheap enough to be called for every page."""

    def __init__(
        self,
        folder: str,
        step: str,
        round_: int,
        task: str,
        total: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path = f"{folder}/heartbeats/{step}-{task}.json"
        self._is_silent = is_object_url(folder)
        self._every_s = OBJECT_BEAT_S if self._is_silent else BEAT_S
        self._step, self._round, self._task, self._total = step, round_, task, total
        self._clock = clock
        self._started_s = clock()
        self._next_s = self._started_s + self._every_s if self._is_silent else 0.0
        self.done = 0
        self.counts: dict[str, int] = {}

    def beat(self, done: int = 1, count: str | None = None) -> None:
        self.done += done
        if count is not None:
            self.counts[count] = self.counts.get(count, 0) + done
        now_s = self._clock()
        if not self._next_s - self._every_s <= now_s < self._next_s:  # the clock may be set back
            self._next_s = now_s + self._every_s
            self._write(now_s)

    def finish(self) -> None:
        if not self._is_silent:
            self._write(self._clock())

    def _write(self, now_s: float) -> None:
        self._is_silent = False
        record = TaskProgress(
            self._step,
            self._round,
            self._task,
            self.done,
            self._total,
            int(self._started_s * 1000),
            int(now_s * 1000),
            self.counts,
        )
        with suppress(OSError, StoreError):  # a failure to report must not stop the work
            opening.make_folder(self._path.rpartition("/")[0])
            opening.replace(self._path, msgspec.json.encode(record))


def heartbeats(folder: str) -> Iterator[TaskProgress]:
    """Yield the last record of every task, of any step and round."""
    for path in opening.list_files(f"{folder}/heartbeats"):
        if not path.endswith(".json"):
            continue
        try:
            yield msgspec.json.decode(opening.read(path), type=TaskProgress)
        except (OSError, msgspec.DecodeError):
            continue  # deleted meanwhile, or not ours


def clear_heartbeats(folder: str, *steps: str) -> None:
    """Delete the records of steps before they run again, including drafts of dead tasks."""
    of_steps = re.compile(rf"(?:{'|'.join(steps)})-\d+\.(?:json|\d+\.draft)")
    listed = opening.list_files(f"{folder}/heartbeats")
    opening.remove(*(path for path in listed if of_steps.fullmatch(path.rpartition("/")[2])))


class Wait(msgspec.Struct, frozen=True):
    """A crawl without end that waits until a page is due, at `until_ms`; None: none ever is."""

    by: Holder
    until_ms: int | None


@contextmanager
def note_waiting(folder: str, wait: Wait) -> Iterator[None]:
    """Let others know of a wait while the block runs."""
    note_wait(folder, wait)
    try:
        yield
    finally:
        forget_wait(folder)


def note_wait(folder: str, wait: Wait) -> None:
    """Let others know of a wait, until it is forgotten or the process `by` which it is ends."""
    with suppress(OSError, StoreError):  # a failure to report must not stop the work
        opening.replace(_wait_file(folder), msgspec.json.encode(wait))


def forget_wait(folder: str) -> None:
    with suppress(OSError, StoreError):
        opening.remove(_wait_file(folder))


def read_noted_wait(folder: str) -> Wait | None:
    """The wait of a crawl's process, if there is one."""
    try:
        wait = msgspec.json.decode(opening.read(_wait_file(folder)), type=Wait)
    except (OSError, msgspec.DecodeError):
        return None
    return wait if wait.by.lives() else None


def _wait_file(folder: str) -> str:
    return f"{folder}/.waiting"
