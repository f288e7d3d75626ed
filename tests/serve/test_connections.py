"""Bounds on each connection and on their number, against a real server on loopback."""

from __future__ import annotations

import threading
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
from starlette.responses import Response

from gossamer.serve.web import protocol
from gossamer.serve.web.clients import Clients
from gossamer.serve.web.connections import Connections
from gossamer.serve.web.paced_sending import PIECE_BYTES, Sending
from tests.support.served_application import PATIENCE_S, Gate, get, listening, read

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

pytestmark = pytest.mark.server

LARGE = bytes(16 << 20)
REFUSED = b"HTTP/1.1 503 "


def test_pipelined_requests_are_answered_one_by_one_and_not_parsed_ahead() -> None:
    gate = Gate()
    paths = [f"/{number}" for number in range(500)]
    with listening(gate) as site, site.connected() as stranger:
        stranger.sendall(b"".join(map(get, paths)))
        gate.wait()
        (connection,) = site.server.server_state.connections
        assert not connection.pipeline  # type: ignore[union-attr]
        assert connection.flow.read_paused  # type: ignore[union-attr]
        gate.open.set()
        answers = read(stranger, b"\r\n\r\n" + paths[-1].encode())
    assert gate.most == 1
    assert [answer.split(b"\r\n\r\n")[1] for answer in answers.split(b"HTTP/1.1 ")[1:]] == [
        path.encode() for path in paths
    ]


@pytest.mark.parametrize("size", [1, 7, 64])
def test_requests_in_any_pieces_are_answered(size: int) -> None:
    gate = Gate()
    gate.open.set()
    sent = (
        get("/a") + b"POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n\n\r\n." + get("/c")
    )
    with listening(gate) as site, site.connected() as stranger:
        for at in range(0, len(sent), size):
            stranger.sendall(sent[at : at + size])
        answers = read(stranger, b"\r\n\r\n/c")
    assert [part.rpartition(b"\r\n")[2] for part in answers.split(b"HTTP/1.1 200")[1:]] == [
        b"/a",
        b"/b",
        b"/c",
    ]


def test_a_client_that_does_not_read_its_answer_is_cut_off_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(protocol, "MAX_UNREAD_S", 0.05)
    over = threading.Event()
    pieces = []

    async def large(scope: Scope, receive: Receive, send: Send) -> None:
        async def counted(message: dict[str, object]) -> None:
            pieces.append(len(message.get("body", b"")))  # type: ignore[arg-type]
            await send(message)

        try:
            await Sending(Response(LARGE), Counter())(
                scope,
                receive,
                counted,  # type: ignore[arg-type]
            )
        finally:
            over.set()

    with listening(large) as site, site.connected(room=4_096) as stranger:
        stranger.sendall(get())
        assert over.wait(PATIENCE_S)
        assert site.refused == {"unread answer": 1}
    assert max(pieces) == PIECE_BYTES


def test_a_closed_connection_does_not_wait_for_its_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """The transport already holds the whole answer when the connection is closed."""
    monkeypatch.setattr(protocol, "MAX_UNREAD_S", 0.05)
    lost = threading.Event()
    monkeypatch.setattr(
        protocol.Bounded,
        "connection_lost",
        _then(protocol.Bounded.connection_lost, lost),
    )
    with listening(Response(LARGE)) as site, site.connected(room=4_096) as stranger:
        stranger.sendall(get(headers="Connection: close\r\n"))
        assert lost.wait(PATIENCE_S)
        assert site.refused == {"unread answer": 1}


def _then(method: object, event: threading.Event) -> object:
    def called(*given: object) -> None:
        method(*given)  # type: ignore[operator]
        event.set()

    return called


def test_a_body_that_does_not_end_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "MAX_REQUEST_S", 0.05)
    gate = Gate()
    gate.open.set()
    with listening(gate) as site, site.connected() as stranger:
        stranger.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nslow")
        assert read(stranger, b"never").endswith(b"\r\n\r\n/")
        assert site.refused == {"slow request": 1}


def test_empty_lines_do_not_keep_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "MAX_REQUEST_S", 0.05)
    gate = Gate()
    gate.open.set()
    with listening(gate) as site, site.connected() as stranger:
        stranger.sendall(get())
        read(stranger, b"\r\n\r\n/")
        stranger.sendall(b"\r\n")
        assert stranger.recv(1) == b""
        assert site.refused == {"slow request": 1}


def test_a_body_without_bound_is_cut_off() -> None:
    gate = Gate()
    gate.open.set()
    with listening(gate) as site, site.connected() as stranger:
        stranger.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999\r\n\r\n")
        read(stranger, b"\r\n\r\n/")
        with suppress(ConnectionError):
            while True:
                stranger.sendall(LARGE)
        assert site.refused == {"long request": 1}


def test_a_newcomer_takes_the_place_of_the_connection_that_was_idle_longest() -> None:
    gate = Gate()
    gate.open.set()
    with (
        listening(gate, connections=2) as site,
        site.connected() as first,
        site.connected() as second,
    ):
        for each in (first, second):
            each.sendall(get())
            read(each, b"/")
        with site.connected() as third:
            third.sendall(get("/third"))
            assert read(third, b"/third").endswith(b"\r\n\r\n/third")
        assert first.recv(1) == b""
        second.sendall(get("/second"))
        assert read(second, b"/second").endswith(b"\r\n\r\n/second")
        assert site.refused == {"idle connection": 1}


def test_a_newcomer_is_refused_where_all_connections_are_at_work() -> None:
    gate = Gate()
    with (
        listening(gate, connections=2) as site,
        site.connected() as first,
        site.connected() as second,
    ):
        for each in (first, second):
            each.sendall(get())
        gate.wait(2)
        with site.connected() as third:
            assert read(third, b"too many connections\n").startswith(REFUSED)
        gate.open.set()
        for each in (first, second):
            assert read(each, b"/").endswith(b"\r\n\r\n/")
        assert site.refused == {"connection": 1}


def test_one_client_has_a_share_of_the_connections() -> None:
    gate = Gate()
    with (
        listening(gate, connections=16, clients=Clients(())) as site,
        site.connected("127.0.0.2") as first,
        site.connected("127.0.0.2") as second,
    ):
        for each in (first, second):
            each.sendall(get())
        gate.wait(2)
        with site.connected("127.0.0.2") as third:
            assert read(third, b"too many connections\n").startswith(REFUSED)
        with site.connected("127.0.0.3") as other:
            other.sendall(get("/other"))
            gate.wait()
            gate.open.set()
            assert read(other, b"/other").endswith(b"/other")
        for each in (first, second):
            read(each, b"/")


class _Connection:
    is_dropped = False

    def drop(self) -> None:
        self.is_dropped = True


def test_the_client_with_the_most_connections_gives_way() -> None:
    refused = Counter[str]()
    connections = Connections(Clients(()), refused, limit=16)
    lone = _Connection()
    assert connections.enter(lone, "192.0.2.1")
    crowd = [_Connection() for _ in range(15)]
    for number, each in enumerate(crowd):
        assert connections.enter(each, f"198.51.100.{number % 8}")
    assert connections.enter(_Connection(), "203.0.113.1")
    assert [each.is_dropped for each in crowd].count(True) == 1
    assert not lone.is_dropped
    assert len(connections) == 16
