from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from gossamer.serve.cache import Cache
from gossamer.serve.front import Front
from gossamer.serve.live import Live
from gossamer.serve.messages import Question
from gossamer.serve.search import Searcher
from shards import crawl, put_index
from test_serve_web import serving

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.serve.answers import Results
    from gossamer.workspace import Workspace


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    work = crawl(tmp_path)
    put_index(work, [{"url": f"http://a.example/{n}", "title": f"apple {n}"} for n in range(30)])
    return work


def search(cache: Cache, front: Front, searcher: Searcher, question: Question) -> Results:
    return asyncio.run(cache.search(front, searcher, question))


def test_an_answer_is_kept_for_the_same_question(work: Workspace) -> None:
    front, cache = Front(Live(work)), Cache(10)
    searcher = Searcher.open(work)
    first = search(cache, front, searcher, Question("apple", 0, 10))
    again = search(cache, front, searcher, Question("apple", 0, 10))
    assert again.hits is first.hits
    assert (cache.hits, cache.misses) == (1, 1)
    other = search(cache, front, searcher, Question("apple", 10, 10))
    assert {hit.url for hit in other.hits}.isdisjoint(hit.url for hit in first.hits)
    assert search(cache, front, searcher, Question("apple", 0, 10, facets=True)).facets
    assert (cache.hits, cache.misses) == (1, 3)


def test_what_was_asked_for_least_lately_goes_first(work: Workspace) -> None:
    front, cache = Front(Live(work)), Cache(2)
    searcher = Searcher.open(work)
    one, two, three = (Question("apple", 0, limit) for limit in (1, 2, 3))
    for question in (one, two, one, three, one):
        search(cache, front, searcher, question)
    assert (cache.hits, cache.misses) == (2, 3)
    search(cache, front, searcher, two)
    assert (cache.hits, cache.misses) == (2, 4)


def test_another_index_is_asked_anew(work: Workspace) -> None:
    front, cache = Front(Live(work)), Cache(10)
    question = Question("apple", 0, 10)
    assert search(cache, front, Searcher.open(work), question).total == 30
    put_index(work, [{"url": "http://a.example/", "title": "apple"}])
    work.store.refresh()
    assert search(cache, front, Searcher.open(work), question).total == 1
    assert cache.hits == 0


def test_nothing_is_kept_where_nothing_shall_be(work: Workspace) -> None:
    front, cache = Front(Live(work)), Cache(0)
    searcher = Searcher.open(work)
    for _ in range(2):
        search(cache, front, searcher, Question("apple", 0, 10))
    assert (cache.hits, cache.misses) == (0, 2)


def test_the_metrics_tell_how_many_answers_were_kept(work: Workspace) -> None:
    with serving(work) as client:
        for _ in range(3):
            client.get("/api/search", params={"q": "apple"})
        told = client.get("/metrics").text
    assert 'gossamer_searches_total{kept="yes"} 2.0' in told
    assert 'gossamer_searches_total{kept="no"} 1.0' in told
