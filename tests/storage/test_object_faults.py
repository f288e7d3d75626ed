"""An object store that refuses requests, breaks off its answers, is slow, or ignores conditions."""

from __future__ import annotations

import io
import os
import threading
import time
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gossamer.api.crawl import Crawl
from gossamer.config import EngineConfig
from gossamer.engine.engine import Engine, engine_errors
from gossamer.errors import StoreError, Unanswered
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.fetch.cluster.fetch_lease import PartLease
from gossamer.storage import local_copies, opening
from gossamer.storage.objects import bucket as buckets
from gossamer.storage.objects.bucket import Bucket, locate_object
from tests.support.command_line import gossamer
from tests.support.crawl_settings import loopback_settings
from tests.support.crawl_tables import answers, damaged_records, tables
from tests.support.disturbed_crawls import Disturbance, crawl_to_the_end, way_to_store
from tests.support.object_store import forget_stores, reach_store_by
from tests.support.s3_front import Front, front

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SHARE = 0.25
BODY = bytes(range(256)) * 400
ROWS = 20_000


@pytest.fixture
def faulty(s3: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Front]:  # noqa: ARG001  # it sets the environment
    """The front of the store, to which s3:// leads."""
    hurry = {"init_backoff": timedelta(seconds=0.01), "base": 1.5}
    monkeypatch.setattr(buckets, "BACKOFF", buckets.BACKOFF | hurry)
    monkeypatch.setattr(buckets, "PAUSE_S", 0.01)
    with front(os.environ["AWS_ENDPOINT_URL"]) as way:
        reach_store_by(way.url, monkeypatch)
        yield way


def test_requests_are_repeated_whatever_happens_to_them(s3: str, faulty: Front) -> None:
    bucket, key = locate_object(f"{s3}/x")
    root = key.rpartition("/")[0]
    bucket.put(key, BODY)
    faulty.busy = faulty.cut = SHARE
    for number in range(12):
        copy, new = f"{root}/copy/{number}", f"{root}/new/{number}"
        assert bucket.get(key) == BODY
        assert bucket.get_range(key, 5, 50_000) == BODY[5:50_000]
        assert bucket.get_tail(key, 1_000) == (BODY[-1_000:], len(BODY))
        assert b"".join(bucket.stream(key)[1]) == BODY
        assert bucket.size(key) == len(BODY)
        bucket.copy(key, copy)
        bucket.create(new, b"mine")
        with pytest.raises(FileExistsError):
            bucket.create(new, b"other")
        assert {found.path for found in bucket.list(root)} == {key, copy, new}
        bucket.delete([copy, new])
        assert [found.path for found in bucket.list(root)] == [key]
    assert faulty.refused > 12
    assert faulty.were_cut > 12


def test_the_first_request_of_a_task_is_as_patient_as_the_others(
    s3: str, faulty: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets, "FIRST_RETRIES", 0)
    faulty.busy, faulty.recovers_after = 1.0, 5
    PartLease(s3, "run", 0)
    assert faulty.refused == 5
    assert opening.exists(f"{s3}/.fetching/run.0.0")


def test_a_list_that_breaks_off_goes_on_where_it_was(
    s3: str, s3_server: dict[str, str], faulty: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"a/{number:04}" for number in range(1_050)]
    reach_store_by(s3_server["AWS_ENDPOINT_URL"], monkeypatch)  # in a quarter of the time
    direct = Bucket(s3)
    for name in names:
        direct.put(name, b"")
    reach_store_by(faulty.url, monkeypatch)
    bucket = Bucket(s3, is_patient=True)
    listed = bucket.list("a")
    found = [next(listed).path]
    faulty.cut, faulty.recovers_after = 1.0, 5
    found += [each.path for each in listed]
    assert found == names
    assert faulty.were_cut == 5


def test_an_upload_of_which_the_last_answer_breaks_off_is_complete(s3: str, faulty: Front) -> None:
    data = BODY * 100
    file = opening.create(f"{s3}/warc/a")
    file.write(data)
    file.write(data[:1])
    faulty.cut, faulty.recovers_after = 1.0, 5
    file.close()
    assert opening.read(f"{s3}/warc/a") == data + data[:1]


def test_an_upload_that_fails_is_told_without_secrets(
    s3: str, faulty: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(buckets, "RETRIES", 2)
    forget_stores()
    file = opening.create(f"{s3}/warc/a")
    file.write(b"data")
    faulty.busy = 1.0
    told = rf"{s3}/warc/a: the store asks for fewer requests \(503.*, after 2 retries"
    with pytest.raises(StoreError, match=told) as error:
        file.close()
    assert "Error performing" not in str(error.value), "the answer may quote keys"


@pytest.mark.slow
def test_an_upload_may_take_longer_than_silence(s3: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buckets, "SILENCE_S", 0.6)
    monkeypatch.setattr(buckets, "RETRY_S", 1.5)
    with way_to_store() as way:
        reach_store_by(way.url, monkeypatch)
        opening.write(f"{s3}/a", BODY)
        slow = threading.Thread(target=way.disturb, args=("slow", 1.5, len(BODY)))
        slow.start()
        began_s = time.monotonic()
        opening.write(f"{s3}/b", 2 * BODY)
        assert time.monotonic() - began_s > 0.6, "it should take longer than silence may last"
        slow.join()
        assert opening.read(f"{s3}/b") == 2 * BODY
        silent = threading.Thread(target=way.disturb, args=("stalled", 600), daemon=True)
        silent.start()
        with pytest.raises(Unanswered, match="cannot be reached"):
            opening.read(f"{s3}/b")


def test_init_refuses_a_server_that_ignores_conditions(s3: str, faulty: Front) -> None:
    faulty.forgets = True
    said = gossamer("init", s3, code=1)
    assert "this object store ignores If-None-Match" in said.stderr
    assert list(Bucket(s3).list()) == []
    faulty.forgets = False
    gossamer("init", s3)
    assert f"{s3}/gossamer.toml" in opening.list_files(s3)


@pytest.mark.slow
def test_the_engine_reads_large_objects_from_a_store_that_fails(
    s3: str, faulty: Front, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_copies, "NEAR_BYTES", 0)
    table, data = (
        pa.table({"n": range(ROWS), "text": [f"x{n * n}" for n in range(ROWS)]}),
        io.BytesIO(),
    )
    pq.write_table(table, data, row_group_size=ROWS // 10)
    paths = [f"{s3}/pages/{name}" for name in "ab"]
    for path in paths:
        opening.write(path, data.getvalue())
    with Engine(EngineConfig(workers=2)) as engine:
        rows = engine.read(paths, "n bigint, text string").selectExpr("sum(n) n", "count(text) c")
        faulty.busy = faulty.cut = SHARE
        for _ in range(2):
            assert [tuple(row) for row in rows.collect()] == [(ROWS * (ROWS - 1), 2 * ROWS)]
        assert faulty.refused
        assert faulty.were_cut
        faulty.busy = 1.0
        told = r"the batch engine: the store asks for fewer requests \(503"
        with pytest.raises(StoreError, match=told) as error, engine_errors():
            rows.collect()
        assert "run the same command again" in error.value.remedy
        assert "non-2xx" not in str(error.value), "the answer may quote keys"


@pytest.mark.long
def test_a_crawl_outlives_a_store_that_fails(s3: str, s3_engine: Engine, tmp_path: Path) -> None:
    web = Web(hosts=4, pages_per_host=20, mix=Mix.plain())
    with FakeWeb(web) as fake, front(os.environ["AWS_ENDPOINT_URL"]) as faulty:
        settings = loopback_settings(fake.address)
        whole = Crawl.create(str(tmp_path / "crawl"), settings, engine=s3_engine)
        Crawl.create(s3, settings, engine=s3_engine)
        for root in (str(tmp_path / "crawl"), s3):
            Crawl.open(root, s3_engine).inject(
                url for host in web.hosts() for url in web.urls(host)
            )
        whole.run(rounds=1)
        faulty.busy = faulty.cut = 0.1
        minute = Disturbance(partial(faulty.be_busy, 60))
        errors = crawl_to_the_end(s3, faulty.url, {"update": minute})
        assert all("object store" in error or "asks for fewer" in error for error in errors), errors
        assert faulty.refused
        assert faulty.were_cut
    there = Crawl.open(s3, s3_engine)
    assert tables(there) == tables(whole)
    titles = [row.title for row in whole.dataset("documents").limit(10).collect()]
    assert answers(there, titles) == answers(whole, titles)
    assert damaged_records(there) == []
