"""Who may ask the hosts of a part? On a cluster, tasks outlive their driver, and may run twice.

Embedded, tasks end with the process that started them. On a cluster they run on when that process
dies, and one whose executor seems to be lost is run again, perhaps beside itself. So no task there
asks any host unless it knows that no other one does. Its knowledge is in the folder `.fetching`:

    run.json             the run that may fetch, and how many beats it has given
    RUN.7.0 RUN.7.1 …    an empty file for each task of a run that was given part 7; the last has it

A task ends at once, in the middle of its requests, when another run or task follows it, or when it
has seen no beat for LEASE_S. Whoever follows another waits for HANDOVER_S before its first request:
by then the other one has seen that, or, if it no longer reaches the folder, has missed the beats.
Each waits by its own clock, and clocks are never compared (Gray and Cheriton, "Leases", SOSP 1989,
whose leases are bounded by clocks as well).

A run whose tasks have all ended leaves no run.json, and nobody waits.
"""

from __future__ import annotations

import re
import threading
import time
import uuid
from contextlib import contextmanager, suppress
from itertools import count
from typing import TYPE_CHECKING

import msgspec

from gossamer import files, stopping
from gossamer.backends import open_backend
from gossamer.errors import EngineError, StoreError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from gossamer.engine import Engine

BEAT_S = 0.5
LEASE_S = 8.0
"""Seconds without a beat after which a task ends."""
HANDOVER_S = LEASE_S + 2
"""Tasks look twice a second, so the last request of a former one ends a second after its lease."""
LOOK_S = 0.25
_FOLDER, _RUN = ".fetching", "run.json"
_CLAIM = re.compile(r"\.\d+\.\d+$")


class Beat(msgspec.Struct, frozen=True):
    run: str
    number: int


@contextmanager
def held(
    root: str, engine: Engine, wait: Callable[[float], None] = time.sleep
) -> Iterator[str | None]:
    """Let the tasks of the block fetch; yields the name of their run, None for the embedded engine.

    Waits first if tasks of a former run may still fetch, unless somebody asks to stop. Raises
    UsageError if the cluster runs tasks twice to save time.
    """
    if engine.is_local:
        yield None
        return
    if engine.spark.conf.get("spark.speculation", "false") == "true":
        what = "spark.speculation is on, so that two tasks would ask the same hosts at once"
        raise UsageError("the Spark cluster", what, "set it to false: it gains nothing here")
    folder, run = _folder(root), uuid.uuid4().hex
    files.make_folder(folder)
    follows = files.exists(f"{folder}/{_RUN}")
    _write(folder, Beat(run, 0))
    ended = threading.Event()
    beats = threading.Thread(target=_beat, args=(folder, run, ended), daemon=True)
    beats.start()
    try:
        for _ in range(int(HANDOVER_S / LOOK_S) if follows else 0):
            if stopping.asked(root):
                break
            wait(LOOK_S)
        for path in _claims(folder):
            files.remove(path)
        yield run
    finally:
        ended.set()
        beats.join()
    # A task that was run again may still run beside itself, and after an error, any may.
    if all(path.endswith(".0") for path in _claims(folder) if run in path):
        files.remove(f"{folder}/{_RUN}")


def _beat(folder: str, run: str, ended: threading.Event) -> None:
    for number in count(1):
        if ended.wait(BEAT_S):
            return
        with suppress(OSError, StoreError):  # without beats, the tasks end
            _write(folder, Beat(run, number))


def _write(folder: str, beat: Beat) -> None:
    files.replace(f"{folder}/{_RUN}", msgspec.json.encode(beat))


class Tenure:
    """The right of a task to ask the hosts of its part."""

    def __init__(
        self, root: str, run: str, part: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._root, self._run, self._part, self._clock = root, run, part, clock
        self._subject = f"the fetch of part {part}"
        self._number = self._claimed()
        self._seen, self._seen_s = self._last(), clock()

    def begin(self, wait: Callable[[float], None] = time.sleep) -> None:
        """Wait until nobody else asks the hosts. Raises EngineError as `check` does.

        The first beat that follows shows that the run lives, however long this task had to wait for
        its turn.
        """
        first = self._seen
        begins_s = self._clock() + (HANDOVER_S if self._number else 0)
        while self._seen == first or self._clock() < begins_s:
            wait(LOOK_S)
            self.check()

    def check(self) -> None:
        """Raises EngineError if another run or task follows this one, or if the run seems dead."""
        beat, now_s = self._last(), self._clock()
        if beat is not None and beat != self._seen:
            self._seen, self._seen_s = beat, now_s
        if beat is not None and beat.run != self._run:
            raise self._ended("another run fetches now")
        if files.exists(f"{self._root}/{self._claim(self._number + 1)}"):
            raise self._ended("another task was given its pages")
        if now_s - self._seen_s >= LEASE_S:
            raise self._ended(f"the process that started it gave no sign for {LEASE_S:.0f} s")

    def _ended(self, why: str) -> EngineError:
        return EngineError(self._subject, why, "run the same command again")

    def _claimed(self) -> int:
        backend = open_backend(self._root)
        for number in count():
            with suppress(FileExistsError):
                backend.create(self._claim(number), b"")
                return number
        raise AssertionError

    def _claim(self, number: int) -> str:
        return f"{_FOLDER}/{self._run}.{self._part}.{number}"

    def _last(self) -> Beat | None:
        try:
            data = files.read(f"{_folder(self._root)}/{_RUN}")
            return msgspec.json.decode(data, type=Beat)
        except (OSError, StoreError, msgspec.DecodeError):
            return None


def _folder(root: str) -> str:
    return f"{root}/{_FOLDER}"


def _claims(folder: str) -> list[str]:
    return [path for path in files.listed(folder) if _CLAIM.search(path)]
