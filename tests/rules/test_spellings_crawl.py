"""A crawl of sites that write URLs in many ways, judged by what their server saw and wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from gossamer.api.crawl import Crawl
from gossamer.web.urls import normalize
from tests.support.bare_rounds import run_rounds
from tests.support.crawl_settings import SITE_FILES, loopback_settings
from tests.support.robots_judge import RobotsJudge
from tests.support.spelled_sites import robots_txt_of, spelled_sites

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.engine.engine import Engine

pytestmark = pytest.mark.slow
HOSTS = 15


def test_a_crawl_requests_nothing_that_is_forbidden_as_written(
    engine: Engine, tmp_path: Path
) -> None:
    with spelled_sites() as server:
        settings = loopback_settings(server.address, "url_rules.evidence = 5")
        crawl = Crawl.create(str(tmp_path / "crawl"), settings, engine)
        crawl.inject(f"http://h{n}.test/index.php" for n in range(HOSTS))
        run_rounds(crawl, 3)
    asked = [(host, target) for host, target in server.asked if target not in SITE_FILES]
    judges = {host: RobotsJudge(robots_txt_of(host)) for host, _ in asked}
    assert len(asked) > 10 * HOSTS
    assert [each for each in asked if judges[each[0]].forbids(each[1])] == []
    opened = {
        normalize(f"http://{host}{target}")
        for host, targets in server.heard.items()
        for target in (*targets, "/index.php")
        if not judges[host].forbids(target)
    }
    assert {normalize(f"http://{host}{target}") for host, target in asked} <= opened
