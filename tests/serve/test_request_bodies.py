"""Bodies of requests: they arrive whole, in any pieces, and requests behind them are answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from gossamer.serve.web.protocol import MAX_REQUEST_BYTES
from tests.support.served_application import listening

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import Receive, Scope, Send

    from tests.support.served_application import Listening

pytestmark = pytest.mark.server
GET = b"GET /next HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n"
CHUNKED = b"transfer-encoding: chunked\r\n\r\n5\r\na\n\nb\n\r\n0\r\n\r\n"


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    body = await Request(scope, receive).body()
    told = f"[{scope['path']} {len(body)} {body[:9].decode()!r}]"
    await PlainTextResponse(told)(scope, receive, send)


@pytest.fixture(scope="module")
def server() -> Iterator[Listening]:
    with listening(echo) as opened:
        yield opened


def posted(body: bytes) -> bytes:
    return b"POST /first HTTP/1.1\r\nhost: a\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body)


def answers(server: Listening, *pieces: bytes) -> bytes:
    with server.connected() as client:
        for piece in pieces:
            client.sendall(piece)
        received = b""
        while data := client.recv(65_536):
            received += data
    return received


BODY = b"a\n\nb\r\n\r\nc"


@pytest.mark.parametrize("cut", [1, 40, len(posted(BODY)) - len(BODY), len(posted(BODY)) - 1])
def test_a_body_arrives_in_pieces(server: Listening, cut: int) -> None:
    whole = posted(BODY) + GET
    received = answers(server, whole[:cut], whole[cut:])
    assert b"[/first 9 'a\\n\\nb\\r\\n\\r\\nc']" in received
    assert received.endswith(b"[/next 0 '']")


def test_every_byte_may_come_alone(server: Listening) -> None:
    whole = posted(BODY) + GET
    received = answers(server, *(whole[n : n + 1] for n in range(len(whole))))
    assert received.count(b"HTTP/1.1 200") == 2
    assert received.endswith(b"[/next 0 '']")


def test_chunked_bodies_arrive(server: Listening) -> None:
    received = answers(server, b"POST /first HTTP/1.1\r\nhost: a\r\n" + CHUNKED + GET)
    assert b"[/first 5 'a\\n\\nb\\n']" in received
    assert received.endswith(b"[/next 0 '']")


def test_large_bodies_are_refused(server: Listening) -> None:
    most = MAX_REQUEST_BYTES - 200
    assert f"/first {most} ".encode() in answers(server, posted(b"a" * most) + GET)
    with server.connected() as client:
        client.sendall(posted(b"a" * 10 * MAX_REQUEST_BYTES)[: 2 * MAX_REQUEST_BYTES])
        received = b""
        try:
            while data := client.recv(65_536):
                received += data
        except ConnectionResetError:
            pass
    assert b" 200 " not in received
    assert server.refused["long request"] == 1
