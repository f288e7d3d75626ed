"""The news sites of fakeweb: see gossamer.fakeweb.news_sites."""

from __future__ import annotations

import re
from collections import deque
from urllib.parse import urljoin

import pytest

from gossamer.fakeweb import Web
from gossamer.fakeweb.news_sites import FURNITURE, STYLES, host_of

SITES = len(STYLES) * len(FURNITURE)
ARTICLES = 15
"""Of each site: with few, walks over whole sites are short."""


@pytest.fixture(scope="module")
def web() -> Web:
    return Web(hosts=0, news_sites=SITES, news_articles=ARTICLES)


def linked(web: Web, url: str) -> list[str]:
    host, _, path = url.removeprefix("http://").partition("/")
    answer = web.answer(host, f"/{path}")
    if answer.status in {301, 302}:
        return [urljoin(url, answer.header("Location"))]
    assert answer.status == 200, url
    return [urljoin(url, href) for href in re.findall(r'href="([^"]+)"', answer.body.decode())]


def reached(web: Web, seeds: list[str], *without: str) -> dict[str, int]:
    """The clicks to each URL, but for calendars and what else is named."""
    clicks = dict.fromkeys(seeds, 0)
    waiting = deque(seeds)
    while waiting:
        url = waiting.popleft()
        for found in linked(web, url):
            if found not in clicks and not any(part in found for part in ("calendar", *without)):
                clicks[found] = clicks[url] + 1
                waiting.append(found)
    return clicks


def test_all_articles_are_reached_and_are_few_among_all_pages(web: Web) -> None:
    assert web.news is not None
    articles = web.news.articles()
    found = reached(web, web.seeds())
    assert len(articles) == ARTICLES * SITES
    assert {url for url in found if web.news.is_article(url)} == articles
    assert len(found) > 8 * len(articles)


def test_an_old_article_is_five_clicks_deep_in_the_archive(web: Web) -> None:
    """Without the links between neighbours, by which one is reached from the next."""
    for site in range(len(STYLES)):
        seed = f"http://{host_of(site)}/"
        assert web.news is not None
        day = f"{seed}archive/2019/01/01/"
        assert reached(web, [seed], "/tag/", "/forum/", "/go/")[day] == 4
        assert any(map(web.news.is_article, linked(web, day)))


def test_a_calendar_has_no_end(web: Web) -> None:
    seen = {f"http://{host_of(0)}/calendar/2019/02/"}
    for _ in range(50):
        found = linked(web, max(seen))
        assert max(found) > max(seen)
        seen |= set(found)


def test_sites_spell_all_urls_in_their_own_way(web: Web) -> None:
    homes = [linked(web, seed) for seed in web.seeds()]
    spelled = [re.sub(r"news\d+|\d+", "", " ".join(sorted(links))) for links in homes]
    assert len(set(spelled)) == SITES


def test_other_spellings_are_no_articles(web: Web) -> None:
    assert web.news is not None
    for url in web.news.articles():
        assert not web.news.is_article(url.replace("-", "--") + "x")


def test_a_web_with_news_is_the_same_in_another_process(web: Web) -> None:
    again = Web.from_settings(web.settings())
    assert again.news is not None
    assert web.news is not None
    assert again.news.articles() == web.news.articles()
    for url in sorted(web.news.articles())[:5]:
        host, _, path = url.removeprefix("http://").partition("/")
        assert again.answer(host, f"/{path}") == web.answer(host, f"/{path}")
