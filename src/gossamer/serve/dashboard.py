"""Figures for the status page: speed, queue, outcomes, rounds, hosts.

Most come from the manifest and the heartbeats of tasks. Past speeds are not recorded there, so the
server keeps a sample of the progress from each request for the page, in a ring of bounded length.
The busiest hosts are read from the dataset `hosts`, once per commit of it.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from gossamer.lookup import opened
from gossamer.outcomes import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gossamer.graph.queries import Spread
    from gossamer.lookup import Lookup
    from gossamer.store import Layer
    from gossamer.workspace import Workspace

SILENT_MS = 10_000
"""A task without a heartbeat for this long counts as ended."""
SAMPLES = 240
SAMPLE_MS = 1_000
"""The shortest time between two samples. An open status page asks every three seconds, so 240
samples are twelve minutes."""
SHOWN_ROUNDS = 40
SHOWN_HOSTS = 10
HOST_COLUMNS = ("host", "requests", "pages", "bytes", "failures", "outcome", "latency_ms")


class Now(msgspec.Struct, frozen=True):
    """The fetch that is running; all zeros if none is."""

    tasks: int
    queue: int
    """URLs of the round that are not fetched yet."""
    pages_per_s: float


class Outcome(msgspec.Struct, frozen=True):
    name: str
    meaning: str
    count: int
    share: float
    failed: bool


class Round(msgspec.Struct, frozen=True):
    """The results of one round's fetch."""

    number: int
    asked: int
    stored: int
    failed: int
    seconds: float

    @property
    def per_s(self) -> float:
        return self.asked / self.seconds if self.seconds else 0.0


class DegreeRange(msgspec.Struct, frozen=True):
    """How many pages have `least` to `most` inlinks, and outlinks."""

    least: int
    most: int
    with_inlinks: int
    with_outlinks: int


class _Sample(NamedTuple):
    at_ms: int
    round: int
    done: int


class History:
    """Samples of how many pages have been fetched at which time. Used from several threads.

    Invariant: times rise, and no two samples are closer than SAMPLE_MS.
    """

    def __init__(self) -> None:
        self._samples: deque[_Sample] = deque(maxlen=SAMPLES)
        self._guard = threading.Lock()

    def note(self, tasks: Sequence[Mapping[str, Any]], now_ms: int) -> None:
        """Add a sample of the progress of the `tasks` of `overview`."""
        fetches = [task for task in tasks if task["step"] == "fetch"]
        round_ = max((task["round"] for task in fetches), default=0)
        done = sum(task["done"] for task in fetches if task["round"] == round_)
        with self._guard:
            if not self._samples or now_ms - self._samples[-1].at_ms >= SAMPLE_MS:
                self._samples.append(_Sample(now_ms, round_, done))

    def rates(self) -> list[tuple[int, float]]:
        """The time in ms and the pages per second since the previous sample, within a round."""
        with self._guard:
            samples = list(self._samples)
        return [
            (after.at_ms, max(after.done - before.done, 0) * 1000 / (after.at_ms - before.at_ms))
            for before, after in pairwise(samples)
            if before.round == after.round
        ]


def now(tasks: Sequence[Mapping[str, Any]], now_ms: int) -> Now:
    """Sum up the `tasks` of `overview` that are fetching at this moment."""
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
    """Fetches by outcome, the most frequent first. Other keys of `counts` are ignored."""
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


def degrees(spread: Spread | None) -> list[DegreeRange]:
    """Count pages by their numbers of links, in ranges that double: 0, 1, 2 to 3, 4 to 7 etc."""
    if spread is None:
        return []
    counts: list[Counter[int]] = []
    for points in spread:
        counts.append(Counter())
        for degree, pages in points:
            counts[-1][degree.bit_length()] += pages
    last = max((bits for count in counts for bits in count), default=-1)
    return [
        DegreeRange((1 << bits) >> 1, (1 << bits) - 1, *(count[bits] for count in counts))
        for bits in range(last + 1)
    ]


def _failed(name: str) -> bool:
    """Whether an outcome means that the server or the network failed, so there is a retry."""
    return name in OUTCOMES and OUTCOMES[name].retry_wait_s > 0


class Hosts:
    """The hosts with the most requests, read again when the dataset changes."""

    def __init__(self, work: Workspace, lookup: Lookup) -> None:
        self._work = work
        self._lookup = lookup
        self._guard = threading.Lock()
        self._layers: tuple[Layer, ...] = ()
        self._busiest: list[dict[str, Any]] = []

    def busiest(self) -> list[dict[str, Any]]:
        """The newest rows (HOST_COLUMNS) of the SHOWN_HOSTS busiest hosts. Raises StoreError."""
        with self._guard:
            layers = self._work.store.manifest.layers("hosts")
            if layers != self._layers:
                names = _most_asked(self._work.paths("hosts"))
                found = (self._lookup.rows("hosts", "host", name, HOST_COLUMNS) for name in names)
                self._busiest = [row for rows in found if (row := next(rows, None)) is not None]
                self._layers = layers
            return self._busiest


def _most_asked(paths: Sequence[str]) -> list[str]:
    """The names of the busiest hosts. Counts only grow, so a host's newest row has the largest."""
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
