"""Exceptions of an HTTP request as an outcome and a sentence that a webmaster understands."""

from __future__ import annotations

import os
import re
import ssl
from typing import TYPE_CHECKING

import aiohttp

from gossamer.fetch.exchange import clip_detail
from gossamer.fetch.network.allowed_networks import ForbiddenAddress

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from gossamer.config import FetchConfig


def outcome_of(error: Exception, config: FetchConfig, *, in_handshake: bool) -> tuple[str, str]:
    """Return the outcome and detail.

    `in_handshake` means that TCP had connected, so an error while connecting is TLS's. If a server
    resets the handshake, the outcome is `tls` and not `unreachable`: the server does exist.
    """
    causes = list(_causes(error))
    reason = _os_reason(causes[-1])
    outcome, detail = (
        _classify_cause(causes)
        or _connecting(error, reason, config.connect_timeout_s, in_handshake)
        or _answering(error, causes, reason)
    )
    return outcome, clip_detail(detail)


def _classify_cause(causes: Sequence[BaseException]) -> tuple[str, str] | None:
    """Classify causes that mean the same at any stage: TLS can fail after the handshake, too."""
    for cause in causes:
        if isinstance(cause, ForbiddenAddress):
            return "forbidden_address", str(cause.strerror)
        if isinstance(cause, aiohttp.ClientConnectorError):
            continue  # some derive from SSLError, but their cause is more specific
        if isinstance(cause, ssl.SSLCertVerificationError):
            return "tls", f"certificate: {cause.verify_message}"
        if isinstance(cause, ssl.SSLError):
            return "tls", f"TLS: {_tls_reason(cause)}"
    return None


def _connecting(
    error: Exception, reason: str, timeout_s: float, in_handshake: bool
) -> tuple[str, str] | None:
    outcome, aim = ("tls", "TLS handshake") if in_handshake else ("unreachable", "connection")
    if isinstance(error, aiohttp.ConnectionTimeoutError):
        return outcome, f"no {aim} within {timeout_s:g} s"
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return "unreachable", f"no address: {reason}"
    if isinstance(error, aiohttp.ClientProxyConnectionError):
        return "unreachable", f"no connection to the proxy: {reason}"
    if isinstance(error, aiohttp.ClientHttpProxyError):
        return "unreachable", f"the proxy answered {error.status} {error.message}"
    if isinstance(error, aiohttp.ClientConnectorError):
        return outcome, f"no {aim}: {reason}"
    return None


def _answering(error: Exception, causes: Sequence[BaseException], reason: str) -> tuple[str, str]:
    if isinstance(error, TimeoutError):
        return "timeout", str(error)
    if isinstance(error, aiohttp.ClientResponseError):
        return "broken", f"not HTTP: {_first_line(error.message)}"
    if isinstance(error, aiohttp.ClientConnectionResetError):  # aiohttp's own, though an OSError
        return "broken", "closed before the request was sent"
    for cause in causes:
        if isinstance(cause, aiohttp.ServerDisconnectedError):
            # Its message is the incomplete head if one had begun, else a text.
            began = not isinstance(cause.message, str)
            return "broken", f"closed {'within the head' if began else 'without an answer'}"
        if isinstance(cause, OSError):
            return "unreachable", reason
    return "broken", f"{type(error).__name__}: {error}"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """The error and its chain of causes."""
    while error is not None:
        yield error
        error = error.__cause__


def _os_reason(error: BaseException) -> str:
    number = getattr(error, "errno", None)
    if isinstance(number, int) and number > 0:
        return os.strerror(number).lower()
    if isinstance(error, ConnectionError) and not error.args:
        return "closed by the server"  # how asyncio reports an end within the handshake
    return str(getattr(error, "strerror", None) or error) or type(error).__name__


def _tls_reason(error: ssl.SSLError) -> str:
    """OpenSSL's reason: a name such as WRONG_VERSION_NUMBER, else `[SSL] words (_ssl.c:992)`."""
    if error.reason:
        return error.reason.lower().replace("_", " ")
    return re.sub(r"^\[SSL\] | \(_ssl\.c:\d+\)$", "", error.strerror or str(error))


def _first_line(message: str) -> str:
    """Return llhttp's words, without the bytes and the arrow into them that aiohttp appends."""
    lines = [line.strip(" :") for line in message.partition("\n\n")[0].splitlines()]
    return ": ".join(line for line in lines if line)
