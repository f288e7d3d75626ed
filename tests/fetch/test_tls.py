from __future__ import annotations

import asyncio
import datetime as dt
import socket
import ssl
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest
import trustme

from gossamer.fetch.exchange import Request
from tests.support.loopback import Loopback, loopback, page
from tests.support.loopback_fetches import LIMIT, config, fetch, fetch_url, http_fetcher

if TYPE_CHECKING:
    from asyncio import StreamReader, StreamWriter
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from gossamer.fetch.exchange import FetchResult

pytestmark = pytest.mark.server

TEXT = b"<p>" + b"word " * 1_000
PAGE = "https://a.test/page"


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(autouse=True)
def trusted(authority: trustme.CA, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's authorities are this one."""
    file = tmp_path / "authorities.pem"
    authority.cert_pem.write_to_path(str(file))
    monkeypatch.setenv("SSL_CERT_FILE", str(file))


def tls(certificate: trustme.LeafCert) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate.configure_cert(context)
    return context


@pytest.fixture
def secure(authority: trustme.CA) -> Iterator[Loopback]:
    with loopback(tls(authority.issue_cert("a.test", "127.0.0.1"))) as server:
        server.answers["/page"] = page(TEXT)
        yield server


def old(authority: trustme.CA) -> ssl.SSLContext:
    """Speaks TLS 1.0 and nothing newer."""
    context = tls(authority.issue_cert("a.test"))
    context.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="TLSv1"):
        context.minimum_version = ssl.TLSVersion.TLSv1
    with pytest.warns(DeprecationWarning, match="TLSv1"):
        context.maximum_version = ssl.TLSVersion.TLSv1
    return context


def expired(authority: trustme.CA) -> ssl.SSLContext:
    past = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    return tls(authority.issue_cert("a.test", not_after=past, not_before=past))


FLAWED: dict[str, tuple[Callable[[trustme.CA], ssl.SSLContext], tuple[str, ...]]] = {
    "expired": (expired, ("certificate: certificate has expired",)),
    "of another": (
        lambda _: tls(trustme.CA().issue_cert("a.test")),
        ("certificate: unable to get local issuer certificate",),
    ),
    "of another name": (
        lambda authority: tls(authority.issue_cert("b.test")),
        ("certificate: Hostname mismatch, certificate is not valid for 'a.test'.",),
    ),
    "old": (  # OpenSSL's releases differ in who gives up first
        old,
        (
            "no TLS handshake: closed by the server",
            "TLS: legacy sigalg disallowed or unsupported",
        ),
    ),
}


def test_a_page_over_tls(secure: Loopback) -> None:
    request = Request(PAGE, LIMIT)
    answers = fetch(config(secure), request, request)
    assert [(answer.outcome, answer.body) for answer in answers] == [("ok", TEXT)] * 2
    assert [answer.address for answer in answers] == ["127.0.0.1"] * 2
    assert secure.opened == 1


@pytest.mark.parametrize("flaw", FLAWED)
def test_tls_that_does_not_hold(authority: trustme.CA, flaw: str) -> None:
    make, details = FLAWED[flaw]
    with loopback(make(authority)) as server:
        answer = fetch_url(config(server), PAGE)
    assert (answer.outcome, answer.http_status) == ("tls", None)
    assert answer.detail in details
    assert not server.asked


@pytest.mark.parametrize("flaw", FLAWED)
def test_tls_that_does_not_hold_is_taken_where_nobody_cares(
    authority: trustme.CA, flaw: str
) -> None:
    make, _ = FLAWED[flaw]
    with loopback(make(authority)) as server:
        server.answers["/page"] = page(TEXT)
        answer = fetch_url(config(server, verify_tls=False), PAGE)
    assert (answer.outcome, answer.body) == ("ok", TEXT)


def test_a_certificate_of_an_address(secure: Loopback) -> None:
    assert fetch_url(config(secure), f"https://{secure.address}/page").body == TEXT


def test_plain_http_where_tls_should_be(server: Loopback) -> None:
    answer = fetch_url(config(server), PAGE)
    assert (answer.outcome, answer.detail) == ("tls", "TLS: wrong version number")


def raw(say: Callable[[socket.socket], None], **settings: object) -> FetchResult:
    """Fetch from a server that is no more than a socket."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                say(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        answer = fetch_url(config(Loopback(port=listening.getsockname()[1]), **settings), PAGE)
        thread.join()
    return answer


def hello(connection: socket.socket) -> None:
    """Take all of the client's hello."""
    header = connection.recv(5, socket.MSG_WAITALL)
    connection.recv(int.from_bytes(header[3:]), socket.MSG_WAITALL)


def until_closed(connection: socket.socket) -> None:
    with suppress(ConnectionError):
        while connection.recv(1 << 12):
            pass


def test_a_handshake_that_is_closed() -> None:
    answer = raw(hello)
    assert (answer.outcome, answer.detail) == ("tls", "no TLS handshake: closed by the server")


def test_a_handshake_that_is_declined() -> None:
    def decline(connection: socket.socket) -> None:
        hello(connection)
        connection.sendall(b"\x15\x03\x01\x00\x02\x02\x46")  # RFC 8446 §6: fatal, 70
        until_closed(connection)

    answer = raw(decline)
    assert (answer.outcome, answer.detail) == ("tls", "TLS: tlsv1 alert protocol version")


def test_a_client_certificate_that_we_do_not_have(authority: trustme.CA) -> None:
    """In TLS 1.3 the server says so after the handshake."""
    context = tls(authority.issue_cert("a.test"))
    context.verify_mode = ssl.CERT_REQUIRED
    authority.configure_trust(context)

    def require(connection: socket.socket) -> None:
        with pytest.raises(ssl.SSLError, match="PEER_DID_NOT_RETURN_A_CERTIFICATE"):
            context.wrap_socket(connection.dup(), server_side=True, suppress_ragged_eofs=False)
        until_closed(connection)

    answer = raw(require)
    assert (answer.outcome, answer.http_status) == ("tls", None)
    assert answer.detail is not None
    assert answer.detail.endswith("alert certificate required")


def test_a_handshake_that_is_reset() -> None:
    def part(connection: socket.socket) -> None:
        connection.recv(1)  # what is left unread makes the close a reset

    answer = raw(part)
    assert (answer.outcome, answer.detail) == ("tls", "no TLS handshake: connection reset by peer")


def test_a_handshake_that_hangs() -> None:
    answer = raw(until_closed, connect_timeout_s=0.1)
    assert (answer.outcome, answer.detail) == ("tls", "no TLS handshake within 0.1 s")


def test_a_port_that_nobody_listens_on_is_not_tls() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    answer = fetch_url(config(Loopback(port=port)), PAGE)
    assert (answer.outcome, answer.detail) == ("unreachable", "no connection: connection refused")


def test_a_body_without_end_is_not_drained(authority: trustme.CA) -> None:
    """A transport of TLS that is closed, not aborted, reads on until its peer says goodbye."""
    context = tls(authority.issue_cert("a.test"))
    sent_bytes = 0

    def pour(connection: socket.socket) -> None:
        nonlocal sent_bytes
        with suppress(OSError), context.wrap_socket(connection.dup(), server_side=True) as secured:
            secured.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
            while sent_bytes < 1 << 27:
                sent_bytes += secured.send(bytes(1 << 16))

    answer = raw(pour)
    assert (answer.outcome, answer.body, answer.truncated) == ("ok", bytes(LIMIT), True)
    assert sent_bytes < 1 << 26  # what fits into the buffers of sockets


def test_a_body_that_ends_without_a_goodbye(secure: Loopback) -> None:
    async def say(_: StreamReader, writer: StreamWriter) -> None:
        writer.write(page(TEXT, length=len(TEXT) + 1))
        await writer.drain()
        writer.transport.abort()

    secure.answers["/page"] = say
    answer = fetch_url(config(secure), PAGE)
    assert (answer.outcome, answer.body, answer.truncated) == ("ok", TEXT, True)


@pytest.mark.parametrize("steps", range(8))
def test_a_handshake_that_is_cancelled_leaves_nothing(steps: int) -> None:
    closed = threading.Event()

    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                until_closed(connection)
            closed.set()

        threading.Thread(target=serve, daemon=True).start()

        async def cancelled() -> None:
            settings = config(Loopback(port=listening.getsockname()[1]))
            async with http_fetcher(settings) as fetcher:
                task = asyncio.create_task(fetcher.fetch(Request(PAGE, LIMIT)))
                for _ in range(steps):
                    await asyncio.wait([task], timeout=0.001)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                if not steps:
                    socket.create_connection(listening.getsockname()).close()
                assert await asyncio.to_thread(closed.wait, 10)

        asyncio.run(cancelled())
