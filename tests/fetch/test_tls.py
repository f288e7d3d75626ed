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

from gossamer.config import SiteConfig
from gossamer.fetch.exchange import Request
from gossamer.fetch.http.tls import LEGACY_SERVER_CONNECT, X509_STRICT, matches, tls_context
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


@pytest.mark.parametrize(
    "ciphers",
    [
        *(
            "ECDHE-RSA-AES128-GCM-SHA256",
            "ECDHE-RSA-AES256-GCM-SHA384",
            "ECDHE-RSA-CHACHA20-POLY1305",
        ),
        *("ECDHE-RSA-AES128-SHA", "ECDHE-RSA-AES256-SHA", "AES128-GCM-SHA256", "AES256-GCM-SHA384"),
        *("AES128-SHA", "AES256-SHA"),
    ],
)
def test_the_ciphers_of_chromium(authority: trustme.CA, ciphers: str) -> None:
    """Those of TLS 1.2 that it offers to a server with an RSA key."""
    context = tls(authority.issue_cert("a.test", key_type=trustme.KeyType.RSA))
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(ciphers)
    with loopback(context) as server:
        server.answers["/page"] = page(TEXT)
        answer = fetch_url(config(server), PAGE)
    assert (answer.outcome, answer.detail, answer.body) == ("ok", None, TEXT)


@pytest.mark.parametrize("ciphers", ["DES-CBC3-SHA", "ADH-AES256-SHA", "NULL-SHA256", "AES128-CCM"])
def test_ciphers_that_no_browser_offers(ciphers: str) -> None:
    offered = {each["name"] for each in tls_context("a.test", verify=True).get_ciphers()}
    assert ciphers not in offered


def test_servers_without_secure_renegotiation_are_accepted() -> None:
    """RFC 5746. OpenSSL has no server without it: this is the option that clients need."""
    assert tls_context("a.test", verify=True).options & LEGACY_SERVER_CONNECT


def test_certificates_need_not_be_strict() -> None:
    assert not tls_context("a.test", verify=True).verify_flags & X509_STRICT


@pytest.mark.parametrize(
    ("host", "name", "is_match"),
    [
        ("a_b.wild.test", "*.wild.test", True),
        ("a_b.wild.test", "a_b.wild.test", True),
        ("A_B.Wild.Test", "*.wild.TEST", True),
        ("a_b.wild.test", "*.test", False),
        ("x.a_b.wild.test", "*.wild.test", False),
        ("a_b.wild.test", "a*.wild.test", False),
        ("a_b.test", "*.test", False),  # a wildcard for a whole top-level domain
        ("a_b.wild.test", "other.test", False),
    ],
)
def test_names_of_certificates(host: str, name: str, *, is_match: bool) -> None:
    assert matches(host, name) is is_match


@pytest.mark.parametrize(("name", "outcome"), [("*.wild.test", "ok"), ("*.other.test", "tls")])
def test_an_underscore_under_a_wildcard(authority: trustme.CA, name: str, outcome: str) -> None:
    with loopback(tls(authority.issue_cert(name))) as server:
        server.answers["/page"] = page(TEXT)
        answer = fetch_url(config(server), "https://a_b.wild.test/page")
    assert answer.outcome == outcome
    assert (answer.detail or "").startswith("certificate: Hostname mismatch" * (outcome == "tls"))


def test_an_underscore_needs_a_trusted_certificate_too() -> None:
    with loopback(tls(trustme.CA().issue_cert("*.wild.test"))) as server:
        answer = fetch_url(config(server), "https://a_b.wild.test/page")
    assert (answer.outcome, answer.detail) == (
        "tls",
        "certificate: unable to get local issuer certificate",
    )


@pytest.mark.parametrize("is_default", [False, True])
def test_a_site_may_be_verified_or_not(authority: trustme.CA, *, is_default: bool) -> None:
    """Whatever holds for the others."""
    site = SiteConfig(hosts="a.test", verify_tls=not is_default)
    with loopback(expired(authority)) as server:
        server.answers["/page"] = page(TEXT)
        settings = config(server, verify_tls=is_default, sites=(site,))
        urls = (PAGE, "https://b.test/page")
        answers = fetch(settings, *(Request(url, LIMIT) for url in urls))
    assert [answer.outcome == "ok" for answer in answers] == [is_default, not is_default]


def test_a_body_of_unknown_length_that_ends_without_a_goodbye(secure: Loopback) -> None:
    async def say(_: StreamReader, writer: StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + TEXT)
        await writer.drain()
        writer.transport.abort()

    secure.answers["/page"] = say
    assert fetch_url(config(secure), PAGE).body == TEXT


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
