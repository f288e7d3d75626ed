"""Networks that are cut, lose all packets, or are slow, between a crawl, its store and the web."""

from __future__ import annotations

import time
from functools import partial
from random import Random
from typing import TYPE_CHECKING

import pytest
from pysail.spark import SparkConnectServer

from gossamer.api.crawl import Crawl
from gossamer.config import EngineConfig
from gossamer.engine import spark_client
from gossamer.engine.engine import Engine, engine_errors
from gossamer.engine.small import limits
from gossamer.errors import EngineError
from gossamer.fakeweb import FakeWeb, Mix, Web
from tests.support.crawl_settings import loopback_settings
from tests.support.crawl_tables import answers, damaged_records, tables
from tests.support.disturbed_crawls import (
    Disturbance,
    after_requests,
    check_politeness,
    crawl,
    crawl_to_the_end,
    documents,
    fetched_later,
    way_to,
    way_to_store,
)
from tests.support.network_ways import Way

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.network_ways import Trouble

HOSTS, PAGES, DELAY_S = 4, 40, 0.3
TROUBLES: tuple[Trouble, ...] = ("cut", "stalled", "slow")
GRPC_WAITS_S = 60
"""For the answer to a ping, by default."""
STEPS = ("generate", "generate", "fetch", "parse", "update", "invert", "rank", "dedup")
"""After each of these, a trouble may begin; that of `generate` is one of fetch."""


@pytest.mark.parametrize(
    ("times", "seconds"),
    [
        pytest.param(2, 10.0, marks=pytest.mark.long),
        pytest.param(20, 30.0, marks=pytest.mark.long),
    ],
)
def test_a_crawl_outlives_partitions(
    s3: str, s3_engine: Engine, tmp_path: Path, times: int, seconds: float
) -> None:
    draw = Random(times)  # noqa: S311  # reproducible
    web = Web(hosts=HOSTS, pages_per_host=PAGES, mix=Mix.plain())
    urls = [url for host in web.hosts() for url in web.urls(host)]
    with FakeWeb(web) as fake, way_to_store() as store, way_to(fake) as to_web:
        settings = loopback_settings(to_web.address, f"fetch.delay_s = {DELAY_S}")
        whole = Crawl.create(str(tmp_path / "crawl"), settings, engine=s3_engine)
        whole.inject(urls)
        whole.run(rounds=1)
        expected = tables(whole)
        titles = [row.title for row in whole.dataset("documents").limit(10).collect()]
        for number in range(times):
            root = f"{s3}/{number}"
            Crawl.create(root, settings, engine=s3_engine).inject(urls)
            way = (store, to_web)[number % 2]
            step = "generate" if way is to_web else draw.choice(STEPS)
            trouble = draw.choice(TROUBLES)
            asked = len(fake.log())
            happen = partial(way.disturb, trouble, seconds)
            troubles = {step: Disturbance(happen, draw.uniform(0.2, 4))}
            if way is to_web:
                begins = asked + draw.randint(HOSTS, HOSTS * PAGES // 2)
                troubles = {step: after_requests(fake, begins, happen)}
                code, said = crawl(root, store.url, troubles)
                assert (code, said) == (0, "") or "nothing was fetched" in said, said
            else:
                said = "".join(crawl_to_the_end(root, store.url, troubles))
            there = Crawl.open(root, s3_engine)
            if way is to_web:
                assert fetched_later(there) == documents(whole)
            else:
                assert tables(there) == expected
                assert answers(there, titles) == answers(whole, titles)
            assert damaged_records(there) == []
            check_politeness(fake.log()[asked:], DELAY_S)


@pytest.mark.slow
def test_no_query_waits_for_ever_on_a_connection_that_was_lost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(spark_client, "KEEPALIVE_S", 1)
    monkeypatch.setattr(spark_client, "PONG_S", 1)
    many = limits.BESIDE_SPARK.rows + 1  # others run in this process
    server = SparkConnectServer()
    server.start()
    try:
        with (
            Way(server.listening_address) as way,
            Engine(EngineConfig(url=f"sc://{way.address}")) as engine,
        ):
            assert engine.spark.range(many).count() == many
            way.lose()
            lost_s = time.monotonic()
            with pytest.raises(EngineError, match="operation not found"), engine_errors():
                engine.spark.range(many + 1).count()  # Spark would begin it again
            assert time.monotonic() - lost_s < GRPC_WAITS_S / 2
            assert engine.spark.range(many + 2).count() == many + 2
    finally:
        server.stop()
