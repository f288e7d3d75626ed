"""One attempt to post a message, within a deadline for all of it, and what the receiver says."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
import time
from contextlib import closing, suppress
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import SplitResult, urlsplit

import gossamer
from gossamer.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

DEADLINE_S = 20.0
"""Standard Webhooks recommends 15 to 30 s."""
MAX_WAIT_S = 86_400.0
_GONE = 410


class Answer(NamedTuple):
    """What became of an attempt. `why`: in words. `wait_s`: what the receiver asks for, or 0."""

    is_delivered: bool
    why: str
    wait_s: float = 0.0
    is_gone: bool = False


class Receiver:
    """Where messages are posted."""

    def __init__(self, url: str, deadline_s: float = DEADLINE_S) -> None:
        """Raises UsageError if nothing can be posted to this URL."""
        self.url = url
        self._parts = _checked(url)
        self._deadline_s = deadline_s

    def post(self, body: bytes, headers: Mapping[str, str]) -> Answer:
        """Post a message. Never raises because of the network or the receiver."""
        parts = self._parts
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        all_headers = {
            "content-type": "application/json",
            "user-agent": f"gossamer/{gossamer.__version__}",
            "connection": "close",
            **headers,
        }
        connection = self._connection()
        is_late = threading.Event()

        def give_up() -> None:
            is_late.set()
            with suppress(OSError, AttributeError):  # it may not be connected yet
                connection.sock.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(self._deadline_s, give_up)
        timer.daemon = True
        timer.start()
        try:
            with closing(connection):
                connection.request("POST", path, body, all_headers)
                answer = connection.getresponse()
                return _judged(answer.status, answer.headers.get("retry-after"))
        except (OSError, http.client.HTTPException, ValueError) as error:
            if is_late.is_set() or isinstance(error, TimeoutError):
                return Answer(False, f"no answer within {self._deadline_s:g} s")
            return Answer(False, f"{error or type(error).__name__}")
        finally:
            timer.cancel()

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self._parts.hostname or "", self._parts.port
        if self._parts.scheme == "https":
            secured = ssl.create_default_context()
            return http.client.HTTPSConnection(
                host, port, timeout=self._deadline_s, context=secured
            )
        return http.client.HTTPConnection(host, port, timeout=self._deadline_s)


def _checked(url: str) -> SplitResult:
    remedy = "give one such as https://example.org/hook"
    try:
        parts = urlsplit(url)
        is_usable = parts.scheme in ("http", "https") and bool(parts.hostname)
        is_usable &= url.isascii() and url.isprintable() and " " not in url
        _ = parts.port  # raises ValueError for one that is not a number
    except ValueError:
        is_usable = False
    if not is_usable:
        raise UsageError(url, "is not a URL to which messages can be posted", remedy)
    if parts.username is not None:
        raise UsageError(parts.hostname, "the URL has a user name", "messages are signed instead")
    return parts


def _judged(status: int, retry_after: str | None) -> Answer:
    if 200 <= status < 300:  # noqa: PLR2004
        return Answer(True, f"status {status}")
    if 300 <= status < 400:  # noqa: PLR2004
        return Answer(False, f"status {status}: redirects are not followed")
    return Answer(False, f"status {status}", _wait_s(retry_after), status == _GONE)


def _wait_s(retry_after: str | None) -> float:
    """The seconds of a Retry-After, which is a number or a date (RFC 9110, section 10.2.3)."""
    text = (retry_after or "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), MAX_WAIT_S)
    try:
        waits_s = parsedate_to_datetime(text).timestamp() - time.time()
    except (ValueError, TypeError, OverflowError):
        return 0.0
    return min(max(waits_s, 0.0), MAX_WAIT_S)
