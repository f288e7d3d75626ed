"""Budgets of hosts, counted on the server's side."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from gossamer.api import Crawl
from gossamer.fakeweb import FakeWeb, Mix, Web

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.engine import Engine

SETTINGS = """
filter.scope = "any"
generate.pages_per_host = 3
generate.pages_per_host_ever = 7
fetch.delay_s = 0
fetch.delay_factor = 0
fetch.address_delay_s = 0
fetch.allow_networks = ["127.0.0.0/8"]
fetch.resolve = {{ "*.test" = "{address}" }}
"""


def test_a_host_is_asked_for_so_many_pages_and_no_more(tmp_path: Path, engine: Engine) -> None:
    web = Web(hosts=5, pages_per_host=12, page_bytes=2_000, mix=Mix.plain())
    with FakeWeb(web) as fake:
        settings = SETTINGS.format(address=fake.address)
        crawl = Crawl.create(str(tmp_path), settings, engine)
        crawl.inject(web.seeds())
        reports = crawl.run()
        log = [entry for entry in fake.log() if entry.target != "/robots.txt"]
    assert len({(entry.host, entry.target) for entry in log}) == len(log)
    asked = Counter(entry.host for entry in log)
    assert asked == {host: min(7, web.size(host)) for host in web.hosts()}
    in_rounds = [done.counts["pages"] for done in reports if done.step == "generate"]
    assert max(in_rounds) <= 3 * 5
    assert reports[-4].step == "generate"
    assert reports[-4].counts["dropped_budget"] > 0
