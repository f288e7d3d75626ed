"""A driver that dies leaves tasks behind on its cluster. No host is asked by two runs at once."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from crawl_settings import loopback_settings
from gossamer import generate
from gossamer.api import Crawl
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.fakeweb.politeness_audit import by_host
from gossamer.fetch.tenure import HANDOVER_S
from gossamer.filenames import CONFIG_NAME

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from gossamer.engine import Engine

pytestmark = pytest.mark.spark

DELAY_S = 0.3
HOSTS, PAGES = 6, 42
"""A round takes longer than tasks live without their driver."""
END_S = 120
GOSSAMER = [sys.executable, "-c", "from gossamer.cli import main; main()"]


def test_tasks_of_a_dead_driver_end_before_the_next_run_asks_their_hosts(
    spark_url: str, engine: Engine, tmp_path: Path
) -> None:
    folder = tmp_path / "crawl"
    web = Web(hosts=HOSTS, pages_per_host=PAGES, mix=Mix(calendars=0, crawl_delay=0, slow=0))
    with FakeWeb(web) as fake:
        settings = loopback_settings(fake.address, f"fetch.delay_s = {DELAY_S}\n")
        crawl = Crawl.create(str(folder), settings, engine=engine)
        crawl.inject(url for host in web.hosts() for url in web.urls(host))
        generate.run(crawl.work)
        (folder / CONFIG_NAME).write_text(f'engine.url = "{spark_url}"\n{settings}')
        driver = subprocess.Popen([*GOSSAMER, "fetch", str(folder)], stdout=subprocess.DEVNULL)
        await_(lambda: len(fake.log()) > 4 * HOSTS)
        driver.kill()
        driver.wait()
        died_s = time.monotonic()
        subprocess.run([*GOSSAMER, "fetch", str(folder)], check=True, stdout=subprocess.DEVNULL)
        log = fake.log()
    times = [entry.monotonic_s - died_s for entry in log]
    assert sum(0 < at < HANDOVER_S for at in times) > HOSTS, "tasks should outlive their driver"
    assert not any(HANDOVER_S < at < HANDOVER_S + 1 for at in times)
    assert sum(at > HANDOVER_S for at in times) > HOSTS * PAGES // 2
    for requests in by_host(log).values():
        assert min(b.monotonic_s - a.monotonic_s for a, b in pairwise(requests)) > DELAY_S * 0.95


def await_(condition: Callable[[], bool]) -> None:
    ends_s = time.monotonic() + END_S
    while not condition():
        assert time.monotonic() < ends_s
        threading.Event().wait(0.1)
