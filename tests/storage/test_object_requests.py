"""How many requests does a crawl on object storage make?

Each costs money and some ten milliseconds. A front of the server counts them.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from gossamer.api.crawl import Crawl
from gossamer.config import EngineConfig
from gossamer.engine.engine import Engine
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.flow import rounds
from gossamer.storage import opening, parquet
from gossamer.storage.backends import open_backend
from gossamer.storage.objects.backend import ASKED_SINGLY
from gossamer.storage.store import Store
from gossamer.storage.task_output import ParquetWriter, layers_of
from gossamer.storage.warc.reader import WarcReader
from gossamer.storage.warc.writer import Capture, WarcWriter
from gossamer.tables import DOMAINS, HOSTS
from tests.support.bare_stores import report
from tests.support.crawl_settings import loopback_settings
from tests.support.object_store import reach_store_by
from tests.support.s3_front import Front, front

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.storage.store import Layer

PER_FILE = 1.35
"""A round makes at most so many requests per file and manifest that it writes. It was 1.2."""
OF_TIME = re.compile(r"lock|heartbeats|\.fetching|\.stop|\.pause")
"""Paths that are asked for every few seconds. How often, depends on the machine."""


@pytest.fixture
def counting(s3: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Front]:  # noqa: ARG001  # it sets the environment
    """The front of the store, to which s3:// leads."""
    with front(os.environ["AWS_ENDPOINT_URL"]) as way:
        reach_store_by(way.url, monkeypatch)
        yield way


def write(store: Store, *datasets: str) -> dict[str, Layer]:
    """A layer of some files per dataset, as tasks write them."""
    made = []
    for dataset, schema in ((HOSTS.name, HOSTS.schema), (DOMAINS.name, DOMAINS.schema)):
        for _ in range(datasets.count(dataset)):
            writer = ParquetWriter(store.url, dataset, store.attempt(dataset))
            writer.write(pa.Table.from_pylist([{}], schema=schema))
            made += writer.close()
    return layers_of(made, 1)


def test_a_step_writes_its_files_and_a_manifest_and_asks_for_nothing(
    s3: str, counting: Front
) -> None:
    store = Store.create(open_backend(s3))
    with store.lock():
        store.collect_garbage(keep_versions=9)
        counting.requests()
        many = ["hosts"] * (ASKED_SINGLY + 1)
        store.commit(report(), append=write(store, *many, "domains"))
        assert counting.requests() == {"PUT": len(many) + 2}
        counting.requests()
        paths = [f"{s3}/{file.path}" for name in ("hosts", "domains") for file in store.files(name)]
        assert [parquet.read_table(path).num_rows for path in paths] == [1] * len(paths)
        assert counting.requests() == {}, "this machine has copies of what it wrote"


def test_garbage_is_found_by_one_list_and_deleted_at_once(s3: str, counting: Front) -> None:
    store = Store.create(open_backend(s3))
    with store.lock():
        store.collect_garbage(keep_versions=0)
        for _ in range(3):
            write(store, "hosts", "domains")  # tasks that ran twice
            layers = write(store, "hosts", "domains")
            store.commit(report(), replace={name: [layer] for name, layer in layers.items()})
        counting.requests()
        assert store.collect_garbage(keep_versions=0) > 0
        assert counting.requests() == {"LIST": 1, "DELETE": 1}
        left = {path for path, _ in store.backend.sizes("") if path.startswith(("hosts", "domain"))}
        assert left == store.manifest.paths()


def test_the_archive_of_a_fetch_is_read_from_its_copy(s3: str, counting: Front) -> None:
    store = Store.create(open_backend(s3))
    writer = WarcWriter(s3, store.attempt("warc"), {})
    offset = writer.write(Capture("http://a.test/", 0, b"body", None, b"HTTP/1.1 200 OK\r\n\r\n"))
    writer.close()
    opening.replace(f"{s3}/{writer.path}", b"damaged")
    counting.requests()
    with WarcReader(f"{s3}/{writer.path}", near=True) as reader:
        found = reader.at(offset)
    assert found is not None
    assert found.body == b"body"
    assert counting.requests() == {}
    with WarcReader(f"{s3}/{writer.path}") as reader:
        assert reader.at(offset) is None, "others must see the damage"


@pytest.mark.slow
def test_the_requests_of_rounds_are_bounded(s3: str, counting: Front) -> None:
    """They may read again what other processes have changed, but nothing that they wrote."""
    with (
        FakeWeb(Web(hosts=4, pages_per_host=30, mix=Mix.plain())) as fake,
        Engine(EngineConfig(workers=2)) as engine,
    ):
        crawl = Crawl.create(s3, loopback_settings(fake.address), engine=engine)
        crawl.inject(fake.web.seeds())
        store, files = crawl.work.store, set[str]()
        with store.lock():
            for _ in range(2):
                counting.asked.clear()
                first, before = store.manifest.version, set(files)
                for _ in rounds.run(crawl.work, rounds=1):
                    files |= store.manifest.paths()
                commits, written = store.manifest.version - first, len(files - before)
                requests = Counter(
                    kind for kind, path in counting.asked if not OF_TIME.search(path)
                )
                most = PER_FILE * (written + commits)
                assert requests.total() <= most, (requests, written, commits)
