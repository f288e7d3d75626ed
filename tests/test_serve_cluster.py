"""Processes that search: asked together, under a deadline, and without those that are gone."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.serve.cluster import wire
from gossamer.serve.cluster.children import Children
from gossamer.serve.cluster.cluster import Cluster
from gossamer.serve.cluster.server import Server
from gossamer.serve.front import Front
from gossamer.serve.live import Live
from gossamer.serve.messages import Complete, Find, Question, Suggest, Survey
from gossamer.serve.query import parse
from gossamer.serve.resolve import NOTHING
from gossamer.serve.search import Searcher
from shards import crawl, put_index

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from gossamer.serve.answers import Results
    from gossamer.workspace import Workspace

PATIENCE_S = 60
WORDS = ("red", "green", "apple", "pear", "fruit", "tree")
PAGES: list[dict[str, Any]] = [
    {
        "url": f"http://{number % 7}.example/{number}",
        "title": f"{WORDS[number % 6]} {WORDS[number // 6 % 6]}",
        "text": " ".join(WORDS[number % step] for step in (2, 3, 4, 5, 6)) * (1 + number % 4),
        "rank": number / 100_000,
    }
    for number in range(120)
]


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    work = crawl(tmp_path_factory.mktemp("crawl"))
    put_index(work, PAGES, shards=2)
    return work


@contextmanager
def node(work: Workspace, *shards: int, port: int = 0) -> Iterator[str]:
    """The address of a node in a thread of this process."""
    listener = socket.create_server(("127.0.0.1", port))
    loop, stop = asyncio.new_event_loop(), asyncio.Event()
    server = Server(Live(work, shards=shards))
    thread = threading.Thread(target=loop.run_until_complete, args=[server.run(listener, stop)])
    thread.start()
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


@contextmanager
def cluster(
    work: Workspace, *groups: Sequence[str], deadline_s: float = PATIENCE_S
) -> Iterator[Cluster]:
    made = Cluster(groups, work.config.ranking, NOTHING, deadline_s)
    try:
        yield made
    finally:
        made.close()


def asked(cluster: Cluster, query: str) -> Results:
    answered = cluster.answer(Question(query))
    assert answered is not None
    return answered.results


def urls(results: Results) -> list[str]:
    return [hit.url for hit in results.hits]


@pytest.mark.parametrize("query", ["red apple", "fruit", "pear tree -green", "host:3.example red"])
def test_shards_that_lie_apart_find_what_one_index_finds(work: Workspace, query: str) -> None:
    whole = Searcher.open(work).search(query)
    with node(work, 1) as one, node(work, 2) as two, cluster(work, [one], [two]) as both:
        found = asked(both, query)
    assert (found.total, found.missing) == (whole.total, 0)
    assert whole.total > 0


def test_words_weigh_the_same_however_they_are_spread(tmp_path: Path) -> None:
    """All pages with `rare` are in one shard: by its own frequencies it would be frequent."""
    texts = ["rare common", "common", "rare common", "common common"] * 5
    work = crawl(tmp_path)
    pages = [{"url": f"http://a.example/{n}", "text": text} for n, text in enumerate(texts)]
    put_index(work, pages, shards=2)
    best = Searcher.open(work).search("rare common").hits[0]
    with node(work, 1) as one, node(work, 2) as two, cluster(work, [one], [two]) as both:
        hit = asked(both, "rare common").hits[0]
    assert hit.score == pytest.approx(best.score, rel=0.05)


def test_a_node_that_is_gone_is_missing_and_back_when_it_returns(work: Workspace) -> None:
    with ExitStack() as stack:
        one = stack.enter_context(node(work, 1))
        with node(work, 2) as two:
            both = stack.enter_context(cluster(work, [one], [two]))
            whole = asked(both, "fruit")
            assert whole.missing == 0
        partial = asked(both, "fruit")
        assert partial.missing == 1
        assert 0 < partial.total < whole.total
        assert [well for *_, well in both.health()] == [True, False]
        stack.enter_context(node(work, 2, port=int(two.rpartition(":")[2])))
        until(lambda: not asked(both, "fruit").missing)
        assert urls(asked(both, "fruit")) == urls(whole)
        assert all(well for *_, well in both.health())


def test_another_replica_is_asked_where_one_is_gone(work: Workspace) -> None:
    with node(work) as two, ExitStack() as stack:
        with node(work) as one:
            both = stack.enter_context(cluster(work, [one, two]))
            whole = asked(both, "fruit")
        for _ in range(4):
            found = asked(both, "fruit")
            assert (urls(found), found.missing) == (urls(whole), 0)


def test_who_does_not_answer_in_time_is_left_out(work: Workspace) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        node(work, 1) as one,
        cluster(work, [one], [f"127.0.0.1:{silent.getsockname()[1]}"], deadline_s=0.5) as both,
    ):
        found = asked(both, "fruit")
        assert found.missing == 1
        assert found.hits


def test_where_nobody_answers_the_server_does(work: Workspace) -> None:
    with cluster(work, ["127.0.0.1:1"]) as nobody:
        front = Front(Live(work), nobody)
        searcher = front.searcher()
        assert searcher is not None
        assert front.answer(searcher, Question("fruit")).results.total > 0
        assert front.complete(searcher, "fru") == ["fruit"]


def test_completions_are_those_of_all_nodes(work: Workspace) -> None:
    with node(work, 1) as one, node(work, 2) as two, cluster(work, [one], [two]) as both:
        assert both.complete("app", 8) == Searcher.open(work).complete("app")
    with node(work) as one, cluster(work, [one]) as alone:
        assert alone.complete("app", 8) == ["apple"]


def test_garbage_ends_a_connection_and_nothing_else(work: Workspace) -> None:
    frames = [b"\0\0\0\3abc", b"\xff\xff\xff\xff", b"GET / HTTP/1.1\r\n\r\n", b"\0\0\0\0"]
    with node(work) as one, cluster(work, [one]) as alone:
        host, _, port = one.rpartition(":")
        for frame in frames:
            with socket.create_connection((host, int(port)), PATIENCE_S) as connection:
                connection.sendall(frame)
                assert connection.recv(1) == b""
        assert asked(alone, "fruit").total > 0


def test_processes_are_started_again(work: Workspace) -> None:
    with Children(work, 2) as children, cluster(work, children.addresses) as both:
        until(lambda: both.answer(Question("fruit")) is not None)
        whole = asked(both, "fruit")
        assert urls(whole) == urls(Searcher.open(work).search("fruit"))
        for pid in children.pids:
            os.kill(pid, signal.SIGKILL)
        until(lambda: both.answer(Question("fruit")) is not None)
        until(lambda: both.answer(Question("fruit")) and all(well for *_, well in both.health()))
        assert urls(asked(both, "fruit")) == urls(whole)


def until(done: Any) -> None:
    """Ask again and again, for as long as anybody would wait."""
    end_s = time.monotonic() + PATIENCE_S
    while not done():
        assert time.monotonic() < end_s


@given(st.text(max_size=80), st.booleans(), st.integers(0, 1000))
def test_messages_come_out_as_they_went_in(text: str, wide: bool, most: int) -> None:
    tree = parse(text)
    for message in (
        Question(text, most, 10, by_date=wide),
        Survey(tree),
        Find(tree, most, wide=wide),
        Complete(text, most),
        Suggest(text, most),
    ):
        assert wire.request_of(wire.packed(message)[4:]) == message


@given(st.binary(max_size=200))
def test_strange_bytes_are_a_bad_frame(body: bytes) -> None:
    for read in (wire.request_of, wire.outcome_of):
        try:
            read(body)
        except wire.BadFrameError:
            continue
