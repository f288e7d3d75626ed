"""The topics of fakeweb: see gossamer.fakeweb.topic_sites."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from gossamer.fakeweb import Web
from gossamer.fakeweb.topic_sites import TOPICS

SITES, PAGES = 3, 200


@pytest.fixture(scope="module")
def web() -> Web:
    return Web(hosts=0, topic_sites=SITES, topic_pages=PAGES)


def body(web: Web, url: str) -> str:
    host, _, path = url.removeprefix("http://").partition("/")
    answer = web.answer(host, f"/{path}")
    assert answer.status == 200, url
    return answer.body.decode()


def linked(web: Web, url: str) -> list[tuple[str, str]]:
    return re.findall(r'<a href="([^"]+)">([^<]+)', body(web, url))


def topic_of(web: Web, url: str) -> int:
    assert web.topics is not None
    topic = web.topics.topic_of(url)
    assert topic is not None, url
    return topic


ALL = [f"http://topic{site}.test/{n}" for site in range(SITES) for n in range(PAGES)]


def test_all_topics_are_about_equally_frequent(web: Web) -> None:
    counts = Counter(topic_of(web, url) for url in ALL)
    assert len(counts) == TOPICS
    assert min(counts.values()) > len(ALL) / TOPICS / 2


def test_pages_link_to_their_like_more_often_than_by_chance(web: Web) -> None:
    pairs = [(url, target) for url in ALL for target, _ in linked(web, url)]
    like = sum(topic_of(web, source) == topic_of(web, target) for source, target in pairs)
    assert 0.5 < like / len(pairs) < 0.65


def test_home_pages_lead_to_pages_and_have_no_topic(web: Web) -> None:
    assert web.topics is not None
    for seed in web.seeds():
        assert web.topics.topic_of(seed) is None
        assert all(topic_of(web, url) < TOPICS for url, _ in linked(web, seed))


def test_texts_of_links_are_titles_or_say_nothing(web: Web) -> None:
    links = [link for url in ALL[:20] for link in linked(web, url)]
    named = [(url, text) for url, text in links if text != "more"]
    assert 0.4 < len(named) / len(links) < 0.8
    assert all(f"<h1>{text}</h1>" in body(web, url) for url, text in named)


def test_pages_of_a_topic_share_words_that_others_seldom_have(web: Web) -> None:
    texts: dict[int, Counter[str]] = {n: Counter() for n in range(TOPICS)}
    for url in ALL:
        texts[topic_of(web, url)].update(re.findall(r"\w+", body(web, url).partition("<nav>")[0]))
    own = [word for word, count in texts[0].items() if count > max(9, 4 * texts[1][word])]
    assert len(own) > 30


def test_what_is_not_there_is_not_found(web: Web) -> None:
    assert web.topics is not None
    for host, path in (("topic0.test", f"/{PAGES}"), ("topic0.test", "/01"), ("topic3.test", "/1")):
        assert web.answer(host, path).status == 404
        assert web.topics.topic_of(f"http://{host}{path}") is None


def test_a_web_with_topics_is_the_same_in_another_process(web: Web) -> None:
    again = Web.from_settings(web.settings())
    for url in ALL[:5]:
        assert body(again, url) == body(web, url)
