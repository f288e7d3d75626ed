"""Who may ask the hosts of a part? On a cluster, tasks outlive their driver, and may run twice.

With the embedded engine, tasks end with the process that started them, whose lock of a folder ends
only then, too. On a cluster they run on when that process dies, and one whose executor seems to be
lost is run again, perhaps beside itself. On object storage, another process may take over the lock
of one that is paused. So no task there asks any host unless it knows that no other one does. Its
knowledge is in the folder `.fetching`:

    run.json             the run that may fetch, and how many beats it has given
    RUN.7.0 RUN.7.1 …    a claim of each task of a run that was given part 7; the last one has it

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
from collections import Counter
from contextlib import contextmanager, suppress
from itertools import count
from math import inf
from typing import TYPE_CHECKING

import msgspec

from gossamer.errors import EngineError, StoreError, UsageError
from gossamer.state import stopping
from gossamer.storage import opening
from gossamer.storage.backends import open_backend
from gossamer.storage.objects.bucket import is_object_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from gossamer.engine.engine import Engine

BEAT_S, OBJECTS_BEAT_S = 0.5, 2.0
"""Seconds between two beats: in a folder, and on object storage, where each write costs money."""
LEASE_S = 8.0
"""Seconds without a beat after which a task ends."""
HANDOVER_S = LEASE_S + 2
"""Tasks look at least every OBJECTS_LOOK_S, so the last request of a former one ends before."""
LOOK_S = 0.25
OBJECTS_LOOK_S = 1.5
"""On object storage, a task looks at most so often."""
CLOCK_S = 1.0
"""Some object stores tell times in whole seconds."""
_FOLDER, _RUN = ".fetching", "run.json"
_CLAIM = re.compile(r"\.\d+\.\d+$")


class Beat(msgspec.Struct, frozen=True):
    run: str
    number: int


@contextmanager
def hold(
    root: str, engine: Engine, wait: Callable[[float], None] = time.sleep
) -> Iterator[str | None]:
    """Let the tasks of the block fetch; yields the name of their run, None if they need no lease.

    Waits first if tasks of a former run may still fetch, unless somebody asks to stop. Raises
    UsageError if the cluster runs tasks twice to save time.
    """
    if engine.is_local and not is_object_url(root):
        yield None
        return
    if not engine.is_local and engine.spark.conf.get("spark.speculation", "false") == "true":
        what = "spark.speculation is on, so that two tasks would ask the same hosts at once"
        raise UsageError("the Spark cluster", what, "set it to false: it gains nothing here")
    folder, run = _folder(root), uuid.uuid4().hex
    opening.make_folder(folder)
    left = opening.list_files(folder)
    follows = any(path.endswith(f"/{_RUN}") for path in left)
    _write(folder, Beat(run, 0))
    ended = threading.Event()
    every_s = OBJECTS_BEAT_S if is_object_url(root) else BEAT_S
    beats = threading.Thread(target=_beat, args=(folder, run, ended, every_s), daemon=True)
    beats.start()
    try:
        for _ in range(int(HANDOVER_S / LOOK_S) if follows else 0):
            if stopping.requested(root):
                break
            wait(LOOK_S)
        opening.remove(*filter(_CLAIM.search, left))
        yield run
    finally:
        ended.set()
        beats.join()
    # A task that was run again may still run beside itself, and after an error, any may.
    if all(path.endswith(".0") for path in _claims(folder) if run in path):
        opening.remove(f"{folder}/{_RUN}")


def _beat(folder: str, run: str, ended: threading.Event, every_s: float) -> None:
    for number in count(1):
        if ended.wait(every_s):
            return
        with suppress(OSError, StoreError):  # without beats, the tasks end
            _write(folder, Beat(run, number))


def _write(folder: str, beat: Beat) -> None:
    opening.replace(f"{folder}/{_RUN}", msgspec.json.encode(beat))


class PartLease:
    """The right of a task to ask the hosts of its part.

    The task claims the part with the next free number. With `number`, it does so only if that is
    free; else, it raises FileExistsError. `task`: its number among those that may claim the part.
    """

    def __init__(
        self,
        root: str,
        run: str,
        part: int,
        clock: Callable[[], float] = time.monotonic,
        *,
        number: int | None = None,
        task: int = 0,
    ) -> None:
        self._root, self._run, self._part, self._clock = root, run, part, clock
        self._subject = f"the fetch of part {part}"
        self._look_s, self._next_s = OBJECTS_LOOK_S if is_object_url(root) else 0, 0.0
        before_s = clock()
        self._number = self._take_claim(count() if number is None else [number], f"{task}".encode())
        self._looked_s = clock()
        self._seen, self._seen_s = self._last(), clock()
        self._lives = is_object_url(root) and (age_s := self._age_s()) < LEASE_S / 2
        if self._lives:
            self._seen_s = before_s - age_s
        if self._lives and self._seen is not None and self._seen.run == run:
            self._next_s = self._looked_s + self._look_s  # this was a look

    def begin(self, wait: Callable[[float], None] = time.sleep) -> None:
        """Wait until nobody else asks the hosts. Raises EngineError as `check` does.

        The first beat that follows shows that the run lives, however long this task had to wait for
        its turn. An object store shows it at once: it dates beats and claims by one clock.
        """
        first = self._seen
        begins_s = self._clock() + (HANDOVER_S if self._number else 0)
        while (self._seen == first and not self._lives) or self._clock() < begins_s:
            wait(LOOK_S)
            self.check()

    def check(self) -> None:
        """Raises EngineError if another run or task follows this one, or if the run seems dead."""
        if self._clock() < self._next_s:
            return
        looked_s, self._looked_s = self._looked_s, self._clock()
        beat, now_s = self._last(), self._clock()
        self._next_s = now_s + self._look_s
        if beat is not None and beat != self._seen:
            self._seen, self._seen_s = beat, looked_s  # since then, it was written
        if beat is not None and beat.run != self._run:
            raise self._lost("another run fetches now")
        if opening.exists(f"{self._root}/{self._claim_path(self._number + 1)}"):
            raise self._lost("another task was given its pages")
        if now_s - self._seen_s >= LEASE_S:
            raise self._lost(f"the process that started it gave no sign for {LEASE_S:.0f} s")

    def _lost(self, why: str) -> EngineError:
        return EngineError(self._subject, why, "run the same command again")

    def _take_claim(self, numbers: Iterable[int], task: bytes) -> int:
        backend = open_backend(self._root, is_known=True)
        for number in numbers:
            with suppress(FileExistsError):
                backend.create(self._claim_path(number), task)
                return number
        raise FileExistsError

    def _claim_path(self, number: int) -> str:
        return _claim_path(self._run, self._part, number)

    def _age_s(self) -> float:
        """At most so long before this task's claim was the last beat, by the clock of the store."""
        claim = f"{self._root}/{self._claim_path(self._number)}"
        try:
            ms = opening.modified_ms(claim) - opening.modified_ms(f"{_folder(self._root)}/{_RUN}")
        except FileNotFoundError:
            return inf
        return max(ms / 1000, 0) + CLOCK_S

    def _last(self) -> Beat | None:
        try:
            data = opening.read(f"{_folder(self._root)}/{_RUN}")
            return msgspec.json.decode(data, type=Beat)
        except (OSError, StoreError, msgspec.DecodeError):
            return None


def _folder(root: str) -> str:
    return f"{root}/{_FOLDER}"


def count_claims(root: str, run: str) -> Counter[int]:
    """How many tasks of a run have claimed each part."""
    of_run = (path for path in _claims(_folder(root)) if path.rpartition("/")[2].startswith(run))
    return Counter(int(path.split(".")[-2]) for path in of_run)


def claimant(root: str, run: str, part: int, number: int) -> int:
    """The number of the task that made a claim. Raises FileNotFoundError."""
    return int(opening.read(f"{root}/{_claim_path(run, part, number)}"))


def _claim_path(run: str, part: int, number: int) -> str:
    return f"{_FOLDER}/{run}.{part}.{number}"


def _claims(folder: str) -> list[str]:
    return [path for path in opening.list_files(folder) if _CLAIM.search(path)]
