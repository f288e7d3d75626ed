"""Where parts are bound to groups of workers, tasks look for what their workers may fetch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import msgspec
import pytest

from gossamer import fetch
from gossamer.config import FetchConfig
from gossamer.config.egress import GROUPS, POSTPONED
from gossamer.errors import EngineError
from gossamer.fetch import fetch_task
from gossamer.fetch.cluster import egress_scheduling, fetch_lease
from gossamer.fetch.cluster.egress_scheduling import PATIENCE_S, TRIES, Offer, take
from gossamer.fetch.cluster.fetch_lease import HANDOVER_S, Beat, PartLease
from gossamer.fetch.fetch_part import FetchPart
from gossamer.flow import rounds
from gossamer.schedule import generate
from gossamer.storage.task_output import count_rows, counts_of
from gossamer.web.urls import UrlRules
from tests.support.loopback import page
from tests.support.machine_clock import Clock
from tests.support.rows import put

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from gossamer.engine.engine import Engine
    from gossamer.state.workspace import Workspace
    from gossamer.storage.task_output import Row
    from tests.support.loopback import Loopback

RUN = "run"
ATTEMPTS = ("responses/1", "warc/1", "scratch/1", "hosts/1")


@pytest.fixture
def root(tmp_path: Path) -> str:
    (tmp_path / ".fetching").mkdir()
    fetch_lease._write(f"{tmp_path}/.fetching", Beat(RUN, 0))
    return str(tmp_path)


@pytest.fixture
def is_in(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes this process one of a worker of some groups."""
    return lambda groups: monkeypatch.setenv(GROUPS, groups)


def parts(root: str, *groups: str) -> list[FetchPart]:
    """Parts that are bound to these groups, each to some that are separated by blanks."""
    common = (FetchConfig(), UrlRules(), ATTEMPTS, 0)
    return [
        FetchPart(root, 1, n, (), (), *common, run=RUN, egress=frozenset(each.split()))
        for n, each in enumerate(groups)
    ]


def offer(root: str, *groups: str) -> Offer:
    return Offer(tuple(parts(root, *groups)), fetch_lease.count_claims(root, RUN))


def taken(offered: Offer, number: int) -> int | None:
    """The part that a task takes; None if it gives up."""
    clock = Clock()
    found = take(offered, number, clock, clock.wait)
    return None if found is None else found[0].number


def test_tasks_take_what_their_workers_may_fetch_and_first_what_others_may_not(
    root: str, is_in: Callable[[str], None]
) -> None:
    offered = offer(root, "", "eu", "us", "eu us", "")
    is_in("eu,us")
    assert taken(offered, 0) == 3
    is_in("us,asia")
    assert taken(offered, 1) == 2
    assert taken(offered, 2) in {0, 4}
    is_in("")
    assert taken(offered, 3) in {0, 4}
    assert taken(offered, 4) is None
    is_in("eu")
    assert taken(offered, 5) == 1
    assert fetch_lease.count_claims(root, RUN) == dict.fromkeys(range(5), 1)


def test_a_task_without_a_part_keeps_its_slot_until_all_are_taken_but_not_for_long(
    root: str, is_in: Callable[[str], None]
) -> None:
    offered = offer(root, "eu", "eu")
    is_in("us")
    clock = Clock()
    assert take(offered, 0, clock, clock.wait) is None
    assert clock.now_s == PATIENCE_S
    others = iter([0, 1])
    clock = Clock(lambda: PartLease(root, RUN, next(others)))
    assert take(offered, 0, clock, clock.wait) is None
    assert clock.now_s == 2 * egress_scheduling.LOOK_S


def test_two_tasks_that_see_the_same_part_do_not_both_take_it(
    root: str, is_in: Callable[[str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    is_in("eu")
    offered = offer(root, "eu", "eu")
    monkeypatch.setattr(Offer, "free", lambda _: {0, 1})  # as before the first claim
    assert [taken(offered, number) for number in (0, 2)] == [0, 1]


def test_a_task_that_runs_again_takes_the_part_that_it_had(
    root: str, is_in: Callable[[str], None]
) -> None:
    is_in("eu")
    offered = offer(root, "eu", "eu")
    assert [taken(offered, number) for number in (4, 5)] == [0, 1]
    is_in("us")
    assert taken(offered, 5) is None
    is_in("eu")
    assert taken(offered, 6) is None
    assert taken(offered, 5) == 1
    assert fetch_lease.count_claims(root, RUN) == {0: 1, 1: 2}
    assert taken(offered, 5) == 1, "run for the third time"


def test_the_next_wave_takes_over_and_waits_until_the_former_task_must_have_ended(
    root: str, is_in: Callable[[str], None]
) -> None:
    is_in("eu")
    lost = take(offer(root, "eu"), 0)
    assert lost is not None
    again = take(offer(root, "eu"), 1)
    assert again is not None
    with pytest.raises(EngineError, match="another task was given its pages"):
        lost[1].check()
    beats = iter(range(1, 10_000))
    clock = Clock(lambda: fetch_lease._write(f"{root}/.fetching", Beat(RUN, next(beats))))
    PartLease(root, RUN, 0, clock).begin(clock.wait)
    assert clock.now_s >= HANDOVER_S


class Cluster:
    """Runs the tasks of a job one after the other, each on the next one of its workers."""

    is_local = False

    def __init__(self, is_in: Callable[[str], None], *workers: str) -> None:
        self.workers = len(workers)
        self.jobs = 0
        self._is_in, self._groups = is_in, workers

    def map_tasks(
        self, tasks: Sequence[Any], fn: Callable[[Any], list[Row]], *_: object
    ) -> list[Row]:
        found = []
        for number, each in enumerate(tasks):
            self._is_in(self._groups[(number + self.jobs) % self.workers])
            found += fn(each)
        self.jobs += 1
        return found


@pytest.fixture
def fetched_numbers(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The parts that were fetched, in their order, by tasks that do nothing else."""
    numbers: list[int] = []

    def fetch_part(part: FetchPart, _lease: PartLease) -> list[Row]:
        numbers.append(part.number)
        return count_rows({"ok": 5})

    monkeypatch.setattr(fetch_task, "fetch_part", fetch_part)
    monkeypatch.setattr(egress_scheduling, "PATIENCE_S", 0)
    return numbers


def test_waves_go_on_until_all_is_fetched(
    root: str, is_in: Callable[[str], None], fetched_numbers: list[int]
) -> None:
    cluster = Cluster(is_in, "eu", "us", "")
    rows, left = egress_scheduling.fetch_parts(
        cast("Engine", cluster), parts(root, "us", "us", "us", "eu", "")
    )
    assert sorted(fetched_numbers) == [0, 1, 2, 3, 4]
    assert counts_of(rows) == {"ok": 25}
    assert (left, cluster.jobs) == ([], 2)


def test_waves_end_if_nobody_can_fetch_what_is_left(
    root: str, is_in: Callable[[str], None], fetched_numbers: list[int]
) -> None:
    cluster = Cluster(is_in, "eu")
    rows, left = egress_scheduling.fetch_parts(cast("Engine", cluster), parts(root, "us", "eu"))
    assert fetched_numbers == [1]
    assert counts_of(rows) == {"ok": 5}
    assert [part.number for part in left] == [0]
    assert cluster.jobs == 1 + TRIES
    assert fetch_lease.count_claims(root, RUN) == {0: 1, 1: 1}, (
        "no late task may fetch the other part"
    )


@pytest.mark.embedded
def test_on_one_machine_only_what_its_groups_may_is_fetched(
    work: Workspace, server: Loopback, is_in: Callable[[str], None]
) -> None:
    server.answers = {"/": page(b"<p>hello")}
    rows = [{"url": f"http://{name}.test/", "host": f"{name}.test"} for name in ("a", "b", "c")]
    put(work, "pages", rows)
    settings: dict[str, Any] = {"host_overrides": {"*.test": server.address}, "delay_s": 0.0}
    settings |= {"allow_networks": ("127.0.0.0/8",), "egress": {"eu": ("a.*",), "us": ("b.*",)}}
    work.config = msgspec.structs.replace(work.config, fetch=FetchConfig(**settings))
    work.clock_ms = None
    is_in("eu,us")
    assert generate.run(work).counts == {"pages": 3}
    is_in("us")
    assert fetch.run(work).counts == {"ok": 1, POSTPONED: 2}  # c.test is in the part of a.test
    assert {asked.host for asked in server.asked} == {"b.test"}
    assert generate.run(work).counts == {"pages": 2, POSTPONED: 1}
    is_in("")
    done = {report.step: report.counts for report in rounds.run(work, rounds=1)}
    assert done["fetch"] == {"ok": 1, POSTPONED: 1}
    assert {asked.host for asked in server.asked} == {"b.test", "c.test"}
    assert generate.run(work).counts == {"pages": 0, POSTPONED: 2}
