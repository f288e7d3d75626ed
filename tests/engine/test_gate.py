"""The gate in front of a server of this process, here one that only accepts a connection."""

from __future__ import annotations

import errno
import pwd
import select
import socket
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import TYPE_CHECKING

import psutil
import pytest

from gossamer.config import EngineConfig
from gossamer.engine import seccomp
from gossamer.engine.engine import Engine
from gossamer.engine.gate import Gate, Latch, make_gate, other_people
from gossamer.engine.small.limits import BESIDE_SAIL
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
    refused = pytest.raises(EngineError, match=r"run code as you: Invalid argument\n  → use Linux")
    with Engine(EngineConfig(workers=1)) as engine, refused:
        engine.spark.sql("select 1").collect()


def test_a_crawl_learns_at_once_that_no_engine_could_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "can_notify", lambda: False)
    with pytest.raises(EngineError, match=r"tell us who connects\n  → use Linux"):
        Engine(EngineConfig(workers=1))


def account(name: str, uid: int, shell: str = "/bin/zsh") -> pwd.struct_passwd:
    return pwd.struct_passwd((name, "*", uid, 20, "", f"/Users/{name}", shell))


ACCOUNTS = [
    account("root", 0, "/bin/sh"),
    account("_mbsetupuser", 248, "/bin/bash"),
    account("me", 501),
    account("berta", 503),
    account("anna", 502),
    account("backup", 504, "/usr/bin/false"),
    account("nobody", 2**32 - 2, "/usr/sbin/nologin"),
]


def test_other_people_are_those_who_can_log_in() -> None:
    assert other_people(ACCOUNTS, 501) == ["anna", "berta"]
    assert other_people(ACCOUNTS[:3], 501) == []


def test_without_a_gate_no_engine_starts_if_others_could_connect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gossamer.engine.gate.sys", SimpleNamespace(platform="darwin"))
    monkeypatch.setattr(pwd, "getpwall", lambda: ACCOUNTS)
    expected = r"as you: anna has an account here and \d more\n  → set engine\.trust_users"
    with pytest.raises(EngineError, match=expected):
        Engine(EngineConfig(workers=1))


@pytest.mark.parametrize(
    ("trusting", "can_notify", "expected"),
    [(False, True, Gate), (True, True, Gate), (False, False, Gate), (True, False, Latch)],
)
def test_a_latch_takes_the_place_of_a_gate_only_if_the_user_says_so(
    monkeypatch: pytest.MonkeyPatch, trusting: bool, can_notify: bool, expected: type
) -> None:
    monkeypatch.setattr(seccomp, "can_notify", lambda: can_notify)
    assert isinstance(make_gate(trusting=trusting), expected)


def test_kernels_with_gates_say_so() -> None:
    assert seccomp.can_notify()


def test_without_a_gate_the_port_is_closed_once_we_have_connected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gossamer.engine.gate.sys", SimpleNamespace(platform="darwin"))
    with Engine(EngineConfig(workers=1, trust_users=True)) as engine:
        large = engine.spark.range(BESIDE_SAIL.rows + 1)
        assert large.count() == BESIDE_SAIL.rows + 1
        connections = psutil.Process().net_connections("tcp")
        assert not [each for each in connections if each.status == psutil.CONN_LISTEN]
        assert large.count() == BESIDE_SAIL.rows + 1


def test_a_latch_closes_the_connection_of_a_stranger(listener: socket.socket) -> None:
    listener.setblocking(True)
    command = [sys.executable, "-c", STRANGER, str(port_of(listener))]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as stranger, listener.accept()[0]:
        with pytest.raises(EngineError, match="somebody has done so"):
            Latch(trusting=True).shut(port_of(listener))
        assert stranger.wait(PATIENCE_S) == 0


def test_a_latch_does_not_overlook_a_port_that_stays_open() -> None:
    with pytest.raises(EngineError, match="it cannot be closed"):
        Latch(trusting=True).shut(1)
