"""How does the fetching go? Speed, outcomes and errors, of now and of the last rounds.

All of it comes from the heartbeats of tasks and from the reports of steps in the manifest. Past
speeds are in neither, so whoever looks repeatedly keeps samples of the progress, in a ring of
bounded length.
"""

from __future__ import annotations

import threading
from collections import Counter, deque
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from gossamer.tables.outcomes import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gossamer.state.heartbeats import TaskProgress
    from gossamer.storage.store import StepReport

SILENT_MS = 10_000
"""A task without a heartbeat for this long counts as ended."""
SAMPLES = 240
SAMPLE_MS = 1_000
"""The shortest time between two samples. An open status page asks every three seconds, so 240
samples are twelve minutes."""
SHOWN_ROUNDS = 40
ERROR_ROUNDS = 10
"""The number of rounds whose errors are counted, the newest."""


class Lane(msgspec.Struct, frozen=True):
    """A step that is running: the sums over its tasks."""

    step: str
    round: int
    tasks: int
    done: int
    total: int
    per_s: float

    @property
    def left(self) -> int:
        return self.total - self.done

    @property
    def left_s(self) -> float | None:
        """Seconds until it is done, at its present speed."""
        return self.left / self.per_s if self.per_s else None


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

    def note(self, tasks: Sequence[TaskProgress], now_ms: int) -> None:
        """Add a sample of the progress of the tasks."""
        fetches = [task for task in tasks if task.step == "fetch"]
        round_ = max((task.round for task in fetches), default=0)
        done = sum(task.done for task in fetches if task.round == round_)
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


def lanes(tasks: Iterable[TaskProgress], now_ms: int) -> list[Lane]:
    """The steps that have tasks at work at this moment, `fetch` first."""
    lively = (task for task in tasks if abs(now_ms - task.at_ms) < SILENT_MS)
    at_work = [task for task in lively if task.done < task.total]
    at_work.sort(key=lambda task: (task.step != "fetch", task.step, task.round))
    groups = groupby(at_work, key=lambda task: (task.step, task.round))
    return [_lane(step, round_, list(group)) for (step, round_), group in groups]


def _lane(step: str, round_: int, tasks: Sequence[TaskProgress]) -> Lane:
    speeds = (task.done * 1000 / max(task.at_ms - task.started_ms, 1) for task in tasks)
    done, total = sum(task.done for task in tasks), sum(task.total for task in tasks)
    return Lane(step, round_, len(tasks), done, total, round(sum(speeds), 1))


def outcomes(counts: Mapping[str, int]) -> list[Outcome]:
    """Fetches by outcome, the most frequent first. Other keys of `counts` are ignored."""
    known = {name: count for name, count in counts.items() if name in OUTCOMES and count}
    total = sum(known.values())
    ordered = sorted(known.items(), key=lambda item: (-item[1], item[0]))
    return [
        Outcome(name, OUTCOMES[name].meaning, count, count / total, _is_failure(name))
        for name, count in ordered
    ]


def errors(history: Sequence[StepReport], tasks: Iterable[TaskProgress]) -> list[Outcome]:
    """The failures of the last ERROR_ROUNDS rounds and of the running one, by outcome.

    Their shares are those of all requests of these rounds.
    """
    fetches = _fetches(history)[-ERROR_ROUNDS:]
    counts = Counter[str]()
    for counted in (*(report.counts for report in fetches), running_counts(history, tasks)):
        counts.update(counted)
    return [outcome for outcome in outcomes(counts) if outcome.failed]


def running_counts(
    history: Sequence[StepReport], tasks: Iterable[TaskProgress]
) -> Mapping[str, int]:
    """The outcomes so far of the fetch that has not committed yet."""
    committed = max((report.round for report in _fetches(history)), default=0)
    counts = Counter[str]()
    for task in tasks:
        if task.step == "fetch" and task.round > committed:
            counts.update(task.counts)
    return counts


def rounds(history: Sequence[StepReport]) -> list[Round]:
    """The last fetches of a history, oldest first."""
    return [
        Round(
            report.round,
            sum(count for name, count in report.counts.items() if name in OUTCOMES),
            report.counts.get("ok", 0),
            sum(count for name, count in report.counts.items() if _is_failure(name)),
            report.seconds,
        )
        for report in _fetches(history)[-SHOWN_ROUNDS:]
    ]


def _fetches(history: Sequence[StepReport]) -> list[StepReport]:
    return [report for report in history if report.step == "fetch"]


def _is_failure(name: str) -> bool:
    """Whether an outcome is a failure of the server or the network, which may be brief."""
    return name in OUTCOMES and OUTCOMES[name].max_tries > 1
