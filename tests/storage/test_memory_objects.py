"""Leases and sizes of objects, on a store in memory."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from obstore.store import MemoryStore

from gossamer.errors import Locked
from gossamer.storage.lock_holder import Holder
from gossamer.storage.objects import lease
from gossamer.storage.objects.backend import ASKED_SINGLY, ObjectBackend
from gossamer.storage.objects.bucket import Bucket
from gossamer.storage.objects.lease import FOLDER, LEASE_S, Lease, newest_lease

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from gossamer.storage.objects.bucket import Found


@pytest.fixture
def bucket() -> Bucket:
    return Bucket("memory://crawl", MemoryStore())


def names(bucket: Bucket) -> list[str]:
    return sorted(each.path.rpartition("/")[2] for each in bucket.list(FOLDER))


def test_a_lease_leaves_its_newest_epoch(bucket: Bucket) -> None:
    assert newest_lease(bucket) == Lease(0, has_ended=False, beat_at=None)
    with lease.hold_lease(bucket, Holder.me()) as was_lost:
        assert not was_lost
        assert names(bucket) == ["00000001.json"]
        found = newest_lease(bucket)
        assert (found.epoch, found.has_ended) == (1, False)
        holder = lease.holder_of(bucket)
        assert holder is not None
        assert holder.pid == Holder.me().pid
    assert names(bucket) == ["00000001.ended", "00000001.json"]
    assert newest_lease(bucket).has_ended
    assert lease.holder_of(bucket) is None
    with lease.hold_lease(bucket, Holder.me()) as was_lost:
        assert not was_lost
        assert names(bucket) == ["00000002.json"]


def test_the_lease_of_a_process_that_lives_is_not_taken(bucket: Bucket) -> None:
    with lease.hold_lease(bucket, Holder.me()):
        with (
            pytest.raises(Locked, match=f"is free after {LEASE_S:.0f} s"),
            lease.hold_lease(bucket, Holder.me()),
        ):
            pass
        assert names(bucket) == ["00000001.json"]


def test_a_lease_that_is_over_was_lost(bucket: Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket.create(f"{FOLDER}/00000007.json", b"no holder")
    with pytest.raises(Locked), lease.hold_lease(bucket, Holder.me()):
        pass
    monkeypatch.setattr(lease, "age_s", lambda *_: LEASE_S)
    with lease.hold_lease(bucket, Holder.me()) as was_lost:
        assert was_lost
        assert names(bucket) == ["00000008.json"]


def test_the_age_of_a_lease_is_that_of_its_last_beat(bucket: Bucket) -> None:
    bucket.create(f"{FOLDER}/00000001.json", b"{}")
    bucket.put(f"{FOLDER}/00000001.beat", b"")
    found = newest_lease(bucket)
    assert found.beat_at is not None
    times = {each.path: each.modified for each in bucket.list(FOLDER)}
    assert found.beat_at == times[f"{FOLDER}/00000001.beat"]
    before = found._replace(beat_at=found.beat_at - timedelta(seconds=90))
    assert lease.age_s(bucket, before) >= 90
    assert names(bucket) == ["00000001.beat", "00000001.json"]
    assert lease.age_s(bucket, found._replace(beat_at=None)) == 0


def test_what_this_process_has_made_is_not_asked_for_and_what_is_deleted_is_gone(
    bucket: Bucket,
) -> None:
    backend = ObjectBackend(bucket)
    backend.create("pages/a", b"made")
    bucket.delete(["pages/a"])
    assert backend.sizes_of(["pages/a"]) == backend.sizes_of_new(["pages/a"]) == {"pages/a": 4}
    backend.delete(["pages/a"])
    assert backend.sizes_of(["pages/a"]) == backend.sizes_of_new(["pages/a"]) == {}


def test_all_objects_are_listed_where_folders_would_take_as_many_requests(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gossamer.storage.objects.backend.LISTED_AT_ONCE", 3)
    backend = ObjectBackend(bucket)
    paths = [f"{folder}/{number}" for folder in "abcd" for number in range(2)]
    for path in paths:
        bucket.create(path, b"")
    listed: list[str] = []
    real = bucket.list

    def listing(folder: str = "") -> Iterator[Found]:
        listed.append(folder)
        return real(folder)

    monkeypatch.setattr(bucket, "list", listing)

    def found(*folders: str) -> list[str]:
        listed.clear()
        return sorted(path for path, _ in backend.sizes_in(folders))

    assert (found("a"), listed) == (paths[:2], [""]), "nobody knows how many there are"
    assert (found("b", "c"), listed) == (paths[2:6], ["b", "c"])
    assert (found("b", "c", "e"), listed) == (paths[2:6], [""])
    assert (found(), listed) == ([], [])


@pytest.mark.parametrize("more", [0, 1])
def test_sizes_are_asked_for_one_by_one_or_for_a_folder(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch, more: int
) -> None:
    """A path that is not there has none."""
    backend = ObjectBackend(bucket)
    held = [f"pages/{number:03}" for number in range(ASKED_SINGLY + more - 1)]
    for path in [*held, "hosts/a", "hosts/b", "pages/other"]:
        bucket.create(path, path.encode())
    listed: list[str] = []
    real = backend.sizes

    def sizes(folder: str) -> Collection[tuple[str, int]]:
        listed.append(folder)
        return list(real(folder))

    monkeypatch.setattr(backend, "sizes", sizes)
    asked = ["pages/gone", *held, "hosts/gone", "hosts/a"]
    assert backend.sizes_of(asked) == {path: len(path) for path in [*held, "hosts/a"]}
    assert listed == ["pages"] * more
