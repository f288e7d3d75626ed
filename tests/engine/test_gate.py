"""The gate in front of a server of this process, here one that only accepts a connection."""

from __future__ import annotations

import errno
import select
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from gossamer.config import EngineConfig
from gossamer.engine import seccomp
from gossamer.engine.engine import Engine
from gossamer.engine.gate import Gate
from gossamer.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.server

STRANGER = """
import socket, sys
with socket.create_connection(("127.0.0.1", int(sys.argv[1])), 10) as connection:
    print("connected", flush=True)
    try:
        connection.sendall(b"code")
        sys.exit(len(connection.recv(1)))
    except ConnectionError:
        pass
"""
PATIENCE_S = 10


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


def port_of(listening: socket.socket) -> int:
    return int(listening.getsockname()[1])


def accept(gate: Gate, listener: socket.socket) -> tuple[socket.socket, object]:
    """The server: a thread that waits for a connection and accepts it."""
    gate.guard_thread()
    while True:
        select.select([listener], [], [], PATIENCE_S)
        try:
            return listener.accept()
        except BlockingIOError:  # a connection came, and was not ours
            continue


def test_only_a_connection_of_this_process_comes_in(listener: socket.socket) -> None:
    gate = Gate()
    with ThreadPoolExecutor(1) as thread:
        accepting = thread.submit(accept, gate, listener)
        command = [sys.executable, "-c", STRANGER, str(port_of(listener))]
        stranger = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=PATIENCE_S)
        assert stranger.stdout == b"connected\n"  # and then it was closed
        assert not accepting.done()
        with socket.create_connection(listener.getsockname(), PATIENCE_S) as ours:
            accepted, address = accepting.result(PATIENCE_S)
            with accepted:
                assert address == ours.getsockname()
                ours.sendall(b"query")
                assert accepted.recv(5) == b"query"
        gate.end()


def test_a_client_of_ipv6_may_connect_to_ipv4(listener: socket.socket) -> None:
    """gRPC does so."""
    gate = Gate()
    with ThreadPoolExecutor(1) as thread, socket.socket(socket.AF_INET6) as ours:
        accepting = thread.submit(accept, gate, listener)
        ours.connect(("::ffff:127.0.0.1", port_of(listener)))
        accepting.result(PATIENCE_S)[0].close()
        gate.end()


def test_then_the_port_is_closed_and_the_server_waits_for_its_end(listener: socket.socket) -> None:
    gate = Gate()

    def accept_twice() -> int:
        accepted, _ = accept(gate, listener)
        with accepted, pytest.raises(BlockingIOError) as ended:
            listener.accept()
        return ended.value.errno or 0

    with ThreadPoolExecutor(1) as thread:
        accepting = thread.submit(accept_twice)
        with socket.create_connection(listener.getsockname(), PATIENCE_S):
            while not gate.is_passed:
                assert not accepting.done()
            with pytest.raises(ConnectionRefusedError):
                socket.create_connection(listener.getsockname(), PATIENCE_S)
            assert not accepting.done()
            gate.end()
            assert accepting.result(PATIENCE_S) == errno.EAGAIN


def test_no_engine_starts_with_a_port_that_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise OSError(errno.EINVAL, "Invalid argument")

    monkeypatch.setattr(seccomp, "install", refuse)
    with pytest.raises(EngineError, match=r"run code as you: Invalid argument\n  → use Linux"):
        Engine(EngineConfig(workers=1))
