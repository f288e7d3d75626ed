"""On a cluster, no two tasks ask the hosts of a part at once: see fetch_lease.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import pytest

from gossamer.errors import EngineError, UsageError
from gossamer.fetch.cluster import fetch_lease
from gossamer.fetch.cluster.fetch_lease import HANDOVER_S, LEASE_S, Beat, PartLease
from gossamer.state import stopping
from gossamer.storage import opening
from tests.support.machine_clock import Clock

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gossamer.engine.engine import Engine


class Cluster:
    """What `held` asks of an engine."""

    is_local = False

    def __init__(self, **settings: str) -> None:
        self.spark = self.conf = self
        self._settings = settings

    def get(self, name: str, default: str) -> str:
        return self._settings.get(name.rpartition(".")[2], default)


def cluster(**settings: str) -> Engine:
    return cast("Engine", Cluster(**settings))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / ".fetching").mkdir()
    return tmp_path


def beats(folder: Path, run: str = "one") -> Callable[[], None]:
    """A function that gives another beat of a run."""
    numbers = iter(range(10_000))

    def beat() -> None:
        fetch_lease._write(f"{folder}/.fetching", Beat(run, next(numbers)))

    beat()
    return beat


def ended(task: PartLease) -> str:
    with pytest.raises(EngineError) as error:
        task.check()
    return error.value.what


def test_the_first_task_begins_with_the_next_beat(folder: Path) -> None:
    clock = Clock(beats(folder))
    PartLease(str(folder), "one", 7, clock).begin(clock.wait)
    assert clock.now_s == fetch_lease.LOOK_S


def test_a_task_does_not_begin_without_a_beat(folder: Path) -> None:
    beats(folder)
    clock = Clock()
    with pytest.raises(EngineError, match="no sign for 8 s"):
        PartLease(str(folder), "one", 7, clock).begin(clock.wait)
    assert clock.now_s == LEASE_S


def test_a_task_ends_when_it_misses_the_beats(folder: Path) -> None:
    beat, clock = beats(folder), Clock()
    task = PartLease(str(folder), "one", 7, clock)
    clock.wait(LEASE_S - 1)
    task.check()
    beat()
    task.check()
    clock.wait(LEASE_S - 1)
    task.check()
    clock.wait(1)
    assert "no sign" in ended(task)


def test_a_beat_counts_from_the_last_look_that_did_not_see_it(folder: Path) -> None:
    """It may have been written just after that."""
    beat, clock = beats(folder), Clock()
    task = PartLease(str(folder), "one", 7, clock)
    task.check()
    beat()
    clock.wait(2)
    task.check()
    clock.wait(LEASE_S - 2)
    assert "no sign" in ended(task)


def test_a_task_ends_when_it_cannot_read_the_beats(folder: Path) -> None:
    beats(folder)
    clock = Clock()
    task = PartLease(str(folder), "one", 7, clock)
    (folder / ".fetching" / "run.json").write_bytes(b"{")
    task.check()
    clock.wait(LEASE_S)
    assert "no sign" in ended(task)


def test_a_task_ends_when_another_run_begins(folder: Path) -> None:
    beats(folder)
    task = PartLease(str(folder), "one", 7)
    beats(folder, "two")
    assert ended(task) == "another run fetches now"


def test_a_task_of_a_former_run_never_begins(folder: Path) -> None:
    beats(folder, "two")
    clock = Clock()
    with pytest.raises(EngineError, match="another run"):
        PartLease(str(folder), "one", 7, clock).begin(clock.wait)


def test_a_task_of_a_former_run_does_not_end_one_of_the_new_run(folder: Path) -> None:
    beats(folder, "two")
    task = PartLease(str(folder), "two", 7)
    PartLease(str(folder), "one", 7)
    PartLease(str(folder), "one", 7)
    task.check()


def test_a_task_that_runs_again_waits_until_the_first_one_must_have_ended(folder: Path) -> None:
    clock = Clock(beats(folder))
    first, other = (PartLease(str(folder), "one", part, clock) for part in (7, 8))
    second = PartLease(str(folder), "one", 7, clock)
    assert ended(first) == "another task was given its pages"
    other.check()
    second.begin(clock.wait)
    assert clock.now_s >= HANDOVER_S


def test_a_claim_of_a_number_has_one_owner(folder: Path, s3: str) -> None:
    for root in (str(folder), s3):
        fetch_lease._write(f"{root}/.fetching", Beat("one", 0))
        PartLease(root, "one", 17, number=0, task=3)
        with pytest.raises(FileExistsError):
            PartLease(root, "one", 17, number=0, task=4)
        PartLease(root, "one", 17, number=1, task=4)
        PartLease(root, "one", 7)
        PartLease(root, "two", 7)
        assert fetch_lease.count_claims(root, "one") == {17: 2, 7: 1}
        assert [fetch_lease.claimant(root, "one", 17, number) for number in (0, 1)] == [3, 4]
        with pytest.raises(FileNotFoundError):
            fetch_lease.claimant(root, "one", 17, 2)


def test_a_run_beats_while_it_lives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_lease, "BEAT_S", 0.001)
    with fetch_lease.hold(str(tmp_path), cluster()) as run:
        PartLease(str(tmp_path), str(run), 7).begin()
    assert not (tmp_path / ".fetching" / "run.json").exists()


def waits(folder: Path, task: Callable[[str], object] = lambda _: None) -> float:
    """The seconds that a run waits before its tasks start; `task` is given its name."""
    clock = Clock()
    with fetch_lease.hold(str(folder), cluster(), clock.wait) as run:
        task(str(run))
    return clock.now_s


def test_a_run_waits_for_the_tasks_of_one_that_died(tmp_path: Path) -> None:
    def dies(run: str) -> None:
        PartLease(str(tmp_path), run, 7)
        raise KeyboardInterrupt

    assert waits(tmp_path) == 0
    with pytest.raises(KeyboardInterrupt):
        waits(tmp_path, dies)
    assert waits(tmp_path) == HANDOVER_S
    assert waits(tmp_path) == 0


def test_a_run_waits_for_a_task_that_may_still_run_beside_itself(tmp_path: Path) -> None:
    def twice(run: str) -> None:
        PartLease(str(tmp_path), run, 7)
        PartLease(str(tmp_path), run, 7)

    assert waits(tmp_path, twice) == 0
    assert waits(tmp_path, lambda run: PartLease(str(tmp_path), run, 7)) == HANDOVER_S
    assert waits(tmp_path) == 0


def test_a_run_does_not_wait_for_tasks_of_an_older_one_that_tried_again(tmp_path: Path) -> None:
    def beside_a_dead_run(run: str) -> None:
        for of in (run, "dead", "dead"):
            PartLease(str(tmp_path), of, 7)

    assert waits(tmp_path, beside_a_dead_run) == 0
    assert waits(tmp_path) == 0


def test_a_run_that_is_to_stop_does_not_wait(folder: Path) -> None:
    beats(folder)
    stopping.request(str(folder))
    assert waits(folder) == 0


def test_speculation_is_refused(tmp_path: Path) -> None:
    held: Any = fetch_lease.hold(str(tmp_path), cluster(speculation="true"))
    with pytest.raises(UsageError, match=r"spark\.speculation"), held:
        pass


def test_the_embedded_engine_needs_no_lease(engine: Engine, tmp_path: Path) -> None:
    with fetch_lease.hold(str(tmp_path), engine) as run:
        assert run is None
    assert list(tmp_path.iterdir()) == []


def test_on_object_storage_the_embedded_engine_needs_it_too(engine: Engine, s3: str) -> None:
    with fetch_lease.hold(s3, engine) as run:
        assert run
        assert opening.exists(f"{s3}/.fetching/run.json")
        PartLease(s3, run, 7).begin()
    assert opening.list_files(f"{s3}/.fetching") == [f"{s3}/.fetching/{run}.7.0"]
    with fetch_lease.hold(s3, engine):
        assert opening.list_files(f"{s3}/.fetching") == [f"{s3}/.fetching/run.json"]


def test_an_object_store_shows_at_once_whether_a_run_lives(
    s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = iter(range(10_000))

    def beat() -> None:
        fetch_lease._write(f"{s3}/.fetching", Beat("one", next(numbers)))

    beat()
    clock = Clock(beat)
    PartLease(s3, "one", 7, clock).begin(clock.wait)
    assert clock.now_s == 0
    monkeypatch.setattr(opening, "modified_ms", lambda path: 9_000 if path.endswith(".8.0") else 0)
    PartLease(s3, "one", 8, clock).begin(clock.wait)
    assert clock.now_s > 0, "the beat was too old"


def test_on_object_storage_a_task_of_a_former_run_asks_no_host(s3: str) -> None:
    fetch_lease._write(f"{s3}/.fetching", Beat("two", 0))
    clock = Clock()
    former = PartLease(s3, "one", 7, clock)
    former.begin(clock.wait)
    assert ended(former) == "another run fetches now"


def test_the_claim_of_a_run_that_lives_is_its_first_look(
    s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetch_lease._write(f"{s3}/.fetching", Beat("one", 0))
    clock = Clock()
    task = PartLease(s3, "one", 7, clock)
    with monkeypatch.context() as patched:
        patched.delattr(opening, "read")
        task.begin(clock.wait)
        task.check()
    PartLease(s3, "one", 7, clock)
    clock.now_s += fetch_lease.OBJECTS_LOOK_S + 0.1
    assert ended(task) == "another task was given its pages"


def test_an_object_store_is_asked_at_a_bounded_rate(s3: str) -> None:
    fetch_lease._write(f"{s3}/.fetching", Beat("one", 0))
    clock = Clock()
    task = PartLease(s3, "one", 7, clock)
    task.check()
    fetch_lease._write(f"{s3}/.fetching", Beat("two", 0))
    clock.now_s += fetch_lease.OBJECTS_LOOK_S - 0.1
    task.check()
    clock.now_s += 0.2
    assert ended(task) == "another run fetches now"
