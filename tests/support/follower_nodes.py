"""Nodes in threads of this process, which follow a crawl, and a server's view of them."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from gossamer.search.messages import Question
from gossamer.search.page_filters import NO_CRAWL
from gossamer.serve.cluster.follower import Follower
from gossamer.serve.cluster.members import Members
from gossamer.serve.cluster.nodes import Nodes
from gossamer.serve.cluster.server import Server
from gossamer.state.workspace import Workspace

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Sequence
    from ssl import SSLContext

    from gossamer.search.results import Results

_T = TypeVar("_T")
PATIENCE_S = 60
SOON_S = 0.02
"""How often nodes in tests look."""


class Loop:
    """An event loop in a thread."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def run(self, asked: Coroutine[Any, Any, _T]) -> _T:
        return asyncio.run_coroutine_threadsafe(asked, self._loop).result(PATIENCE_S)

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.run_until_complete(self._loop.shutdown_default_executor())
        self._loop.close()


def listener(port: int = 0, host: str = "127.0.0.1") -> socket.socket:
    return socket.create_server((host, port))


def address(listener: socket.socket) -> str:
    host, port = listener.getsockname()
    return f"{host}:{port}"


@contextmanager
def node(
    root: str,
    at: socket.socket,
    listed: Sequence[str],
    groups: int = 1,
    tls: tuple[SSLContext | None, SSLContext | None] = (None, None),
) -> Iterator[Follower]:
    """Run a node which listens at a socket. `tls`: for those who ask it, and whom it asks."""
    loop, (of_node, of_server) = Loop(), tls

    async def begun() -> tuple[Follower, asyncio.Event, list[asyncio.Task[None]]]:
        stop = asyncio.Event()
        follower = Follower(Workspace.open(root), address(at), Members(listed, of_server), groups)
        tasks = [
            asyncio.create_task(Server(follower).run(at, stop, of_node)),
            asyncio.create_task(follower.follow()),
        ]
        return follower, stop, tasks

    async def end() -> None:
        stop.set()
        tasks[1].cancel()
        await asyncio.wait(tasks)

    follower, stop, tasks = loop.run(begun())
    try:
        yield follower
    finally:
        loop.run(end())
        loop.close()


class Standing(NamedTuple):
    """Nodes by their addresses, each of which can be stopped."""

    followers: dict[str, Follower]
    stops: dict[str, ExitStack]

    def stop(self, address: str) -> None:
        del self.followers[address]
        self.stops.pop(address).close()


@contextmanager
def standing(root: str, count: int, groups: int) -> Iterator[Standing]:
    """Run nodes, and wait until each holds its share."""
    sockets = [listener() for _ in range(count)]
    listed = [address(each) for each in sockets]
    with ExitStack() as stack:
        nodes = Standing({}, {})
        for name, each in zip(listed, sockets, strict=True):
            nodes.stops[name] = stack.enter_context(ExitStack())
            nodes.followers[name] = nodes.stops[name].enter_context(
                node(root, each, listed, groups)
            )
        until(lambda: all(each.held for each in nodes.followers.values()))
        yield nodes


class Asked(NamedTuple):
    """A server's view of nodes, with an event loop in a thread, so that tests can call it."""

    nodes: Nodes
    loop: Loop

    def answer(self, query: str, **options: Any) -> Results | None:
        answered = self.loop.run(self.nodes.answer(Question(query, **options)))
        return answered.results if answered else None

    def results(self, query: str, **options: Any) -> Results:
        found = self.answer(query, **options)
        assert found is not None
        return found

    def complete(self, text: str) -> list[str] | None:
        return self.loop.run(self.nodes.complete(text, 8))

    def well(self) -> list[bool]:
        return [well for *_, well in self.nodes.health()]

    @property
    def is_whole(self) -> bool:
        cover = self.nodes.cover
        return cover is not None and not cover.missing


@contextmanager
def server(
    work: Workspace,
    listed: Sequence[str],
    deadline_s: float = PATIENCE_S,
    tls: SSLContext | None = None,
) -> Iterator[Asked]:
    loop = Loop()
    nodes = Nodes(listed, work.config.ranking, NO_CRAWL, deadline_s, tls)
    watched = nodes.watch()
    loop.run(watched.__aenter__())
    try:
        yield Asked(nodes, loop)
    finally:
        loop.run(watched.__aexit__(None, None, None))
        loop.close()


def until(done: Callable[[], object]) -> None:
    """Call `done` until it is true, for at most PATIENCE_S."""
    end_s, pause = time.monotonic() + PATIENCE_S, threading.Event()
    while not done():
        assert time.monotonic() < end_s
        pause.wait(SOON_S)
