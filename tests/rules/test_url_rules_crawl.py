"""Crawls of sites with several URLs for each page: what do rules save, and is a page lost?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from gossamer.api.crawl import Crawl
from gossamer.fakeweb import FakeWeb, Web
from gossamer.fakeweb.dust_sites import SITES, DustWeb, host_of
from gossamer.rules.url_rules import forms
from tests.support.bare_rounds import run_rounds
from tests.support.crawl_settings import loopback_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.engine.engine import Engine

pytestmark = pytest.mark.slow
PAGES = 40
SETTINGS = """
url_rules.evidence = 8
generate.pages = 10_000
generate.pages_per_host = 90
"""
_HREF = re.compile(r'<a href="([^"]+)"')


def contents_of(web: DustWeb) -> dict[str, str]:
    """Each content that links lead to, with one of its URLs, by a walk without any rule."""
    waiting = web.seeds()
    seen, found = set(waiting), dict[str, str]()
    while waiting:
        url = waiting.pop()
        host, _, target = url.removeprefix("http://").partition("/")
        answer = web.answer(host, f"/{target}")
        if answer is None:
            continue
        if (content := web.content(url)) is not None:
            found.setdefault(content, url)
        links = {href.replace("&amp;", "&") for href in _HREF.findall(answer.body.decode())}
        links |= {answer.header("Location")} - {""}
        waiting += links - seen
        seen |= links
    return found


@pytest.fixture(scope="module")
def web() -> Iterator[FakeWeb]:
    with FakeWeb(Web(hosts=0, dust_pages=PAGES)) as fake:
        yield fake


@pytest.fixture(scope="module")
def crawl(web: FakeWeb, engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Crawl:
    folder = tmp_path_factory.mktemp("dust") / "crawl"
    made = Crawl.create(str(folder), loopback_settings(web.address, SETTINGS), engine)
    made.inject(web.web.seeds())
    run_rounds(made)
    return made


def test_no_content_is_lost(web: FakeWeb, crawl: Crawl) -> None:
    dust = web.web.dust
    assert dust is not None
    # A few groups cannot show that a parameter matters on a tenth of the pages.
    expected = {name for name in contents_of(dust) if not name.startswith("tenth")}
    assert len(expected) > PAGES * (len(SITES) - 1)
    fetched = crawl.dataset("responses").where("outcome = 'ok'").select("url").collect()
    assert expected - {dust.content(row.url) for row in fetched} == set()


def test_rules_avoid_fetches(crawl: Crawl) -> None:
    rules = [rule for rule in crawl.url_rules() if rule.state == "active"]
    kinds = {rule.kind for rule in rules if rule.rewritten}
    assert {"parameter", "slash", "www", "index", "case"} <= kinds
    assert all(rule.examples for rule in rules)
    assert crawl.dataset("aliases").count() > 500


def test_traps_are_left_alone(crawl: Crawl) -> None:
    active = {(r.host, r.section, r.kind, r.name) for r in crawl.url_rules() if r.state == "active"}
    print_views = {name for host, _, kind, name in active if host == host_of("print")}
    assert not any("view" in name for name in print_views)
    assert (host_of("index"), "/wiki/", "index", "index.html") not in active
    assert (host_of("case"), "/wiki/", "case", "") not in active


def test_links_lead_to_one_url_of_a_page(crawl: Crawl) -> None:
    host = host_of("tracked")
    rule = next(r for r in crawl.url_rules(host) if r.name == "from&pos" and r.state == "active")
    last = crawl.dataset("links").where(f"round > {rule.last_round}").select("dst").collect()
    parts = [forms.split_url(row.dst) for row in last if host in row.dst]
    assert all(each is not None and "from=" not in each.query for each in parts)
