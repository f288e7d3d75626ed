"""What the crawl does, as a person wants to see it: speed, queue, outcomes, rounds, hosts.

All of it is from the manifest and the heartbeats, but for two things. How fast pages came a while
ago nobody records, so the server remembers what it saw when it was asked, in a ring of bounded
length; and of the hosts the busiest are looked up once a commit.
"""

from __future__ import annotations

import threading
from collections import deque
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.lookup import opened
from gossamer.outcomes import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gossamer.lookup import Lookup
    from gossamer.store import Layer
    from gossamer.workspace import Workspace

SILENT_MS = 10_000
"""A task that was not heard of for so long is not at work."""
SAMPLES = 240
SAMPLE_MS = 1_000
"""Least time between two samples: of a page that is looked at, 240 are twelve minutes."""
SHOWN_ROUNDS = 40
SHOWN_HOSTS = 10
HOST_COLUMNS = ("host", "requests", "pages", "bytes", "failures", "outcome", "latency_ms")


class Now(msgspec.Struct, frozen=True):
    """What is being fetched."""

    tasks: int
    queue: int
    """URLs of the round that are still to be asked for."""
    pages_per_s: float


class Outcome(msgspec.Struct, frozen=True):
    name: str
    meaning: str
    count: int
    share: float
    failed: bool


class Round(msgspec.Struct, frozen=True):
    """What a fetch brought."""

    number: int
    asked: int
    stored: int
    failed: int
    seconds: float

    @property
    def per_s(self) -> float:
        return self.asked / self.seconds if self.seconds else 0.0


class _Sample(NamedTuple):
    at_ms: int
    round: int
    done: int


class History:
    """How many pages were fetched when, as far as anybody asked. Used from several threads.

    Invariant: times rise, and no two samples are closer than SAMPLE_MS.
    """

    def __init__(self) -> None:
        self._samples: deque[_Sample] = deque(maxlen=SAMPLES)
        self._guard = threading.Lock()

    def note(self, tasks: Sequence[Mapping[str, Any]], now_ms: int) -> None:
        """Remember where the tasks of `overview` are."""
        fetches = [task for task in tasks if task["step"] == "fetch"]
        round_ = max((task["round"] for task in fetches), default=0)
        done = sum(task["done"] for task in fetches if task["round"] == round_)
        with self._guard:
            if not self._samples or now_ms - self._samples[-1].at_ms >= SAMPLE_MS:
                self._samples.append(_Sample(now_ms, round_, done))

    def rates(self) -> list[tuple[int, float]]:
        """When, and pages a second since the sample before; of a new round, since it began."""
        with self._guard:
            samples = list(self._samples)
        return [
            (after.at_ms, max(after.done - before.done, 0) * 1000 / (after.at_ms - before.at_ms))
            for before, after in pairwise(samples)
            if before.round == after.round
        ]


def now(tasks: Sequence[Mapping[str, Any]], now_ms: int) -> Now:
    """What the tasks of `overview` are at."""
    at_work = [
        task
        for task in tasks
        if task["step"] == "fetch"
        and task["done"] < task["total"]
        and now_ms - task["at_ms"] < SILENT_MS
    ]
    speeds = (
        task["done"] * 1000 / max(task["at_ms"] - task["started_ms"], 1)
        for task in at_work
        if task["done"]
    )
    queue = sum(task["total"] - task["done"] for task in at_work)
    return Now(len(at_work), queue, round(sum(speeds), 1))


def outcomes(counts: Mapping[str, int]) -> list[Outcome]:
    """Fetches by outcome, the most frequent first; `counts` may have others, which are left out."""
    known = {name: count for name, count in counts.items() if name in OUTCOMES and count}
    total = sum(known.values())
    ordered = sorted(known.items(), key=lambda item: (-item[1], item[0]))
    return [
        Outcome(name, OUTCOMES[name].meaning, count, count / total, _failed(name))
        for name, count in ordered
    ]


def rounds(steps: Sequence[Mapping[str, Any]]) -> list[Round]:
    """The last fetches of a history, oldest first."""
    fetches = [step for step in steps if step["step"] == "fetch"]
    return [
        Round(
            step["round"],
            sum(count for name, count in step["counts"].items() if name in OUTCOMES),
            step["counts"].get("ok", 0),
            sum(count for name, count in step["counts"].items() if _failed(name)),
            step["seconds"],
        )
        for step in fetches[-SHOWN_ROUNDS:]
    ]


def _failed(name: str) -> bool:
    """The server or the network did, and it is tried again."""
    return name in OUTCOMES and OUTCOMES[name].retry_wait_s > 0


class Hosts:
    """The hosts that were asked most, looked up when the dataset changes."""

    def __init__(self, work: Workspace, lookup: Lookup) -> None:
        self._work = work
        self._lookup = lookup
        self._guard = threading.Lock()
        self._layers: tuple[Layer, ...] = ()
        self._busiest: list[dict[str, Any]] = []

    def busiest(self) -> list[dict[str, Any]]:
        """Newest rows of hosts, HOST_COLUMNS of them. Raises StoreError."""
        with self._guard:
            layers = self._work.store.manifest.layers("hosts")
            if layers != self._layers:
                names = _most_asked(self._work.paths("hosts"))
                found = (self._lookup.rows("hosts", "host", name, HOST_COLUMNS) for name in names)
                self._busiest = [row for rows in found if (row := next(rows, None)) is not None]
                self._layers = layers
            return self._busiest


def _most_asked(paths: Sequence[str]) -> list[str]:
    """Requests are counted in all rounds, so a host's newest row has the most."""
    if not paths:
        return []
    rows = pa.concat_tables(map(_requests, paths))
    most = rows.group_by("host").aggregate([("requests", "max")])
    order = [("requests_max", "descending"), ("host", "ascending")]
    best = pc.select_k_unstable(most, min(SHOWN_HOSTS, most.num_rows), order)
    names: list[str] = most.column("host").take(best).to_pylist()
    return names


def _requests(path: str) -> pa.Table:
    columns = ["host", "requests"]
    with opened(path, "hosts", columns) as file:
        return file.read(columns)
