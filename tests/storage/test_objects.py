"""Crawls on object storage: races, leases, probes, credentials, and errors of servers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs
from obstore.store import MemoryStore

from gossamer.errors import Conflict, Locked, NotACrawl, StoreError, Unanswered, UsageError
from gossamer.storage.backends import open_backend
from gossamer.storage.lock_holder import Holder
from gossamer.storage.objects import aws_profiles, lease
from gossamer.storage.objects import bucket as buckets
from gossamer.storage.objects.backend import ObjectBackend
from gossamer.storage.objects.bucket import Bucket, split_url
from gossamer.storage.objects.errors import translate_error
from gossamer.storage.store import Store
from tests.support.bare_stores import put, report
from tests.support.loopback import NOTHING, Loopback, page
from tests.support.object_store import forget_stores
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ELSEWHERE = Holder(pid=4711, machine="elsewhere", command="gossamer crawl", since_ms=0)
SECRETS = ("hidden-key-id", "hidden-secret", "hidden-token")


def in_memory() -> ObjectBackend:
    return ObjectBackend(Bucket("memory://crawl", MemoryStore()))


@pytest.mark.parametrize("races", [10, pytest.param(100, marks=pytest.mark.long)])
def test_of_two_writers_one_wins_each_race_for_the_manifest(s3: str, races: int) -> None:
    stores = [Store.create(open_backend(s3)), Store.open(open_backend(s3))]
    ready = Barrier(2)

    def race(store: Store) -> list[bool]:
        won = []
        for _ in range(races):
            store.refresh()
            layer = put(store, "links")
            ready.wait(60)
            try:
                store.commit(report(), append={"links": layer})
                won.append(True)
            except Conflict:
                won.append(False)
            ready.wait(60)
        return won

    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(race, stores)
    assert [one + other for one, other in zip(first, second, strict=True)] == [1] * races
    assert len(Store.open(open_backend(s3)).manifest.layers("links")) == races


_WRITE = """
import sys
from gossamer.storage.backends import open_backend
from gossamer.errors import Conflict
from gossamer.storage.store import Store
from tests.support.bare_stores import put, report
store = Store.open(open_backend(sys.argv[1]))
with store.lock():
    layer = put(store, "links")
    print("holds the lock", flush=True)
    sys.stdin.readline()
    try:
        store.commit(report(), append={"links": layer})
        print("committed")
    except Conflict:
        print("conflict")
"""


@pytest.mark.server
def test_a_writer_that_was_paused_beyond_its_lease_commits_nothing(
    s3: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Store.create(open_backend(s3))
    program = [sys.executable, "-c", _WRITE, s3]
    pipe = subprocess.PIPE
    own = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(program, stdin=pipe, stdout=pipe, text=True, env=own) as paused:
        assert paused.stdin is not None
        assert paused.stdout is not None
        assert paused.stdout.readline() == "holds the lock\n"
        os.kill(paused.pid, signal.SIGSTOP)
        store = Store.open(open_backend(s3))
        with pytest.raises(Locked, match=f"process {paused.pid} on"), store.lock():
            pass
        monkeypatch.setattr(lease, "LEASE_S", 0)
        with store.lock():
            os.kill(paused.pid, signal.SIGCONT)
            paused.stdin.write("go on\n")
            paused.stdin.close()
            assert paused.stdout.read() == "conflict\n"
            store.commit(report(), append={"links": put(store, "links")})
        assert paused.wait(60) == 0
    assert len(Store.open(open_backend(s3)).manifest.layers("links")) == 1


def test_a_lease_is_taken_over_once_and_given_back() -> None:
    bucket = in_memory().bucket
    with lease.hold_lease(bucket, ELSEWHERE) as was_lost:
        assert not was_lost
        with pytest.raises(Locked, match=r"4711 on elsewhere.*gossamer crawl") as error:
            lease.hold_lease(bucket, ELSEWHERE).__enter__()
        assert "free after 30 s" in error.value.remedy
        assert lease.holder_of(bucket) == ELSEWHERE
    assert lease.holder_of(bucket) is None
    with lease.hold_lease(bucket, ELSEWHERE) as was_lost:
        assert not was_lost
    assert lease.newest_lease(bucket).epoch == 2
    assert sorted(found.path for found in bucket.list()) == [
        "lock/00000002.ended",
        "lock/00000002.json",
    ]


@pytest.mark.server
def test_the_lease_of_a_process_of_this_machine_that_is_gone_is_free() -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as gone:
        gone.wait()
    bucket = in_memory().bucket
    holder = structs.replace(Holder.me(), pid=gone.pid)
    lost = lease.hold_lease(bucket, holder)
    lost.__enter__()
    assert lease.holder_of(bucket) is None
    with lease.hold_lease(bucket, ELSEWHERE) as was_lost:
        assert was_lost


def test_beats_keep_a_lease_alive() -> None:
    bucket = in_memory().bucket
    with lease.hold_lease(bucket, ELSEWHERE, beat_s=0.01):
        begun = lease.newest_lease(bucket).beat_at
        while lease.newest_lease(bucket).beat_at == begun:
            threading.Event().wait(0.01)
        assert lease.age_s(bucket, lease.newest_lease(bucket)) < lease.LEASE_S


def test_a_lease_that_was_given_back_is_not_kept_alive() -> None:
    before = set(threading.enumerate())
    with lease.hold_lease(in_memory().bucket, ELSEWHERE, beat_s=0.01):
        (beat,) = set(threading.enumerate()) - before
        assert beat.is_alive()
    beat.join(60)
    assert not beat.is_alive()


def test_a_process_that_slept_through_an_epoch_withdraws(monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = in_memory().bucket
    before = lease.newest_lease(bucket)
    with lease.hold_lease(bucket, ELSEWHERE), monkeypatch.context() as patched:
        pass
    with lease.hold_lease(bucket, ELSEWHERE):
        states = iter([before])
        newest = lease.newest_lease
        patched.setattr(lease, "newest_lease", lambda of: next(states, None) or newest(of))
        with pytest.raises(Locked, match="elsewhere"):
            lease.hold_lease(bucket, Holder.me()).__enter__()
        assert newest(bucket).epoch == 2


def test_who_lost_the_lock_deletes_nothing_of_the_next_holder(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backend = in_memory()
    Store.create(backend)
    former = Store.open(backend)
    lost = lease.hold_lease(backend.bucket, ELSEWHERE)  # it never gives it back
    lost.__enter__()
    own = put(former, "links")
    monkeypatch.setattr(lease, "LEASE_S", 0)
    store = Store.open(backend)
    with store.lock():
        layer = put(store, "links")
        former.collect_garbage(keep_versions=1)
        store.commit(report(), append={"links": layer})
        assert own.files[0].path not in dict(backend.sizes("links"))
    assert Store.open(backend).files("links") == list(layer.files)


class Forgetful(Bucket):
    """A store that ignores If-None-Match."""

    def create(self, path: str, data: bytes) -> None:
        self.put(path, data)


def test_a_store_that_ignores_conditions_is_refused() -> None:
    bucket = Forgetful("memory://crawl", MemoryStore())
    with pytest.raises(StoreError, match="ignores If-None-Match"):
        Store.create(ObjectBackend(bucket))
    assert list(bucket.list()) == []


class AnswerLost:
    """A store of which the first answer to a put is lost on its way."""

    def __init__(self) -> None:
        self.store = MemoryStore()
        self.puts = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def put(self, *given: Any, **named: Any) -> Any:
        from obstore.exceptions import GenericError

        self.puts += 1
        done = self.store.put(*given, **named)
        if self.puts == 1:
            raise GenericError("HTTP error: error sending request")
        return done


def test_a_creation_whose_answer_was_lost_is_no_conflict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buckets, "PAUSE_S", 0)
    store: Any = AnswerLost()
    bucket = Bucket("memory://crawl", store)
    bucket.create("manifest/1", b"mine")
    assert (store.puts, bucket.get("manifest/1")) == (2, b"mine")
    with pytest.raises(FileExistsError):
        bucket.create("manifest/1", b"mine")


def test_urls() -> None:
    assert split_url("s3://bucket") == ("s3", "bucket", "")
    assert split_url("gs://my.bucket/a/b/") == ("gs", "my.bucket", "a/b")
    assert open_backend("az://container/crawl/").url == "az://container/crawl"
    for url in (
        "s3://",
        "s3://key:secret@host/a",
        "s3://bucket/a//b",
        "s3://bucket/../b",
        "s3:///a",
    ):
        with pytest.raises(UsageError, match=r"s3://…: is not a URL") as error:
            open_backend(url)
        assert "secret" not in str(error.value)


@pytest.fixture
def cloud(server: Loopback, monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    """A server on loopback, to which s3:// leads."""
    monkeypatch.setattr(buckets, "FIRST_RETRIES", 2)
    monkeypatch.setattr(buckets, "FIRST_RETRY_S", 1)
    monkeypatch.setattr(buckets, "PAUSE_S", 0.3)
    hurry = {"init_backoff": timedelta(seconds=0.01), "base": 1.5}
    monkeypatch.setattr(buckets, "BACKOFF", buckets.BACKOFF | hurry)
    for name, value in zip(
        ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"), SECRETS, strict=True
    ):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{server.address}")
    forget_stores()
    yield server
    forget_stores()


def refusal(status: str, code: str) -> bytes:
    text = f"<Error><Code>{code}</Code><AWSAccessKeyId>{SECRETS[0]}</AWSAccessKeyId></Error>"
    return page(text.encode(), status=status)


FAILURES = {
    "refused": (
        refusal("403 Forbidden", "AccessDenied"),
        r"access is refused \(403 AccessDenied\)",
    ),
    "no bucket": (refusal("404 Not Found", "NoSuchBucket"), r"no such bucket \(404 NoSuchBucket\)"),
    "slow down": (
        refusal("503 Slow Down", "SlowDown"),
        r"asks for fewer requests \(503 SlowDown, after 2 retries\)",
    ),
    "cut": (NOTHING, r"cannot be reached, after 2 retries"),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_failures_of_a_server_are_told_with_the_url_and_without_secrets(
    cloud: Loopback, failure: str
) -> None:
    answer, expected = FAILURES[failure]
    listed = "/bucket?list-type=2&prefix=crawl%2Fmanifest%2F"
    cloud.answers = {listed: answer, "/bucket/crawl/manifest/1": answer}
    backend = open_backend("s3://bucket/crawl")
    with pytest.raises(StoreError, match=expected) as error:
        list(backend.sizes("manifest"))
    assert error.value.subject == "s3://bucket/crawl/manifest"
    assert error.value.remedy
    assert isinstance(error.value, NotACrawl) == (failure == "no bucket")  # one may be created
    with pytest.raises(StoreError, match=expected.partition(r" \(")[0]):
        backend.read("manifest/1")
    chain = [error.value, error.value.__cause__]
    assert not any(secret in f"{chain!r}{error.value!s}" for secret in SECRETS)


def test_a_store_that_is_busy_for_a_moment_is_asked_again(cloud: Loopback) -> None:
    busy = refusal("503 Slow Down", "SlowDown")
    cloud.answers = {"/bucket/crawl/a": [busy, NOTHING, page(b"found")]}
    assert open_backend("s3://bucket/crawl").read("a") == b"found"
    assert cloud.paths == ["/bucket/crawl/a"] * 3


def test_a_store_that_does_not_answer_is_asked_after_growing_pauses(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    monkeypatch.setattr(time, "monotonic", lambda: sum(slept))

    def ask(*_: object) -> None:
        raise OSError("error sending request")

    with pytest.raises(Unanswered):
        in_memory().bucket._request("a", ask)
    assert slept == [0.5, 1, 2, 4, 8, *(15,) * 6], "for two minutes"


def test_a_server_that_is_not_there_is_told_soon(
    monkeypatch: pytest.MonkeyPatch, cloud: Loopback
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    forget_stores()
    with pytest.raises(StoreError, match="cannot be reached") as error:
        Store.open(open_backend("s3://bucket/crawl"))
    assert "AWS_ENDPOINT_URL" in error.value.remedy
    assert cloud.asked == []


def test_without_credentials_the_remedy_names_the_variables() -> None:
    text = "Error performing PUT http://169.254.169.254/latest/api/token … status code: 403"
    error = translate_error("s3://bucket", text)
    assert "no credentials were found" in str(error)
    assert "AWS_ACCESS_KEY_ID" in error.remedy


def test_profiles_of_aws_tools(tmp_path: Path) -> None:
    config, keys = tmp_path / "config", tmp_path / "credentials"
    config.write_text(
        "[default]\nregion = eu-1\n[profile lab]\nregion=eu-2\nendpoint_url = http://lab:1\n"
    )
    keys.write_text("[lab]\naws_access_key_id = A\naws_secret_access_key = B\n")
    files = {"AWS_CONFIG_FILE": str(config), "AWS_SHARED_CREDENTIALS_FILE": str(keys)}
    assert aws_profiles.variables(files) == {"AWS_REGION": "eu-1"}
    lab = files | {"AWS_PROFILE": "lab"}
    assert aws_profiles.variables(lab) == {
        "AWS_REGION": "eu-2",
        "AWS_ENDPOINT_URL": "http://lab:1",
        "AWS_ACCESS_KEY_ID": "A",
        "AWS_SECRET_ACCESS_KEY": "B",
    }
    own = lab | {"AWS_ACCESS_KEY_ID": "C", "AWS_REGION": "us"}
    assert aws_profiles.variables(own) == {"AWS_ENDPOINT_URL": "http://lab:1"}
    with pytest.raises(UsageError, match="no profile none"):
        aws_profiles.variables(files | {"AWS_PROFILE": "none"})
    keys.write_text("aws_secret_access_key = hidden\n")
    with pytest.raises(UsageError, match="cannot be read") as error:
        aws_profiles.variables(lab)
    assert "hidden" not in str(error.value)
    assert (
        aws_profiles.variables({"AWS_CONFIG_FILE": "/none", "AWS_SHARED_CREDENTIALS_FILE": "/none"})
        == {}
    )
