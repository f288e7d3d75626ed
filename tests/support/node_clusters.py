"""A crawl whose index has two shards, and clusters of nodes that search it."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from gossamer.search.messages import Question
from gossamer.serve.cluster import tls
from gossamer.serve.cluster.cluster import Cluster
from tests.support.follower_nodes import PATIENCE_S, address, listener, node, server, until
from tests.support.small_index import crawl, put_index

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gossamer.config import ServeConfig
    from gossamer.search.results import Results
    from gossamer.state.workspace import Workspace

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


class Asked(NamedTuple):
    """A cluster with its own event loop, which synchronous tests can call."""

    cluster: Cluster
    runner: asyncio.Runner

    def answer(self, query: str) -> Results | None:
        answered = self.runner.run(self.cluster.answer(Question(query)))
        return answered.results if answered else None

    def results(self, query: str) -> Results:
        found = self.answer(query)
        assert found is not None
        return found

    def complete(self, text: str) -> list[str] | None:
        return self.runner.run(self.cluster.complete(text, 8))

    def well(self) -> list[bool]:
        return [well for *_, well in self.cluster.health()]


@contextmanager
def cluster(addresses: Sequence[str], deadline_s: float = PATIENCE_S) -> Iterator[Asked]:
    made = Cluster(addresses, deadline_s)
    with asyncio.Runner() as runner:
        watched = made.watch()
        runner.run(watched.__aenter__())
        yield Asked(made, runner)
        runner.run(watched.__aexit__(None, None, None))


def urls(results: Results) -> list[str]:
    return [hit.url for hit in results.hits]


def answers(work: Workspace, of_node: ServeConfig, of_server: ServeConfig) -> bool:
    """Whether a server gets an answer of a node."""
    contexts = tls.node_context(of_node, ""), tls.server_context(of_node, "")
    with (
        listener() as at,
        node(work.root, at, [address(at)], tls=contexts) as follower,
        server(work, [address(at)], tls=tls.server_context(of_server, "")) as asked,
    ):
        until(lambda: follower.held)
        asked.loop.run(asked.nodes.look())
        return asked.answer("fruit") is not None
