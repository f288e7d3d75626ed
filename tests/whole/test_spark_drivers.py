"""A driver that dies leaves tasks behind on its cluster. No host is asked by two runs at once."""

from __future__ import annotations

import subprocess
import time
from random import Random
from typing import TYPE_CHECKING

import pytest

from gossamer.api.crawl import Crawl
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.fetch.cluster.fetch_lease import HANDOVER_S
from gossamer.schedule import generate
from gossamer.storage.names import CONFIG_NAME
from tests.support.crawl_settings import loopback_settings
from tests.support.disturbed_crawls import GOSSAMER, await_requests, check_politeness

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.engine.engine import Engine
    from tests.support.spark_cluster import Cluster

pytestmark = pytest.mark.spark

DELAY_S = 0.3
HOSTS, PAGES = 6, 42
"""A round takes longer than tasks live without their driver."""


@pytest.mark.parametrize("kills", [1, pytest.param(20, marks=pytest.mark.long)])
def test_tasks_of_a_dead_driver_end_before_the_next_run_asks_their_hosts(
    cluster: Cluster, engine: Engine, tmp_path: Path, kills: int
) -> None:
    folder = tmp_path / "crawl"
    draw = Random(kills)  # noqa: S311  # reproducible
    web = Web(hosts=HOSTS, pages_per_host=PAGES, mix=Mix(calendars=0, crawl_delay=0, slow=0))
    with FakeWeb(web) as fake:
        settings = loopback_settings(fake.address, f"fetch.delay_s = {DELAY_S}\n")
        crawl = Crawl.create(str(folder), settings, engine=engine)
        crawl.inject(url for host in web.hosts() for url in web.urls(host))
        generate.run(crawl.work)
        (folder / CONFIG_NAME).write_text(f'engine.url = "{cluster.url}"\n{settings}')
        deaths_s = []
        for _ in range(kills):
            driver = subprocess.Popen([*GOSSAMER, "fetch", str(folder)], stdout=subprocess.DEVNULL)
            await_requests(fake, len(fake.log()) + draw.randint(HOSTS, 12 * HOSTS))
            driver.kill()
            driver.wait()
            deaths_s.append(time.monotonic())
        subprocess.run([*GOSSAMER, "fetch", str(folder)], check=True, stdout=subprocess.DEVNULL)
        log = fake.log()
    times = [entry.monotonic_s for entry in log]
    for died_s in deaths_s:
        # The next run has begun meanwhile, and waits.
        assert not any(HANDOVER_S < at - died_s < HANDOVER_S + 1 for at in times)
    after_s = [at - deaths_s[-1] for at in times]
    assert sum(0 < at < HANDOVER_S for at in after_s) > HOSTS, "tasks should outlive their driver"
    assert sum(at > HANDOVER_S for at in after_s) > HOSTS * PAGES // 2
    check_politeness(log, DELAY_S)
