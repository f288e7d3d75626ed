from __future__ import annotations

from typing import Any

from gossamer.state.heartbeats import TaskProgress
from gossamer.status import fetch_progress
from gossamer.status.fetch_progress import History, Lane
from gossamer.storage.store import StepReport


def task(done: int, total: int = 100, **more: Any) -> TaskProgress:
    plain: dict[str, Any] = {
        "step": "fetch",
        "round": 1,
        "task": "0",
        "started_ms": 0,
        "at_ms": 10_000,
    }
    return TaskProgress(done=done, total=total, **plain | more)


def fetched(round_: int, **counts: int) -> StepReport:
    return StepReport("fetch", round_, 0, 10.0, counts)


def test_the_steps_at_work() -> None:
    tasks = [task(5, step="parse"), task(20), task(30, 50), task(9, 9), task(7, at_ms=0)]
    lanes = fetch_progress.lanes(tasks, 10_500)
    assert lanes == [Lane("fetch", 1, 2, 50, 150, 5.0), Lane("parse", 1, 1, 5, 100, 0.5)]
    assert (lanes[0].left, lanes[0].left_s) == (100, 20.0)
    assert fetch_progress.lanes(tasks, 60_000) == []
    (idle,) = fetch_progress.lanes([task(0)], 10_500)
    assert idle.left_s is None


def test_two_rounds_at_once_are_two_lanes() -> None:
    tasks = [task(1, step="parse", round=1), task(2, round=2), task(3, step="parse", round=2)]
    lanes = fetch_progress.lanes(tasks, 10_000)
    assert [(lane.step, lane.round) for lane in lanes] == [("fetch", 2), ("parse", 1), ("parse", 2)]


def test_rates_are_those_between_two_looks_of_one_round() -> None:
    history = History()
    for at_ms, round_, done in [(0, 1, 10), (2_000, 1, 50), (2_500, 1, 60), (4_000, 2, 3),
                                (5_000, 2, 33)]:  # fmt: skip
        history.note([task(done, round=round_), task(99, step="parse")], at_ms)
    assert history.rates() == [(2_000, 20.0), (5_000, 30.0)]


def test_what_is_remembered_is_bounded() -> None:
    history = History()
    for second in range(3 * fetch_progress.SAMPLES):
        history.note([], second * 1_000)
    assert len(history.rates()) == fetch_progress.SAMPLES - 1


def test_outcomes_with_their_share() -> None:
    told = fetch_progress.outcomes({"ok": 6, "timeout": 2, "postponed_failing": 5, "robots": 0})
    assert [(one.name, one.share, one.failed) for one in told] == [
        ("ok", 0.75, False),
        ("timeout", 0.25, True),
    ]


def test_errors_are_those_of_the_last_rounds_and_of_the_running_one() -> None:
    last = fetch_progress.ERROR_ROUNDS + 1
    history = [fetched(n, timeout=1, ok=4, not_found=5) for n in range(1, last + 1)]
    history.insert(3, StepReport("parse", 2, 0, 1.0, {"timeout": 1_000}))
    tasks = [task(9, round=last, counts={"tls": 50}), task(9, round=last + 1, counts={"tls": 3})]
    found = fetch_progress.errors(history, tasks)
    assert [(one.name, one.count) for one in found] == [("timeout", 10), ("tls", 3)]
    assert found[0].share == 10 / 103
    assert fetch_progress.errors([], []) == []


def test_rounds_with_their_speed() -> None:
    (done,) = fetch_progress.rounds([fetched(7, ok=30, timeout=10, postponed_failing=99)])
    assert (done.number, done.asked, done.stored, done.failed) == (7, 40, 30, 10)
    assert done.per_s == 4.0
