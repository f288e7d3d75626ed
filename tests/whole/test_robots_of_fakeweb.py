"""A crawl of every site of fakeweb, judged by what its server saw and wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gossamer.api.crawl import Crawl
from gossamer.web.urls import normalize
from tests.support.bare_rounds import run_rounds
from tests.support.judged_web import JudgedWeb, served

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.engine.engine import Engine

SETTINGS = """
filter.scope = "any"
fetch.contact = "https://crawler.example/"
fetch.delay_s = 0
fetch.delay_factor = 0
fetch.address_delay_s = 0
fetch.connections_per_address = 1_000
fetch.allow_networks = ["127.0.0.0/8"]
fetch.head_timeout_s = 2
fetch.timeout_s = 3
fetch.max_body_bytes = 300_000
fetch.max_file_bytes = 300_000
url_rules.evidence = 5
"""
SMALL = {"hosts": 12, "pages_per_host": 15, "dust_pages": 20, "news_sites": 1, "topic_sites": 1}
SMALL |= {"news_articles": 30, "topic_pages": 30}
LARGE = {"hosts": 500, "pages_per_host": 220, "dust_pages": 600, "news_sites": 15, "topic_sites": 9}
LARGE |= {"hostile": True}


@pytest.mark.parametrize(
    ("sizes", "rounds", "least"),
    [
        pytest.param(SMALL, 3, 500, marks=pytest.mark.slow, id="small"),
        pytest.param(LARGE, 8, 100_000, marks=pytest.mark.long, id="100,000 requests"),
    ],
)
@pytest.mark.parametrize("ruled", [False, True])
def test_nothing_is_requested_that_is_forbidden(
    engine: Engine, tmp_path: Path, sizes: dict[str, int], rounds: int, least: int, ruled: bool
) -> None:
    """With fakeweb's own rules, no spelling of what is requested is forbidden."""
    web = JudgedWeb(ruled=ruled, page_bytes=1_500, drip_s=0.001, **sizes)
    with served(web) as server:
        routes = ", ".join(f'"{name}" = "{place}"' for name, place in server.routes.items())
        settings = f"{SETTINGS}\nfetch.host_overrides = {{ {routes} }}"
        crawl = Crawl.create(str(tmp_path / "crawl"), settings, engine)
        crawl.inject(web.seeds())
        run_rounds(crawl, rounds)
    asked, judges = set(web.asked), web.judges()
    assert len(web.asked) >= least
    assert [each for each in asked if each[0] in judges and judges[each[0]].forbids(each[1])] == []
    for host, target in asked:
        written = web.written.get(str(normalize(f"http://{host}{target}")))
        if written is None or host not in judges:
            continue  # learned rules have made it of another spelling
        verdicts = [judges[host].forbids(each) for each in written.own or written.others]
        assert not all(verdicts), (host, target, written)
        assert ruled or not any(verdicts), (host, target, written)
