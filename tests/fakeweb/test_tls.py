"""TLS that fails in every way, and TLS that works."""

from __future__ import annotations

import re
import socket
import ssl
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.errors import GossamerError
from gossamer.fakeweb import FakeWeb
from gossamer.fakeweb.hostile import CATALOGUE
from gossamer.fakeweb.tls import HELLO_HEAD_BYTES, RECORD_HEAD_BYTES, Certificates, server_name
from tests.support.hostile_client import (
    LAST,
    PATIENCE_S,
    WEB,
    answered,
    assert_silent,
    endpoint,
    get,
    received,
    secure,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeWeb]:
    with FakeWeb(WEB) as running:
        yield running


def test_good_tls(fake: FakeWeb) -> None:
    seen = secure(fake, CATALOGUE["tls-valid"])
    assert seen.end == "kept"
    assert b"<title>tls-valid.hostile.test/</title>" in seen.data


@pytest.mark.parametrize(
    ("name", "code"),  # X509_V_ERR_… of OpenSSL's x509_vfy.h
    [
        ("tls-expired", 10),
        ("tls-future", 9),
        ("tls-self-signed", 18),
        ("tls-other-name", 62),
        ("tls-other-ca", 20),
    ],
)
def test_certificates_that_do_not_hold(fake: FakeWeb, name: str, code: int) -> None:
    with pytest.raises(ssl.SSLCertVerificationError) as caught:
        secure(fake, CATALOGUE[name])
    assert caught.value.verify_code == code
    blind = ssl.create_default_context()
    blind.check_hostname, blind.verify_mode = False, ssl.CERT_NONE
    assert secure(fake, CATALOGUE[name], blind).end == "kept"


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_old_tls(fake: FakeWeb) -> None:
    case = CATALOGUE["tls-old"]
    with pytest.raises(ssl.SSLError, match=r"(?i)version|protocol|legacy"):
        secure(fake, case)
    old = ssl.create_default_context(cafile=fake.ca_file)
    old.set_ciphers("ALL:@SECLEVEL=0")
    old.minimum_version = ssl.TLSVersion.TLSv1
    assert secure(fake, case, old).end == "kept"


def test_handshakes_that_fail(fake: FakeWeb) -> None:
    with pytest.raises(ConnectionResetError):
        secure(fake, CATALOGUE["tls-reset"])
    with pytest.raises(ssl.SSLError, match=r"(?i)wrong version|record"):
        secure(fake, CATALOGUE["tls-plain"])
    case = CATALOGUE["tls-silent"]
    with socket.create_connection(endpoint(fake, case), PATIENCE_S) as client:
        client.sendall(hello(case.host))
        secure(fake, CATALOGUE["tls-valid"])
        assert_silent(client, fake)


def test_it_closes_after_the_handshake(fake: FakeWeb) -> None:
    case = CATALOGUE["tls-close"]
    context = ssl.create_default_context(cafile=fake.ca_file)
    with (
        socket.create_connection(endpoint(fake, case), PATIENCE_S) as plain,
        context.wrap_socket(plain, server_hostname=case.host) as client,
    ):
        assert client.version() == "TLSv1.3"
        assert client.recv(1) == b""


def test_any_other_name_gets_a_good_certificate(fake: FakeWeb) -> None:
    case = CATALOGUE["tls-valid"]
    seen = secure(fake, case, host="site-0.test")
    good = WEB.answer("site-0.test", "/").body
    assert good in seen.data
    blind = ssl.create_default_context()
    blind.check_hostname, blind.verify_mode = False, ssl.CERT_NONE
    with (
        socket.create_connection(endpoint(fake, case), PATIENCE_S) as plain,
        blind.wrap_socket(plain) as client,
    ):
        client.sendall((get("site-0.test") + LAST).encode())
        assert good in received(client).data


def hello(host: str) -> bytes:
    """Return the first bytes that a TLS client sends."""
    out = ssl.MemoryBIO()
    client = ssl.create_default_context().wrap_bio(ssl.MemoryBIO(), out, server_hostname=host)
    with pytest.raises(ssl.SSLWantReadError):
        client.do_handshake()
    return out.read()


def test_a_hello_in_pieces(fake: FakeWeb) -> None:
    case = CATALOGUE["tls-plain"]
    data = hello(case.host)
    with socket.create_connection(endpoint(fake, case), PATIENCE_S) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for start in range(0, len(data), 100):
            client.sendall(data[start : start + 100])
            answered(fake)
        assert received(client).data.startswith(b"HTTP/1.1 400 Bad Request\r\n")


@pytest.mark.parametrize(
    "sent", [b"", b"\x16", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\xff\xff\x01"]
)
def test_what_is_no_hello(fake: FakeWeb, sent: bytes) -> None:
    with socket.create_connection(endpoint(fake, CATALOGUE["tls-valid"]), PATIENCE_S) as client:
        client.sendall(sent)
        client.shutdown(socket.SHUT_WR)
        assert received(client).end in {"closed", "reset"}
    answered(fake)


def test_the_server_name() -> None:
    assert server_name(hello("TLS-Valid.hostile.test")) == "tls-valid.hostile.test"
    assert server_name(hello("127.0.0.1")) == ""


HELLO = hello("a.test")


def test_a_hello_that_is_cut() -> None:
    for size in range(len(HELLO)):
        assert "a.test".startswith(server_name(HELLO[:size]))


@given(st.binary(max_size=200))
def test_any_bytes_have_a_name_or_none(tail: bytes) -> None:
    for data in (tail, HELLO[: RECORD_HEAD_BYTES + HELLO_HEAD_BYTES] + tail):
        assert re.fullmatch(r"[a-z0-9._-]*", server_name(data))


def test_a_name_that_would_break_the_log_is_none() -> None:
    for name in (b"a\ttst", b"a\n.tst", b"\xff.test", b"a test"):
        assert server_name(HELLO.replace(b"a.test", name)) == ""
    assert server_name(HELLO.replace(b"a.test", b"A.TEST")) == "a.test"


def test_without_trustme(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trustme", None)
    with pytest.raises(GossamerError, match="pip install trustme"):
        Certificates()
