"""Progress that works on any engine: tasks leave small records in the crawl folder.

A task, wherever it runs, rewrites `heartbeats/<step>-<task>.json` every half a second;
`gossamer crawl`, `gossamer status` and the web page read them. They are news, not data: no
step reads them, and losing one loses nothing.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

BEAT_S = 0.5


class Heartbeat(msgspec.Struct, frozen=True):
    """Where a task stands: `done` of `total` units of work (pages, documents)."""

    step: str
    round: int
    task: str
    done: int
    total: int
    started_ms: int
    at_ms: int
    counts: dict[str, int] = {}


class Pulse:
    """The heart of one task. `beat` is cheap enough to be called for every page."""

    def __init__(
        self,
        folder: str,
        step: str,
        round_: int,
        task: str,
        total: int,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path = Path(folder, "heartbeats", f"{step}-{task}.json")
        self._step, self._round, self._task, self._total = step, round_, task, total
        self._clock = clock
        self._started_s = clock()
        self._next_s = 0.0
        self.done = 0
        self.counts: dict[str, int] = {}

    def beat(self, done: int = 1, count: str | None = None) -> None:
        self.done += done
        if count is not None:
            self.counts[count] = self.counts.get(count, 0) + done
        now_s = self._clock()
        if now_s >= self._next_s:
            self._next_s = now_s + BEAT_S
            self._write(now_s)

    def finish(self) -> None:
        self._write(self._clock())

    def _write(self, now_s: float) -> None:
        record = Heartbeat(
            self._step,
            self._round,
            self._task,
            self.done,
            self._total,
            int(self._started_s * 1000),
            int(now_s * 1000),
            self.counts,
        )
        draft = self._path.with_suffix(f".{os.getpid()}.draft")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            draft.write_bytes(msgspec.json.encode(record))
            draft.replace(self._path)
        except OSError:
            pass  # news that cannot be told must not stop the work it tells of


def heartbeats(folder: str) -> Iterator[Heartbeat]:
    """The last word of every task, of any step and round."""
    for path in sorted(Path(folder, "heartbeats").glob("*.json")):
        try:
            yield msgspec.json.decode(path.read_bytes(), type=Heartbeat)
        except (OSError, msgspec.DecodeError):
            continue  # replaced while we looked, or not ours


def silence(folder: str, step: str) -> None:
    """Forget the records of a step before it runs again."""
    for path in Path(folder, "heartbeats").glob(f"{step}-*"):  # drafts of dead tasks too
        path.unlink(missing_ok=True)
