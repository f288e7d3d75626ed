"""Workers of a cluster belong to groups, and fetch what these may, from addresses of their own."""

from __future__ import annotations

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from threading import Event
from typing import TYPE_CHECKING

import pytest

from gossamer import fetch
from gossamer.api.crawl import Crawl
from gossamer.config.egress import GROUPS, POSTPONED
from gossamer.schedule import generate
from tests.support.crawl_settings import loopback_settings
from tests.support.loopback import page
from tests.support.spark_cluster import EU, US

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.engine.engine import Engine
    from tests.support.loopback import Asked, Loopback
    from tests.support.spark_cluster import Cluster

pytestmark = pytest.mark.spark

EU_WORKER = 0
DELAY_S = 0.2
SETTINGS = f"""
fetch.delay_s = {DELAY_S}
fetch.egress = {{ eu = ["*-eu.test"], us = ["*-us.test"], asia = ["*-asia.test"] }}
"""


def test_each_host_is_asked_by_workers_of_its_group_even_if_one_is_lost(
    cluster: Cluster,
    spark_engine: Engine,
    engine: Engine,
    server: Loopback,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hosts = {"a-eu.test": 20, "b-eu.test": 20, "c-us.test": 3, "d-asia.test": 2}
    hosts |= {f"{n}.test": 3 for n in range(13)}
    server.answers |= {f"/{n}": page(b"text") for n in range(20)}
    settings = loopback_settings(server.address, SETTINGS)
    crawl = Crawl.create(str(tmp_path / "crawl"), settings, engine=engine)
    crawl.inject(f"http://{host}/{n}" for host, pages in hosts.items() for n in range(pages))

    here, there = crawl.work, replace(crawl.work, _engine=spark_engine)
    assert generate.run(there).counts == {"pages": 82, POSTPONED: 2}
    loads = here.read("fetchlist").groupBy("part").count().collect()
    assert sorted(load["count"] for load in loads) == [40, 42]
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(fetch.run, there)
        # By then, the other worker is done, and the task that is lost runs again there.
        while len(by_host(server)["a-eu.test"]) < 14:
            assert not running.done()
            Event().wait(0.05)
        cluster.kill_worker(EU_WORKER)
        assert running.result().counts == {"ok": 82}
    found = by_host(server)
    clients = {host: {each.client for each in asked} for host, asked in found.items()}
    assert clients.pop("a-eu.test") == clients.pop("b-eu.test") == {EU}
    assert clients.pop("c-us.test") == {US}
    assert set(clients) == hosts.keys() - {"a-eu.test", "b-eu.test", "c-us.test", "d-asia.test"}
    assert set().union(*clients.values()) == {US}
    for asked in found.values():
        gaps = [after.begun_s - before.begun_s for before, after in pairwise(asked)]
        assert min(gaps) > DELAY_S * 0.95
    assert len(found["a-eu.test"]) > 30, "nothing was fetched again"

    monkeypatch.setenv(GROUPS, "asia")
    assert generate.run(here).counts == {"pages": 41, POSTPONED: 43}
    assert fetch.run(here).counts == {"ok": 41}
    assert {asked.client for asked in by_host(server)["d-asia.test"]} == {"127.0.0.1"}


def by_host(server: Loopback) -> dict[str, list[Asked]]:
    found = defaultdict(list)
    for asked in server.asked:
        found[asked.host].append(asked)
    return found
