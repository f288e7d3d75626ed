"""A client for the hostile web that records raw bytes."""

from __future__ import annotations

import socket
import ssl
from typing import TYPE_CHECKING, NamedTuple

import pytest

from gossamer.fakeweb import Web
from gossamer.fakeweb.hostile import CATALOGUE

if TYPE_CHECKING:
    from gossamer.fakeweb import FakeWeb
    from gossamer.fakeweb.hostile import Case

WEB = Web(seed=3, hosts=3, pages_per_host=5, page_bytes=3000, hostile=True, tls=True, drip_s=0.001)
DRIPS = 100
"""How many bytes a test waits for from a slow host."""
LIMIT = 600_000
PATIENCE_S = 20
LAST = "GET /robots.txt HTTP/1.1\r\nHost: hostile.test\r\nConnection: close\r\n\r\n"
LAST_ANSWER = b"hostile.test: no robots.txt\n"


class Seen(NamedTuple):
    """The bytes that a host sent, and how they ended.

    kept     the next request on the connection was answered
    closed   the connection was closed before that answer
    reset    the connection was reset
    endless  more than LIMIT bytes arrived
    """

    data: bytes
    end: str


def endpoint(fake: FakeWeb, case: Case) -> tuple[str, int]:
    where = fake.routes.get(case.host, fake.routes["tls-*.hostile.test" if case.tls else "*.test"])
    address, _, port = where.rpartition(":")
    return address, int(port)


def get(host: str, target: str = "/", *headers: str) -> str:
    return "\r\n".join((f"GET {target} HTTP/1.1", f"Host: {host}", *headers, "", ""))


def ask(fake: FakeWeb, host: str, target: str = "/", limit: int = LIMIT) -> Seen:
    """Send a request to a host, then a second one, which shows whether the connection was kept."""
    with socket.create_connection(("127.0.0.1", fake.port), PATIENCE_S) as client:
        client.sendall((get(host, target) + LAST).encode())
        return received(client, limit)


def received(client: socket.socket, limit: int = LIMIT) -> Seen:
    data = bytearray()
    while len(data) < limit:
        try:
            part = client.recv(limit - len(data))
        except ConnectionResetError:
            return Seen(bytes(data), "reset")
        if not part:
            if not data.endswith(LAST_ANSWER):
                return Seen(bytes(data), "closed")
            own, _, _ = data.rpartition(b"HTTP/1.1 404 Not Found\r\n")
            return Seen(bytes(own), "kept")
        data += part
    return Seen(bytes(data), "endless")


def answered(fake: FakeWeb) -> None:
    """Wait for the answer to a good request; answers to earlier requests have come by then."""
    assert ask(fake, "site-0.test").end == "kept"


def assert_silent(client: socket.socket, fake: FakeWeb) -> None:
    """Assert that the client has no unread bytes, and not even the end of the connection."""
    answered(fake)
    client.setblocking(False)
    with pytest.raises(BlockingIOError):
        client.recv(1)


def through_the_door(fake: FakeWeb, name: str) -> Seen:
    try:
        client = socket.create_connection(endpoint(fake, CATALOGUE[name]), PATIENCE_S)
    except ConnectionResetError:  # the reset can come before `create_connection` returns
        return Seen(b"", "reset")
    with client:
        return received(client)


def secure(
    fake: FakeWeb, case: Case, context: ssl.SSLContext | None = None, host: str | None = None
) -> Seen:
    """Send a request over TLS. Raises ssl.SSLError and OSError."""
    context = context or ssl.create_default_context(cafile=fake.ca_file)
    host = host or case.host
    with (
        socket.create_connection(endpoint(fake, case), PATIENCE_S) as plain,
        context.wrap_socket(plain, server_hostname=host) as client,
    ):
        client.sendall((get(host) + LAST).encode())
        return received(client)
