"""A crawl on object storage by a cluster: the tables and answers of one in a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gossamer.api.crawl import Crawl
from gossamer.fakeweb import FakeWeb, Mix, Web
from tests.support.crawl_settings import loopback_settings
from tests.support.crawl_tables import answers, damaged_records, tables

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.engine.engine import Engine

pytestmark = [pytest.mark.spark, pytest.mark.long]


def crawled(root: str, web: FakeWeb, engine: Engine) -> Crawl:
    settings = loopback_settings(web.address, "rank.tolerance = 1e-12")
    crawl = Crawl.create(root, settings, engine=engine)
    crawl.inject(url for host in web.web.hosts() for url in web.web.urls(host))
    crawl.run(rounds=1)
    return crawl


def test_a_cluster_crawls_on_object_storage_as_in_a_folder(
    s3: str, compiling_engine: Engine, engine: Engine, tmp_path: Path
) -> None:
    with FakeWeb(Web(hosts=3, pages_per_host=20, mix=Mix.plain())) as web:
        there = crawled(s3, web, compiling_engine)
        here = crawled(str(tmp_path / "crawl"), web, engine)
    assert tables(there) == tables(here)
    titles = [row.title for row in here.dataset("documents").limit(10).collect()]
    assert answers(there, titles) == answers(here, titles)
    assert any(answers(here, titles).values())
    assert damaged_records(there) == []
