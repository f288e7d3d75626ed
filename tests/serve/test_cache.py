from __future__ import annotations

import asyncio
import tracemalloc
from typing import TYPE_CHECKING

import pytest

from gossamer.search.messages import Question
from gossamer.search.results import Results
from gossamer.search.searcher import Searcher
from gossamer.serve.dispatch.cache import ANSWER_BYTES, Cache, size_of
from gossamer.serve.dispatch.front import Dispatcher
from gossamer.serve.dispatch.reloader import OpenIndex
from tests.support.search_server import serving
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterator
    from pathlib import Path
    from typing import TypeVar

    from gossamer.state.workspace import Workspace

    _T = TypeVar("_T")

NOTHING_FOUND = Results(0, [], 0.0)
ROOMY = 1 << 20


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    work = crawl(tmp_path)
    put_index(work, [{"url": f"http://a.example/{n}", "title": f"apple {n}"} for n in range(30)])
    return work


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner


def test_an_answer_is_kept_for_the_same_question(work: Workspace, runner: asyncio.Runner) -> None:
    front = Dispatcher(OpenIndex(work), cache_bytes=ROOMY)

    def search(question: Question) -> Results:
        return runner.run(front.search(question))

    first = search(Question("apple", 0, 10))
    again = search(Question("apple", 0, 10))
    assert again.hits is first.hits
    assert (front.cache.hits, front.cache.misses) == (1, 1)
    other = search(Question("apple", 10, 10))
    assert {hit.url for hit in other.hits}.isdisjoint(hit.url for hit in first.hits)
    assert search(Question("apple", 0, 10, facets=True)).facets
    assert (front.cache.hits, front.cache.misses) == (1, 3)


def test_the_cache_is_bounded_in_bytes_and_drops_the_least_recently_used() -> None:
    cache = Cache(2 * ANSWER_BYTES)
    one, two, three = (Question("apple", 0, limit) for limit in (1, 2, 3))
    for question in (one, two):
        assert cache.find("", question) is None
        cache.keep("", question, NOTHING_FOUND)
    assert cache.find("", one) is NOTHING_FOUND
    cache.keep("", three, NOTHING_FOUND)
    assert cache.bytes <= cache.max_bytes
    assert cache.find("", two) is None
    assert cache.find("", one) is NOTHING_FOUND
    assert cache.find("", three) is NOTHING_FOUND


def test_an_answer_larger_than_the_cache_is_not_kept() -> None:
    cache = Cache(ANSWER_BYTES - 1)
    cache.find("", Question("apple"))
    cache.keep("", Question("apple"), NOTHING_FOUND)
    assert cache.bytes == 0


def test_the_estimated_size_of_an_answer_is_near_its_memory(work: Workspace) -> None:
    searcher = Searcher.open(work)
    searcher.search("apple", 0, 20, facets=True)
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    kept = [searcher.search("apple", 0, 20, facets=True) for _ in range(10)]
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before <= sum(map(size_of, kept)) <= 2 * (after - before)


def test_explanations_and_partial_answers_are_not_kept() -> None:
    cache = Cache(ROOMY)
    explained = Question("apple", explain=True)
    partial = Results(0, [], 0.0, missing=1)
    for question, results in ((explained, NOTHING_FOUND), (Question("pear"), partial)):
        assert cache.find("", question) is None
        cache.keep("", question, results)
        assert cache.find("", question) is None


def test_another_index_empties_the_cache(work: Workspace, runner: asyncio.Runner) -> None:
    now_s = 0.0
    front = Dispatcher(OpenIndex(work, clock=lambda: now_s), cache_bytes=ROOMY)
    question = Question("apple", 0, 10)
    assert runner.run(front.search(question)).total == 30
    put_index(work, [{"url": "http://a.example/", "title": "apple"}])
    now_s = 10.0
    assert runner.run(front.search(question)).total == 1
    assert front.cache.hits == 0


def test_a_cache_of_no_size_keeps_nothing(work: Workspace, runner: asyncio.Runner) -> None:
    front = Dispatcher(OpenIndex(work), cache_bytes=0)
    for _ in range(2):
        runner.run(front.search(Question("apple", 0, 10)))
    assert (front.cache.hits, front.cache.misses) == (0, 2)


def test_identical_searches_at_the_same_time_share_one_computation(
    work: Workspace, runner: asyncio.Runner, monkeypatch: pytest.MonkeyPatch
) -> None:
    computed = []
    answer = Searcher.answer

    def counted(searcher: Searcher, question: Question, until_s: float) -> Results:
        computed.append(question)
        return answer(searcher, question, until_s)

    monkeypatch.setattr(Searcher, "answer", counted)
    front = Dispatcher(OpenIndex(work), cache_bytes=ROOMY)

    async def several() -> list[Results]:
        return await together(front.search(Question("apple")) for _ in range(10))

    assert len({id(found.hits) for found in runner.run(several())}) == 1
    assert computed == [Question("apple")]


async def together(awaited: Iterator[Awaitable[_T]]) -> list[_T]:
    return list(await asyncio.gather(*awaited))


@pytest.mark.server
def test_the_metrics_report_hits_and_the_memory_of_answers(work: Workspace) -> None:
    with serving(work) as client:
        for _ in range(3):
            client.get("/api/v1/search", params={"q": "apple"})
        told = client.get("/metrics").text
    assert 'gossamer_searches_total{kept="yes"} 2.0' in told
    assert 'gossamer_searches_total{kept="no"} 1.0' in told
    assert "gossamer_cached_answers_bytes 0.0" not in told
