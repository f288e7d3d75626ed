"""A crawl at az://: the tables and answers of one in a folder."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gossamer.api.crawl import Crawl
from gossamer.config import EngineConfig
from gossamer.engine.engine import Engine
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.storage import local_copies, opening, parquet
from gossamer.storage.objects.bucket import Bucket
from tests.support.crawl_settings import loopback_settings
from tests.support.crawl_tables import answers, damaged_records, tables

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.azure


def test_a_crawl_at_az_is_as_one_in_a_folder(az: str, tmp_path: Path) -> None:
    web = Web(hosts=3, pages_per_host=20, mix=Mix.plain())
    with FakeWeb(web) as fake, Engine(EngineConfig(workers=2)) as engine:
        crawls = []
        for root in (az, str(tmp_path / "crawl")):
            settings = loopback_settings(fake.address, "rank.tolerance = 1e-12")
            crawl = Crawl.create(root, settings, engine=engine)
            crawl.inject(url for host in web.hosts() for url in web.urls(host))
            crawl.run(rounds=2)
            crawls.append(crawl)
        there, here = crawls
        assert tables(there) == tables(here)
        titles = [row.title for row in here.dataset("documents").limit(10).collect()]
        assert answers(there, titles) == answers(here, titles)
        assert any(answers(here, titles).values())
        assert damaged_records(there) == []


def test_large_tables_are_read_where_they_are(az: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_copies, "NEAR_BYTES", 0)
    monkeypatch.setattr(local_copies, "_large", set())
    table, data = pa.table({"n": range(100_000)}), io.BytesIO()
    pq.write_table(table, data)
    opening.write(f"{az}/a.parquet", data.getvalue())
    assert parquet.read_table(f"{az}/a.parquet").equals(table)
    with Engine(EngineConfig(workers=2)) as engine:
        assert engine.read([f"{az}/a.parquet"], "n bigint").count() == table.num_rows


def test_requests_of_a_bucket(az: str) -> None:
    bucket = Bucket(az)
    body = os.urandom(20 << 20)
    file = opening.create(f"{az}/large")
    file.write(body)
    file.close()
    assert bucket.get_tail("large", 1_000) == (body[-1_000:], len(body))
    assert bucket.get_tail("large", 2 * len(body)) == (body, len(body))
    bucket.copy("large", "copy")
    bucket.create("new", b"mine")
    with pytest.raises(FileExistsError):
        bucket.create("new", b"other")
    bucket.delete(["gone", "copy", "new", "gone, too"])
    assert [found.path for found in bucket.list()] == ["large"]
