from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import structs

from gossamer.state.heartbeats import (
    BEAT_S,
    Heartbeat,
    Wait,
    clear_heartbeats,
    heartbeats,
    note_waiting,
    read_noted_wait,
)
from gossamer.storage.lock_holder import Holder

if TYPE_CHECKING:
    from pathlib import Path


class Clock:
    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def test_a_task_tells_where_it_stands(tmp_path: Path) -> None:
    clock = Clock()
    heartbeat = Heartbeat(str(tmp_path), "fetch", 3, "0", 10, clock)
    heartbeat.beat(1, "ok")
    clock.now_s += 2
    heartbeat.beat(3, "not_found")
    (beat,) = heartbeats(str(tmp_path))
    assert (beat.step, beat.round, beat.task) == ("fetch", 3, "0")
    assert (beat.done, beat.total) == (4, 10)
    assert beat.counts == {"ok": 1, "not_found": 3}
    assert (beat.started_ms, beat.at_ms) == (1_000_000, 1_002_000)


def test_beats_are_cheap_and_the_last_is_told(tmp_path: Path) -> None:
    clock = Clock()
    heartbeat = Heartbeat(str(tmp_path), "parse", 1, "0", 100, clock)
    told = []
    for _ in range(100):
        heartbeat.beat()
        told.append(next(iter(heartbeats(str(tmp_path)))).done)
        clock.now_s += BEAT_S / 10
    changes = sum(before != after for before, after in pairwise(told))
    assert changes <= 11
    heartbeat.finish()
    assert next(iter(heartbeats(str(tmp_path)))).done == 100


def test_a_task_is_heard_although_the_clock_is_set_back(tmp_path: Path) -> None:
    clock = Clock()
    heartbeat = Heartbeat(str(tmp_path), "fetch", 1, "0", 9, clock)
    heartbeat.beat()
    clock.now_s -= 500
    heartbeat.beat()
    assert next(iter(heartbeats(str(tmp_path)))).done == 2


def test_news_that_cannot_be_told_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "heartbeats").write_text("in the way of a folder")
    heartbeat = Heartbeat(str(tmp_path), "fetch", 1, "0", 1)
    heartbeat.beat()
    heartbeat.finish()
    assert heartbeat.done == 1
    assert list(heartbeats(str(tmp_path))) == []


def test_garbage_is_no_heartbeat(tmp_path: Path) -> None:
    folder = tmp_path / "heartbeats"
    folder.mkdir()
    (folder / "fetch-0.json").write_bytes(b'{"step": 1')
    (folder / "fetch-1.json").write_bytes(b"\xff")
    assert list(heartbeats(str(tmp_path))) == []


def test_garbage_hides_no_heartbeat(tmp_path: Path) -> None:
    """In whatever order files are listed: some is older, and some newer."""
    folder = tmp_path / "heartbeats"
    folder.mkdir()
    for name in ("0.json", "0.txt"):
        (folder / name).write_bytes(b"garbage")
    Heartbeat(str(tmp_path), "fetch", 3, "0", 10, Clock()).finish()
    for name in ("zz.json", "zz.txt"):
        (folder / name).write_bytes(b"garbage")
    assert [beat.step for beat in heartbeats(str(tmp_path))] == ["fetch"]


def test_silence_forgets_one_step(tmp_path: Path) -> None:
    for step in ("fetch", "parse"):
        Heartbeat(str(tmp_path), step, 1, "0", 1).finish()
    clear_heartbeats(str(tmp_path), "fetch")
    assert [beat.step for beat in heartbeats(str(tmp_path))] == ["parse"]
    clear_heartbeats(str(tmp_path / "nowhere"), "fetch")


def test_a_wait_is_known_while_its_process_lives(tmp_path: Path) -> None:
    me, folder = Holder.me(), str(tmp_path)
    assert read_noted_wait(folder) is None
    with note_waiting(folder, Wait(me, 1_234)):
        assert read_noted_wait(folder) == Wait(me, 1_234)
    assert read_noted_wait(folder) is None
    with note_waiting(
        folder, Wait(structs.replace(me, since_ms=0), None)
    ):  # it had the same number
        assert read_noted_wait(folder) is None


def test_a_crawl_waits_although_it_cannot_say_so(tmp_path: Path) -> None:
    with note_waiting(str(tmp_path / "absent"), Wait(Holder.me(), None)):
        assert read_noted_wait(str(tmp_path / "absent")) is None
