"""What went wrong with a request, as an outcome and in words that a webmaster understands."""

from __future__ import annotations

import errno
import ssl

import aiohttp
import pytest
from aiohttp.client_reqrep import ConnectionKey, RequestInfo
from aiohttp.http_parser import RawResponseMessage
from multidict import CIMultiDict, CIMultiDictProxy
from yarl import URL

from gossamer.config import FetchConfig
from gossamer.fetch.exchange import DETAIL_CHARS
from gossamer.fetch.http.failures import outcome_of

CONFIG = FetchConfig(connect_timeout_s=7.5)
KEY = ConnectionKey("a.test", 443, True, True, None, None, None)
NO_HEADERS = CIMultiDictProxy[str](CIMultiDict())
REQUEST = RequestInfo(URL("http://a.test"), "GET", NO_HEADERS)
REFUSED = ConnectionRefusedError(errno.ECONNREFUSED, "in other words")


def caused(error: Exception, cause: BaseException) -> Exception:
    error.__cause__ = cause
    return error


def tls(reason: str | None, words: str) -> ssl.SSLError:
    error = ssl.SSLError(1, words)
    error.reason = reason  # type: ignore[assignment]
    return error


def certificate(words: str) -> ssl.SSLCertVerificationError:
    error = ssl.SSLCertVerificationError(1, "certificate verify failed")
    error.verify_message = words
    return error


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (aiohttp.ConnectionTimeoutError(), " within 7.5 s"),
        (aiohttp.ClientConnectorError(KEY, REFUSED), ": connection refused"),
        (
            caused(aiohttp.ClientConnectorError(KEY, OSError("")), ConnectionResetError()),
            ": closed by the server",
        ),
        (
            caused(aiohttp.ClientConnectorError(KEY, OSError("")), ConnectionResetError("words")),
            ": words",
        ),
        (
            caused(aiohttp.ClientConnectorError(KEY, OSError("")), ValueError()),
            ": ValueError",
        ),
    ],
)
def test_after_tcp_had_connected_it_was_the_tls_handshake(error: Exception, why: str) -> None:
    found = [outcome_of(error, CONFIG, in_handshake=in_handshake) for in_handshake in (False, True)]
    assert found == [("unreachable", f"no connection{why}"), ("tls", f"no TLS handshake{why}")]


@pytest.mark.parametrize("in_handshake", [False, True])
@pytest.mark.parametrize(
    ("error", "outcome", "detail"),
    [
        (
            aiohttp.ClientConnectorDNSError(KEY, OSError(None, "no such name")),
            "unreachable",
            "no address: no such name",
        ),
        (
            aiohttp.ClientProxyConnectionError(KEY, REFUSED),
            "unreachable",
            "no connection to the proxy: connection refused",
        ),
        (
            aiohttp.ClientHttpProxyError(REQUEST, (), status=407, message="Authenticate"),
            "unreachable",
            "the proxy answered 407 Authenticate",
        ),
        (
            caused(
                aiohttp.ClientConnectorCertificateError(KEY, certificate("x")),
                certificate("has expired"),
            ),
            "tls",
            "certificate: has expired",
        ),
        (
            caused(aiohttp.ClientConnectorSSLError(KEY, REFUSED), tls("WRONG_VERSION_NUMBER", "x")),
            "tls",
            "TLS: wrong version number",
        ),
        (tls(None, "[SSL] bad record mac (_ssl.c:992)"), "tls", "TLS: bad record mac"),
        (TimeoutError("no answer within 9 s"), "timeout", "no answer within 9 s"),
        (
            aiohttp.ClientResponseError(REQUEST, (), message="bad:\n\n  b'x'\n    ^"),
            "broken",
            "not HTTP: bad",
        ),
        (
            aiohttp.ClientResponseError(REQUEST, (), message="bad head:\n  a line\n"),
            "broken",
            "not HTTP: bad head: a line",
        ),
        (
            aiohttp.ClientConnectionResetError("Cannot write"),
            "broken",
            "closed before the request was sent",
        ),
        (aiohttp.ServerDisconnectedError(), "broken", "closed without an answer"),
        (
            caused(aiohttp.ClientPayloadError(), aiohttp.ServerDisconnectedError("x")),
            "broken",
            "closed without an answer",
        ),
        (aiohttp.ClientOSError(errno.EPIPE, "x"), "unreachable", "broken pipe"),
        (caused(aiohttp.ClientPayloadError(), REFUSED), "unreachable", "connection refused"),
        (ValueError("x" * 999), "broken", ("ValueError: " + "x" * 999)[:DETAIL_CHARS]),
    ],
)
def test_other_errors_mean_the_same_at_any_stage(
    error: Exception, outcome: str, detail: str, in_handshake: bool
) -> None:
    assert outcome_of(error, CONFIG, in_handshake=in_handshake) == (outcome, detail)


def test_a_connection_that_ends_within_a_head() -> None:
    begun = RawResponseMessage(
        aiohttp.HttpVersion11, 200, "OK", NO_HEADERS, (), False, None, False, False
    )
    error = aiohttp.ServerDisconnectedError(begun)
    assert outcome_of(error, CONFIG, in_handshake=False) == ("broken", "closed within the head")
