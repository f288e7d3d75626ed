"""Object storage: the store is gone for a while, the crawl paused or killed, the cache full."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest

from gossamer.api.crawl import Crawl
from gossamer.fakeweb import FakeWeb, Mix, Web
from gossamer.fetch.cluster.fetch_lease import HANDOVER_S, LEASE_S
from gossamer.schedule import generate
from gossamer.storage import places
from tests.support.crawl_settings import loopback_settings
from tests.support.crawl_tables import answers, tables
from tests.support.disturbed_crawls import GOSSAMER, Disturbance, crawl, way_to_store
from tests.support.resizable_disk import Disk, disk

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.engine.engine import Engine
    from tests.support.network_ways import Way

__all__ = ["disk"]
HOSTS, PAGES, DELAY_S = 4, 40, 0.3
SHORT_S = 5.0
END_S = 60
CRAWL = [*GOSSAMER, "crawl", "--rounds", "1"]
SPARE_PAGES = 64
"""Pages of memory that are left on the disk of the cache: 256 KB."""


def cut(way: Way, seconds: float) -> Disturbance:
    return Disturbance(partial(way.disturb, "cut", seconds))


@pytest.mark.long
def test_a_crawl_outlives_its_store(s3: str, s3_engine: Engine, tmp_path: Path) -> None:
    web = Web(hosts=HOSTS, pages_per_host=PAGES, mix=Mix.plain())
    with FakeWeb(web) as fake, way_to_store() as way:
        settings = loopback_settings(fake.address, f"fetch.delay_s = {DELAY_S}")
        urls = [url for host in web.hosts() for url in web.urls(host)]
        whole = Crawl.create(str(tmp_path / "crawl"), settings, engine=s3_engine)
        whole.inject(urls)
        whole.run(rounds=1)
        starved = Crawl.create(s3, settings, engine=s3_engine)
        starved.inject(urls)
        code, said = crawl(s3, way.url, {"generate": cut(way, LEASE_S + 4)})
        if code:  # unless a task saw a sign of its process before it looked at the clock
            assert "gave no sign for 8 s" in said, said
            assert "→ run the same command again" in said
            short = cut(way, SHORT_S)
            code, said = crawl(s3, way.url, dict.fromkeys(("fetch", "update", "dedup"), short))
        assert (code, said) == (0, "")
        there = Crawl.open(s3, s3_engine)
        assert tables(there) == tables(whole)
        titles = [row.title for row in whole.dataset("documents").limit(10).collect()]
        assert answers(there, titles) == answers(whole, titles)


@pytest.mark.long
def test_a_crawl_goes_on_after_kills_and_a_full_cache(
    s3: str, s3_engine: Engine, disk: Disk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeWeb(Web(hosts=HOSTS, pages_per_host=PAGES, mix=Mix.plain())) as fake:
        settings = loopback_settings(fake.address, "rank.tolerance = 1e-12")
        whole = Crawl.create(str(tmp_path / "crawl"), settings, engine=s3_engine)
        starved = Crawl.create(s3, settings, engine=s3_engine)
        for each in (whole, starved):
            each.inject(url for host in fake.web.hosts() for url in fake.web.urls(host))
        whole.run(rounds=1)
        monkeypatch.setenv(places.CACHE, str(disk.folder / "cache"))
        for step in ("generate", "parse", "graph", "dedup"):
            killed_after(step, s3)
        with disk.with_space(SPARE_PAGES):
            full = subprocess.run([*CRAWL, s3], capture_output=True, text=True, check=False)
        assert full.returncode == 1
        assert f"gossamer: {disk.folder}/cache/" in full.stderr, full.stderr
        assert "no space left on the device" in full.stderr
        assert "Traceback" not in full.stderr
        subprocess.run([*CRAWL, s3], check=True, stdout=subprocess.DEVNULL)
    there = Crawl.open(s3, s3_engine)
    assert tables(there) == tables(whole)
    titles = [row.title for row in whole.dataset("documents").limit(10).collect()]
    assert answers(there, titles) == answers(whole, titles)


def killed_after(step: str, root: str) -> None:
    """Kill the command `crawl` in the step that follows this one."""
    with subprocess.Popen([*CRAWL, root, "--json"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        any(json.loads(line).get("step") == step for line in process.stdout)
        threading.Event().wait(0.2)
        process.kill()


@pytest.mark.slow
def test_tasks_of_a_paused_process_end_before_another_one_fetches(
    s3: str, s3_engine: Engine
) -> None:
    web = Web(hosts=HOSTS, pages_per_host=2 * PAGES, mix=Mix.plain())
    with FakeWeb(web) as fake:
        settings = loopback_settings(fake.address, f"fetch.delay_s = {DELAY_S}")
        there = Crawl.create(s3, settings, engine=s3_engine)
        there.inject(url for host in web.hosts() for url in web.urls(host))
        generate.run(there.work)
        process = subprocess.Popen([*GOSSAMER, "fetch", s3], stderr=subprocess.DEVNULL)
        try:
            ends_s = time.monotonic() + END_S
            while len(fake.log()) < 2 * HOSTS:
                assert time.monotonic() < ends_s
                threading.Event().wait(0.1)
            process.send_signal(signal.SIGSTOP)
            paused_s = time.monotonic()
            threading.Event().wait(HANDOVER_S + 1)
            after_s = [entry.monotonic_s - paused_s for entry in fake.log()]
        finally:
            process.kill()
            process.wait()
    assert sum(0 < at < HANDOVER_S for at in after_s) > HOSTS, "tasks should outlive the pause"
    assert not any(at > HANDOVER_S for at in after_s)
    assert len(after_s) < HOSTS * PAGES, "the fetch should not be over"
