"""Budgets of hosts, counted on the server's side."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from gossamer.api.crawl import Crawl
from gossamer.fakeweb import FakeWeb, Mix, Web
from tests.support.bare_rounds import run_rounds
from tests.support.crawl_settings import SITE_FILES, loopback_settings

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.engine.engine import Engine

SETTINGS = """
generate.pages_per_host = 2
generate.pages_per_host_ever = 3
"""


@pytest.mark.slow
def test_a_host_is_asked_for_so_many_pages_and_no_more(tmp_path: Path, engine: Engine) -> None:
    web = Web(hosts=2, pages_per_host=8, page_bytes=2_000, mix=Mix.plain())
    with FakeWeb(web) as fake:
        settings = loopback_settings(fake.address, SETTINGS)
        crawl = Crawl.create(str(tmp_path), settings, engine)
        crawl.inject(web.seeds())
        reports = run_rounds(crawl)
        log = [entry for entry in fake.log() if entry.target not in SITE_FILES]
    assert len({(entry.host, entry.target) for entry in log}) == len(log)
    asked = Counter(entry.host for entry in log)
    assert asked == {host: min(3, web.size(host)) for host in web.hosts()}
    counts = [done.counts for done in reports if done.step == "generate"]
    assert max(each["pages"] for each in counts) <= 2 * 2
    assert counts[-1]["dropped_budget"] > 0
