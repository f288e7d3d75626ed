"""Nodes that hold a part of the index each: answers from all, failures, updates, new places."""

from __future__ import annotations

import asyncio
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from gossamer.errors import StoreError
from gossamer.search.messages import Question
from gossamer.search.page_filters import NO_CRAWL
from gossamer.search.searcher import Searcher
from gossamer.serve.cluster import follower as following
from gossamer.serve.cluster import members, replica
from gossamer.serve.cluster import nodes as serve_nodes
from gossamer.serve.dispatch.front import Dispatcher
from gossamer.state.workspace import Workspace
from gossamer.storage.names import CONFIG_NAME
from tests.support.follower_nodes import Asked, Standing, listener, node, server, standing, until
from tests.support.node_clusters import PAGES, urls
from tests.support.search_server import serving
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.server

SHARDS = 4
DEADLINE_S = 0.7
"""Of steps that nodes miss for ever, and that others keep on a busy machine, too."""


@pytest.fixture(scope="module", autouse=True)
def hurried() -> Iterator[None]:
    """Nodes look all the time, drop at once what is no longer needed, and wait briefly."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(following, "LOOK_S", 0.02)
        patch.setattr(following, "LINGER_S", 0.0)
        patch.setattr(replica, "PROBE_S", 0.3)
        yield


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    work = crawl(tmp_path_factory.mktemp("crawl"))
    put_index(work, PAGES, shards=SHARDS)
    return work


@pytest.fixture
def own(tmp_path: Path) -> Workspace:
    """A crawl whose index a test changes."""
    work = crawl(tmp_path / "crawl")
    put_index(work, PAGES, shards=SHARDS)
    return work


@pytest.fixture(scope="module")
def two(work: Workspace) -> Iterator[Standing]:
    """A node for each half of the index, which tests do not stop."""
    with standing(work.root, 2, groups=2) as nodes:
        yield nodes


@pytest.fixture(scope="module")
def four(work: Workspace) -> Iterator[Standing]:
    """Two nodes for each half of the index, which tests do not stop."""
    with standing(work.root, 4, groups=2) as nodes:
        yield nodes


@pytest.fixture(scope="module")
def both(work: Workspace, two: Standing) -> Iterator[Asked]:
    with server(work, list(two.followers)) as asked:
        yield asked


@pytest.mark.parametrize("query", ["red apple", "fruit", "pear tree -green", "host:3.example red"])
def test_shards_that_lie_apart_find_what_one_index_finds(
    work: Workspace, both: Asked, query: str
) -> None:
    whole = Searcher.open(work).search(query)
    found = both.results(query)
    assert (found.total, found.missing) == (whole.total, 0)
    assert whole.total > 0


def test_completions_are_those_of_all_nodes(work: Workspace, both: Asked) -> None:
    assert both.complete("app") == Searcher.open(work).complete("app")


def test_words_weigh_the_same_however_they_are_spread(tmp_path: Path) -> None:
    """All pages with `rare` are in one shard, by whose own frequencies it would be frequent."""
    texts = ["rare common", "common", "rare common", "common common"] * 5
    work = crawl(tmp_path)
    pages = [{"url": f"http://a.example/{n}", "text": text} for n, text in enumerate(texts)]
    put_index(work, pages, shards=2)
    best = Searcher.open(work).search("rare common").hits[0]
    with standing(work.root, 2, groups=2) as nodes, server(work, list(nodes.followers)) as asked:
        hit = asked.results("rare common").hits[0]
    assert hit.score == pytest.approx(best.score, rel=0.05)


def test_two_servers_over_the_same_nodes_answer_the_same(work: Workspace, four: Standing) -> None:
    listed = list(four.followers)
    with server(work, listed) as one, server(work, listed[::-1]) as other:
        for query in ("red apple", "fruit", "pear tree -green", "gren aple"):
            for offset in (0, 10):
                first, second = (each.results(query, offset=offset) for each in (one, other))
                assert first.hits == second.hits
                assert first.total == second.total
        assert one.complete("app") == other.complete("app")


def test_another_node_of_the_group_answers_if_one_is_gone(work: Workspace) -> None:
    with standing(work.root, 4, groups=2) as nodes, server(work, list(nodes.followers)) as asked:
        whole = asked.results("fruit")
        nodes.stop(next(iter(nodes.followers)))
        for _ in range(8):
            found = asked.results("fruit")
            assert (urls(found), found.missing) == (urls(whole), 0)


def test_a_node_that_is_gone_is_missing_and_back_when_it_returns(work: Workspace) -> None:
    with ExitStack() as stack:
        nodes = stack.enter_context(standing(work.root, 2, groups=2))
        listed = list(nodes.followers)
        asked = stack.enter_context(server(work, listed))
        whole = asked.results("fruit")
        assert whole.missing == 0
        nodes.stop(listed[1])
        until(lambda: asked.results("fruit").missing)
        partial = asked.results("fruit")
        assert partial.missing == 1
        assert 0 < partial.total < whole.total
        again = listener(int(listed[1].rpartition(":")[2]))
        stack.enter_context(node(work.root, again, listed, groups=2))
        until(lambda: not asked.results("fruit").missing)
        assert urls(asked.results("fruit")) == urls(whole)
        assert all(asked.well())


def test_a_part_that_misses_the_deadline_is_left_out(
    work: Workspace, two: Standing, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of two nodes no longer answers, though it accepts connections."""
    go = threading.Event()
    with server(work, list(two.followers), DEADLINE_S) as asked:
        whole = asked.results("fruit")  # the first query takes longer
        stopped = two.followers[min(two.followers)]
        monkeypatch.setattr(stopped, "searcher", lambda _: go.wait(20) and None)
        found = asked.results("fruit")
        go.set()
    assert found.missing == 1
    assert 0 < found.total < whole.total


def test_a_node_that_hangs_makes_answers_late_but_not_partial(
    work: Workspace, four: Standing, monkeypatch: pytest.MonkeyPatch
) -> None:
    with server(work, list(four.followers), DEADLINE_S) as asked:
        asked.results("fruit")  # the first query takes longer
        go, hanging = threading.Event(), four.followers[min(four.followers)]
        monkeypatch.setattr(hanging, "searcher", lambda _: go.wait(20) and None)
        found = asked.results("fruit")  # of equals, the first is asked
        assert not all(asked.well())
        go.set()
    assert found.missing == 0


def test_without_nodes_there_is_an_error_and_the_index_is_not_opened(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Searcher, "open", lambda *_, **__: pytest.fail("the index was opened"))

    async def run() -> None:
        nobody = serve_nodes.Nodes(["127.0.0.1:1"], work.config.ranking, NO_CRAWL, 1)
        async with nobody.watch():
            front = Dispatcher(nobody)
            for asked in (front.search(Question("fruit")), front.complete("fru")):
                with pytest.raises(StoreError, match=r"serve\.nodes: no node has an index open"):
                    await asked
            assert await front.pages() is None

    asyncio.run(run())


def test_a_site_over_nodes_opens_no_index_itself(
    own: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    with standing(own.root, 2, groups=2) as nodes:
        listed = ", ".join(f'"{each}"' for each in nodes.followers)
        with Path(own.root, CONFIG_NAME).open("a") as file:
            file.write(f"\n[serve]\nnodes = [{listed}]\n")
        monkeypatch.setattr(Searcher, "open", lambda *_, **__: pytest.fail("opened"))
        with serving(Workspace.open(own.root)) as client:
            assert client.get("/health").json() == {"status": "ok", "pages": len(PAGES)}
            assert client.get("/api/v1/search", params={"q": "fruit"}).json()["total"] > 0
            assert f"{len(PAGES)}" in client.get("/").text
            assert client.get("/metrics").text.count("gossamer_node_up{") == 2


def load(asked: Asked, stop: threading.Event, seen: list[Any]) -> threading.Thread:
    """Ask all the time, in a thread: the hosts of all answers and what they miss."""

    def run() -> None:
        while not stop.is_set():
            found = asked.answer("fruit", limit=50)
            seen.append(found and (frozenset(hit.host for hit in found.hits), found.missing))

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def is_at(nodes: Standing, state: str) -> bool:
    """Whether all nodes hold this state and no other."""
    return all([each.state for each in one.held] == [state] for one in nodes.followers.values())


NEWER = [page | {"url": page["url"].replace(".example", ".test")} for page in PAGES]


@pytest.mark.parametrize(
    ("count", "groups"),
    [
        pytest.param(4, 2, marks=pytest.mark.slow),
        pytest.param(4, 1, marks=pytest.mark.long),
        pytest.param(2, 2, marks=pytest.mark.long),
    ],
)
def test_a_newer_index_rolls_over_all_nodes_without_a_failed_or_partial_answer(
    own: Workspace, count: int, groups: int
) -> None:
    seen: list[Any] = []
    stop = threading.Event()
    with (
        standing(own.root, count, groups) as nodes,
        server(own, list(nodes.followers)) as asked,
    ):
        asked.results("fruit")
        thread = load(asked, stop, seen)
        for round_ in range(3):
            put_index(own, NEWER if round_ % 2 == 0 else PAGES, shards=SHARDS)
            state = Searcher.open(own).state
            until(lambda: is_at(nodes, state))  # noqa: B023  # called at once
        until(lambda: asked.nodes.cover and asked.nodes.cover.state == state)
        stop.set()
        thread.join()
        assert {hit.host.rpartition(".")[2] for hit in asked.results("fruit").hits} == {"test"}
    assert None not in seen
    assert {missing for _, missing in seen} == {0}
    for hosts, _ in seen:  # no answer mixes two indexes
        assert len({host.rpartition(".")[2] for host in hosts}) == 1


@pytest.mark.parametrize("groups", [1, 2])
def test_a_question_about_a_state_that_nodes_have_dropped_is_asked_again(
    own: Workspace, groups: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serve_nodes, "LOOK_S", 1_000)
    with standing(own.root, 2, groups) as nodes, server(own, list(nodes.followers)) as asked:
        for question in (lambda: asked.results("fruit").missing, lambda: asked.complete("fru")):
            expected = question()
            put_index(own, PAGES, shards=SHARDS)
            state = Searcher.open(own).state
            until(lambda: is_at(nodes, state))  # noqa: B023  # called at once
            assert asked.nodes.cover is not None
            assert asked.nodes.cover.state != state
            assert question() == expected
            assert asked.nodes.cover.state == state


@pytest.mark.slow
def test_commits_that_follow_each_other_do_not_keep_nodes_from_agreeing(own: Workspace) -> None:
    with standing(own.root, 4, groups=2) as nodes, server(own, list(nodes.followers)) as asked:
        first = asked.nodes.cover
        assert first is not None
        rounds = 0

        def moved() -> bool:
            nonlocal rounds
            rounds += 1
            put_index(own, PAGES, shards=SHARDS)
            now = asked.nodes.cover
            return now is not None and now.state != first.state

        until(moved)
        assert asked.is_whole
        assert all(len(each.held) <= 3 for each in nodes.followers.values())


def test_a_node_that_is_added_gets_a_place_and_all_shards_answer_meanwhile(
    own: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three nodes for two groups become four: the new one makes the smaller group larger."""
    names: dict[str, list[str]] = {"nodes": []}
    monkeypatch.setattr(members, "RESOLVE_S", 0.05)
    monkeypatch.setattr(members, "_resolve", lambda host, _: names[host])
    port = 0
    seen: list[Any] = []
    stop = threading.Event()
    with ExitStack() as stack:
        sockets = []
        for number in range(2, 6):
            sockets.append(stack.enter_context(listener(port, f"127.0.0.{number}")))
            port = sockets[0].getsockname()[1]
        listed = [f"nodes:{port}"]
        names["nodes"] = [f"127.0.0.{number}" for number in range(2, 5)]
        followers = [stack.enter_context(node(own.root, each, listed, 2)) for each in sockets[:3]]
        until(lambda: all(each.held for each in followers))
        asked = stack.enter_context(server(own, listed))
        until(lambda: asked.is_whole)
        thread = load(asked, stop, seen)
        names["nodes"] = [f"127.0.0.{number}" for number in range(2, 6)]
        followers.append(stack.enter_context(node(own.root, sockets[3], listed, 2)))

        def is_settled() -> bool:
            held = [each.held[0].shards for each in followers if len(each.held) == 1]
            return len(held) == 4 and sorted(map(held.count, held)) == [2, 2, 2, 2]

        until(is_settled)
        until(lambda: len(asked.well()) == 4)
        stop.set()
        thread.join()
    assert None not in seen
    assert {missing for _, missing in seen} == {0}
