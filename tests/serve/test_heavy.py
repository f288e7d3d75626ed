"""Expensive searches: they leave room for others, and being late harms only themselves."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from typing import TYPE_CHECKING

import pytest

from gossamer.search.messages import Question
from gossamer.search.query_cost import HEAVY_TERMS
from gossamer.search.results import Results
from gossamer.search.searcher import Searcher
from gossamer.serve.dispatch import front
from gossamer.serve.dispatch.fair_queue import Busy
from gossamer.serve.dispatch.front import Dispatcher
from gossamer.serve.dispatch.reloader import OpenIndex
from tests.support.follower_nodes import address
from tests.support.node_clusters import cluster
from tests.support.search_server import PATIENCE_S
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from pathlib import Path

    from gossamer.state.workspace import Workspace

pytestmark = pytest.mark.server

HEAVY = Question("apple", front.HEAVY_LAST, 10)


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    work = crawl(tmp_path)
    put_index(work, [{"url": "http://a.example/", "title": "apple"}])
    return work


def test_an_expensive_search_does_not_keep_others_waiting(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one process, one expensive search runs and the rest wait; a cheap one overtakes them."""
    go, begun = threading.Event(), threading.Semaphore(0)

    def slow(_: Searcher, question: Question, __: float) -> Results:
        if front.is_heavy(question):
            begun.release()
            assert go.wait(PATIENCE_S)
        return Results(0, [], 0.0)

    monkeypatch.setattr(Searcher, "answer", slow)

    async def run() -> None:
        site = Dispatcher(OpenIndex(work))
        long = " ".join(map(str, range(HEAVY_TERMS + 1)))
        heavy = [
            asyncio.create_task(site.search(Question(f"{long} {number}"))) for number in range(5)
        ]
        assert await asyncio.to_thread(begun.acquire, timeout=PATIENCE_S)
        await site.search(Question("apple"))
        assert not any(task.done() for task in heavy)
        assert not begun.acquire(blocking=False)
        go.set()
        await asyncio.gather(*heavy)

    asyncio.run(run())


@pytest.mark.parametrize(
    ("question", "is_heavy"),
    [
        (Question("apple pear"), False),
        (Question("apple", 0, 10, facets=True), False),
        (Question("apple", explain=True), True),
        (Question("apple", 900, 100), True),
        (Question("word " * 64), True),
        (Question("word " * HEAVY_TERMS), False),
        (Question(".".join("word" * HEAVY_TERMS)), True),
        (Question("印刷設定" * HEAVY_TERMS), True),
        (Question('"' + "word " * 64), True),
        (Question("Related:a.example/"), True),
    ],
)
def test_what_is_expected_to_be_expensive(question: Question, is_heavy: bool) -> None:
    assert front.is_heavy(question) == is_heavy


def test_a_late_search_is_not_repeated_in_the_server(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process accepts connections but never answers. It fails only by being late with a cheap
    search; then the server answers, as if no process ran."""
    answered_here = []
    answer = Searcher.answer

    def noted(searcher: Searcher, question: Question, until_s: float) -> Results:
        answered_here.append(question)
        return answer(searcher, question, until_s)

    monkeypatch.setattr(Searcher, "answer", noted)
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        cluster([address(silent)], deadline_s=0.1) as late,
    ):
        site = Dispatcher(OpenIndex(work), late.cluster)
        for question, kind, well in (
            (HEAVY, front.HEAVY, True),
            (Question("apple"), front.LATE, False),
        ):
            with pytest.raises(Busy) as refused:
                late.runner.run(site.search(question))
            assert refused.value.kind == kind
            assert late.well() == [well]
            assert not answered_here

        assert late.runner.run(site.search(Question("apple"))).total == 1
        assert answered_here == [Question("apple")]


def test_a_late_completion_is_not_repeated_in_the_server(work: Workspace) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        cluster([address(silent)], deadline_s=0.1) as late,
    ):
        site = Dispatcher(OpenIndex(work), late.cluster)
        with pytest.raises(Busy) as refused:
            late.runner.run(site.complete("appl"))
        assert refused.value.kind == front.LATE


def test_a_search_in_place_of_processes_has_their_deadline(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No process listens, so the server searches itself."""
    given: list[float] = []

    def late(_: Searcher, __: Question, until_s: float) -> Results:
        given.append(until_s - time.monotonic())
        raise TimeoutError

    monkeypatch.setattr(Searcher, "answer", late)
    with (
        socket.create_server(("127.0.0.1", 0)) as gone,
        cluster([address(gone)], deadline_s=9) as none,
    ):
        gone.close()
        site = Dispatcher(OpenIndex(work), none.cluster)
        with pytest.raises(Busy) as refused:
            none.runner.run(site.search(Question("apple")))
        assert refused.value.kind == front.LATE
    assert 0 < given[0] <= 9


def test_no_step_begins_after_the_deadline(work: Workspace) -> None:
    searcher = Searcher.open(work)
    question = Question("apple")
    with pytest.raises(TimeoutError):
        searcher.answer(question, until_s=time.monotonic())
    assert searcher.answer(question, until_s=time.monotonic() + PATIENCE_S).total == 1
