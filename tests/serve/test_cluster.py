"""Search processes: requests to several of them, deadlines, failures and restarts."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.config import ServeConfig
from gossamer.engine.processes import start_python
from gossamer.search.messages import (
    MAX_LIMIT,
    Complete,
    Completed,
    Explain,
    Find,
    FoundPages,
    Question,
    Report,
    Rescore,
    Show,
    Suggest,
    Weigh,
)
from gossamer.search.query import parse
from gossamer.search.searcher import Searcher
from gossamer.serve import step
from gossamer.serve.cluster import server, wire
from gossamer.serve.cluster.children import MAX_FOLDER_BYTES, Children, _folder, next_pause_s
from gossamer.serve.cluster.group import AHEAD, Group
from gossamer.serve.cluster.replica import PROBE, Replica, ReplicaError
from gossamer.serve.cluster.server import Newest, Server
from gossamer.serve.dispatch.front import Dispatcher
from gossamer.serve.dispatch.reloader import OpenIndex
from tests.support.follower_nodes import PATIENCE_S, address, until
from tests.support.node_clusters import Asked, cluster, urls, work

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.search.messages import AnyReply, Counts, IndexRequest, Place, Request
    from gossamer.state.workspace import Workspace

pytestmark = pytest.mark.server

__all__ = ["work"]

SUN_PATH = 103
"""How long the path of a socket may be on macOS."""


@contextmanager
def process(work: Workspace, port: int = 0) -> Iterator[str]:
    """Answer searches in a thread of this process; yields its address."""
    listener = socket.create_server(("127.0.0.1", port))
    loop, stop = asyncio.new_event_loop(), asyncio.Event()
    running = Server(Newest(OpenIndex(work))).run(listener, stop)
    thread = threading.Thread(target=loop.run_until_complete, args=[running])
    thread.start()
    try:
        yield address(listener)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


def connected(node: str) -> socket.socket:
    host, _, port = node.rpartition(":")
    return socket.create_connection((host, int(port)), PATIENCE_S)


def test_another_replica_answers_if_one_is_gone(work: Workspace) -> None:
    with process(work) as two, ExitStack() as stack:
        with process(work) as one:
            both = stack.enter_context(cluster([one, two]))
            whole = both.results("fruit")
        for _ in range(4):
            found = both.results("fruit")
            assert (urls(found), found.missing) == (urls(whole), 0)


def test_if_no_process_answers_the_server_searches_itself(work: Workspace) -> None:
    with cluster(["127.0.0.1:1"]) as nobody:
        front, run = Dispatcher(OpenIndex(work), nobody.cluster), nobody.runner.run
        assert run(front.search(Question("fruit"))).total > 0
        assert run(front.complete("fru")) == ["fruit"]


def test_no_other_replica_is_tried_after_the_deadline() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as silent,
        socket.create_server(("127.0.0.1", 0)) as other,
        cluster([address(silent), address(other)], deadline_s=0.1) as both,
    ):
        assert both.answer("fruit") is None
        other.setblocking(False)
        with pytest.raises(BlockingIOError):
            other.accept()


def test_a_waiting_request_gets_the_first_process_that_is_free() -> None:
    """A process has at most AHEAD requests at once, and all of many requests are answered."""
    open_, most, full = 0, 0, asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal open_, most
        with suppress(asyncio.IncompleteReadError), closing(writer):
            while await wire.next_frame(reader):
                open_, most = open_ + 1, max(most, open_ + 1)
                if open_ == AHEAD:
                    full.set()
                await full.wait()
                open_ -= 1
                writer.write(wire.pack(Completed({})))

    async def ask() -> list[AnyReply | None]:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            group = Group([Replica(address(server.sockets[0]))])
            answers = await asyncio.gather(*(group.ask(PROBE, PATIENCE_S) for _ in range(20)))
            group.replicas[0].close()
        return answers

    assert asyncio.run(ask()) == [Completed({})] * 20
    assert most == AHEAD


@pytest.mark.parametrize("nowhere", ["a..b:1", "127.0.0.1:99999", f"{'x' * 80}.example:1"])
def test_an_address_that_makes_no_sense_is_a_process_that_is_gone(nowhere: str) -> None:
    replica = Replica(nowhere)
    with pytest.raises(ReplicaError):
        asyncio.run(replica.ask(PROBE, time.monotonic() + PATIENCE_S))
    assert not replica.well


def test_connections_to_a_node_that_was_started_again_are_renewed(work: Workspace) -> None:
    with asyncio.Runner() as runner:
        with process(work) as one:
            replica = Replica(one)
            runner.run(replica.ask(PROBE, time.monotonic() + PATIENCE_S))
        with process(work, port=int(one.rpartition(":")[2])):
            runner.run(replica.ask(PROBE, time.monotonic() + PATIENCE_S))
            replica.close()


def test_too_many_connections_harm_nobody_else(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MAX_CONNECTIONS", 2)
    with process(work) as one, ExitStack() as stack:
        first, second, third = (stack.enter_context(connected(one)) for _ in range(3))
        assert third.recv(1) == b""
        for connection in (first, second, first):
            connection.sendall(wire.pack(PROBE))
            expected = wire.pack(Report())
            assert connection.recv(len(expected), socket.MSG_WAITALL) == expected


@pytest.mark.parametrize(
    ("limit", "sent"),
    [
        ("IDLE_S", b""),
        ("REQUEST_S", b"\0"),
        ("REQUEST_S", wire.pack(PROBE)[:-1]),
        ("MAX_REQUEST", wire.pack(PROBE)[:4]),
    ],
    ids=["idle", "begun", "unfinished", "too long"],
)
def test_no_connection_is_held_without_a_request(
    work: Workspace, monkeypatch: pytest.MonkeyPatch, limit: str, sent: bytes
) -> None:
    monkeypatch.setattr(wire, limit, 0.1)
    with process(work) as one, connected(one) as connection:
        connection.sendall(sent)
        assert connection.recv(1) == b""


def test_no_connection_is_held_without_reading_the_answer(
    work: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MAX_CONNECTIONS", 1)
    monkeypatch.setattr(server, "UNREAD_S", 0.1)
    monkeypatch.setattr(Server, "answer", lambda *_: Completed({"x" * wire.MAX_FRAME: 1}))
    with process(work) as one, connected(one) as unread:
        unread.sendall(wire.pack(PROBE))
        assert unread.recv(1, socket.MSG_PEEK)
        until(lambda: is_answered(one))


def is_answered(node: str) -> bool:
    with connected(node) as connection, suppress(ConnectionError):
        connection.sendall(wire.pack(PROBE))
        return bool(connection.recv(1))
    return False


def test_completions_are_those_of_a_process(work: Workspace) -> None:
    with process(work) as one, cluster([one]) as alone:
        assert alone.complete("app") == ["apple"]


def test_garbage_ends_a_connection_and_nothing_else(work: Workspace) -> None:
    frames = [b"\0\0\0\3abc", b"\xff\xff\xff\xff", b"GET / HTTP/1.1\r\n\r\n", b"\0\0\0\0"]
    with process(work) as one, cluster([one]) as alone:
        for frame in frames:
            with connected(one) as connection:
                connection.sendall(frame)
                assert connection.recv(1) == b""
        assert alone.results("fruit").total > 0


NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.integers(-2, 200) | st.sampled_from([2**32 - 1])
PLACES = st.tuples(st.integers(-2, 2) | NUMBERS, st.integers(0, 1) | NUMBERS, NUMBERS)
FREQUENCIES = st.dictionaries(st.sampled_from(["", "fruit"]), NUMBERS)
COUNTS = st.none() | st.dictionaries(
    st.sampled_from(["xx", "en"]),
    st.dictionaries(st.sampled_from(["", "text", "title", "boilerplate", "anchors"]), FREQUENCIES),
)


@pytest.fixture(scope="module")
def answering(work: Workspace) -> Server:
    return Server(Newest(OpenIndex(work)))


@given(st.lists(PLACES, max_size=3), COUNTS, st.integers(0, MAX_LIMIT), NUMBERS)
def test_absurd_requests_are_answered_somehow(
    answering: Server, places: list[Place], counts: Counts | None, most: int, number: int
) -> None:
    """None of them ends the process by an exception, a panic in tantivy, or lack of memory."""
    tree = parse("fruit")
    found = answering.answer(Find(tree, 10))
    assert isinstance(found, FoundPages)
    state = found.state
    find = Find(tree, most, counts=counts)
    requests: list[Request | IndexRequest] = [
        Show(state, tree, places),
        Explain(state, find, places),
        Rescore(state, find, [(place, number) for place in places]),
        Weigh(state, tree, places, counts),
        find,
        Find(tree, number),
        Complete("fru", number),
        Suggest("fru", number),
        Question("fruit", number, number),
    ]
    for request in requests:
        with suppress(wire.BadFrameError):
            answering.answer(wire.request_of(wire.pack(request)[4:]))


@pytest.fixture(scope="module")
def children(
    work: Workspace, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Children, Asked]]:
    """Two search processes; the path of the temporary folder is too long for a socket."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(tmp_path_factory.mktemp("long" * 40)))
        running = Children(work, 2)
    with running, cluster(running.addresses) as both:
        until(lambda: both.answer("fruit") is not None)
        yield running, both
    for pid in running.pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_the_paths_of_sockets_are_short_enough_for_macos(monkeypatch: pytest.MonkeyPatch) -> None:
    longest = "t" * (MAX_FOLDER_BYTES - 5 - 8)  # without the folder, and with 8 random letters
    with tempfile.TemporaryDirectory(prefix=longest, dir="/tmp") as usual:
        monkeypatch.setattr(tempfile, "tempdir", usual)
        folder = _folder()
        assert folder.parent == Path(usual)
        assert len(bytes(folder / "99")) <= SUN_PATH


@pytest.mark.slow
def test_processes_are_started_again(
    work: Workspace, children: tuple[Children, Asked], caplog: pytest.LogCaptureFixture
) -> None:
    running, both = children
    whole = both.results("fruit")
    assert urls(whole) == urls(Searcher.open(work).search("fruit"))
    for pid in running.pids:
        os.kill(pid, signal.SIGKILL)
    until(lambda: both.answer("fruit") is None)
    until(lambda: both.answer("fruit") and all(both.well()))
    assert urls(both.results("fruit")) == urls(whole)
    assert caplog.text.count("ended (status -9); starting another") == 2


def test_a_process_that_cannot_be_started_is_tried_again(
    children: tuple[Children, Asked],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    running, both = children
    start, failures = start_python, [BlockingIOError(errno.EAGAIN, "Try again")]

    def started(*given: Any, **options: Any) -> subprocess.Popen[bytes]:
        if failures:
            raise failures.pop()
        return start(*given, **options)

    module = "gossamer.serve.cluster.children"
    monkeypatch.setattr(f"{module}.start_python", started)
    monkeypatch.setattr(f"{module}.FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(f"{module}.AT_ONCE_S", 0)
    until(lambda: both.answer("fruit") and all(both.well()))
    before = set(running.pids)
    os.kill(running.pids[0], signal.SIGKILL)
    until(lambda: "a search process cannot be started: [Errno 11] Try again" in caplog.text)
    until(lambda: len(before - set(running.pids)) == 1)
    until(lambda: both.answer("fruit") and all(both.well()))


def test_a_process_whose_parent_is_gone_leaves_nothing(work: Workspace) -> None:
    folder = Path(tempfile.mkdtemp())
    code = "from gossamer.serve.cluster.child import main; main()"
    command = [sys.executable, "-c", code, work.root, str(folder / "0")]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as child:
        until((folder / "0").exists)
        assert child.stdin is not None
        child.stdin.close()
        assert child.wait(PATIENCE_S) == 0
    assert not folder.exists()


def test_a_process_whose_parent_has_ended_before_it_listens_ends_silently(
    work: Workspace, tmp_path: Path
) -> None:
    code = "from gossamer.serve.cluster.child import main; main()"
    command = [sys.executable, "-c", code, work.root, str(tmp_path / "removed" / "0")]
    done = subprocess.run(command, input=b"", capture_output=True, check=True)
    assert done.stderr == b""


def test_signals_of_the_terminal_do_not_reach_processes(
    children: tuple[Children, Asked],
) -> None:
    running, _ = children
    assert os.getpgrp() not in {os.getpgid(pid) for pid in running.pids}


@pytest.mark.parametrize(
    ("cores", "setting", "processes"), [(1, 0, 1), (4, 0, 4), (64, 0, 8), (64, 32, 32)]
)
def test_a_large_machine_has_eight_processes_unless_more_are_asked_for(
    cores: int, setting: int, processes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    assert step.search_processes(ServeConfig(processes=setting)) == processes


@pytest.mark.slow
def test_processes_that_end_at_once_are_started_less_and_less_often() -> None:
    pauses = list(accumulate([0.1] * 6, next_pause_s, initial=0.0))
    assert pauses == [0, 0.5, 1, 2, 4, 8, 8]
    assert next_pause_s(8, 3600) == 0.5
