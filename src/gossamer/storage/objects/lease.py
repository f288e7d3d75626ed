"""The lock of a crawl on an object store: a lease, which another process may take over.

    lock/<epoch>.json   the holder of the lease, created once
    lock/<epoch>.beat   written again and again while the holder lives
    lock/<epoch>.ended  the holder has given it back

The highest epoch counts. It is free if it has ended, if its last beat is LEASE_S old, or if its
holder was a process of this machine that is gone. Then the next epoch is created, which only one
process can do.

A lease does not keep a paused process from writing when it goes on. Correctness rests on the
manifest alone: who takes over a lease that has not ended commits the same state once more
(`Store.lock`), so the former holder gets Conflict.

Ages are differences between two times of the store's own clock, so clocks of machines may differ.
"""

from __future__ import annotations

import re
import threading
import uuid
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from gossamer.errors import Locked, StoreError
from gossamer.storage.lock_holder import Holder, locked_error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from gossamer.storage.objects.bucket import Bucket, Found

FOLDER = "lock"
BEAT_S = 5.0
LEASE_S = 30.0
_NAME = re.compile(r"lock/(\d{8,})\.(json|beat|ended)")


class Lease(NamedTuple):
    """The newest epoch, as a list of the folder shows it. Epoch 0: there never was one."""

    epoch: int
    has_ended: bool
    beat_at: datetime | None


@contextmanager
def hold_lease(bucket: Bucket, holder: Holder, beat_s: float = BEAT_S) -> Iterator[bool]:
    """Hold the lock of a crawl. Raises Locked.

    Yields whether the former holder has not given it back: it may still be there, and unaware.
    """
    before = newest_lease(bucket)
    if before.epoch and not before.has_ended:
        by = _lease_holder(bucket, before.epoch)
        if (by is None or by.lives()) and age_s(bucket, before) < LEASE_S:
            raise _locked_error(bucket, before.epoch)
    epoch = before.epoch + 1
    try:
        bucket.create(_path(epoch, "json"), msgspec.json.encode(holder))
    except FileExistsError:
        raise _locked_error(bucket, epoch) from None
    found = list(bucket.list(FOLDER))
    if (now := _newest_among(found).epoch) > epoch:  # others went on while this process slept
        bucket.delete([_path(epoch, "json")])
        raise _locked_error(bucket, now)
    bucket.delete([each.path for each in found if _epoch(each.path) < epoch])
    over = threading.Event()
    threading.Thread(target=_lease_beat, args=(bucket, epoch, over, beat_s), daemon=True).start()
    try:
        yield bool(before.epoch) and not before.has_ended
    finally:
        over.set()
        with suppress(StoreError):  # the next process waits until the lease is over
            bucket.put(_path(epoch, "ended"), b"")


def holder_of(bucket: Bucket) -> Holder | None:
    """The process that seems to hold the lock; None if there is none."""
    lease = newest_lease(bucket)
    holder = None if lease.has_ended or not lease.epoch else _lease_holder(bucket, lease.epoch)
    return holder if holder is not None and holder.lives() else None


def newest_lease(bucket: Bucket) -> Lease:
    return _newest_among(bucket.list(FOLDER))


def _newest_among(listed: Iterable[Found]) -> Lease:
    found = [(_epoch(each.path), each) for each in listed]
    epoch = max((number for number, _ in found), default=0)
    files = {each.path: each.modified for number, each in found if number == epoch}
    beats = [files[path] for path in files if not path.endswith(".ended")]
    return Lease(epoch, _path(epoch, "ended") in files, max(beats, default=None))


def age_s(bucket: Bucket, lease: Lease) -> float:
    """The seconds since the last beat, by the clock of the store: it dates an object made now."""
    path = f"{FOLDER}/now-{uuid.uuid4().hex}"
    bucket.put(path, b"")
    now = [each.modified for each in bucket.list(FOLDER) if each.path == path]
    bucket.delete([path])
    return (now[0] - lease.beat_at).total_seconds() if now and lease.beat_at else 0.0


def _lease_beat(bucket: Bucket, epoch: int, over: threading.Event, beat_s: float) -> None:
    while not over.wait(beat_s):
        with suppress(StoreError):  # it is tried again, and what counts is the manifest
            bucket.put(_path(epoch, "beat"), b"")


def _path(epoch: int, kind: str) -> str:
    return f"{FOLDER}/{epoch:08d}.{kind}"


def _epoch(path: str) -> int:
    found = _NAME.fullmatch(path)
    return int(found[1]) if found else 0


def _lease_holder(bucket: Bucket, epoch: int) -> Holder | None:
    try:
        return msgspec.json.decode(bucket.get(_path(epoch, "json")), type=Holder)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def _locked_error(bucket: Bucket, epoch: int) -> Locked:
    error = locked_error(f"{bucket.url}/{_path(epoch, 'json')}", _lease_holder(bucket, epoch))
    remedy = f"{error.remedy}; the lock of a process that is gone is free after {LEASE_S:.0f} s"
    return Locked(error.subject, error.what, remedy)
