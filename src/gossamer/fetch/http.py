"""One request, one answer: HTTP without trust. Whatever happens is an Answer, never an exception.

What is bounded: the body (before and after decoding), the header lines and their number, the
time to connect and for the whole answer, the codings. Redirects are not followed: a page's
target is a page of its own, with its own place in the frontier.
"""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

import aiohttp
from yarl import URL

from gossamer import __version__
from gossamer.fetch.coding import ACCEPT_ENCODING, Undecodable, decode
from gossamer.fetch.exchange import DETAIL_CHARS, Answer
from gossamer.fetch.resolver import ForbiddenAddress, Networks, Resolver
from gossamer.urls import normalize

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Self

    from gossamer.config import FetchConfig
    from gossamer.fetch.exchange import Request
    from gossamer.urls import UrlRules

ACCEPT = "text/html,application/xhtml+xml,*/*;q=0.8"
MAX_HEADER_BYTES = 16 << 10
"""Of a line."""
MAX_HEADERS = 128
READ_BUFFER_BYTES = 256 << 10
DRAIN_BYTES = 64 << 10
"""Read of a body that is not wanted, so that the connection may be used again."""
MAX_RETRY_AFTER_S = 30 * 86_400
DNS_TTL_S = 300

NOT_MODIFIED = 304
REDIRECTS = range(300, 400)
_BY_STATUS: Mapping[int, str] = {404: "not_found", 410: "not_found", 429: "busy", 503: "busy"}
_BY_CLASS: Mapping[int, str] = {2: "ok", 3: "redirect", 4: "refused", 5: "server_error"}

_FAILURES: Sequence[tuple[type[Exception], str]] = (
    (aiohttp.ConnectionTimeoutError, "unreachable"),
    (TimeoutError, "timeout"),
    (aiohttp.ServerDisconnectedError, "broken"),
    (OSError, "unreachable"),  # DNS, TLS and sockets: aiohttp's own errors of these derive from it
)
"""The first that fits; what fits none is an answer that is not HTTP."""


class HttpFetcher:
    """An HTTP client. An async context manager, whose connections live as long as it does."""

    def __init__(self, config: FetchConfig, rules: UrlRules, *, keep_alive: bool = True) -> None:
        networks = Networks(config.allow_networks)
        self._rules = rules
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,  # the frontier has one request out per host, the task so many in all
                resolver=Resolver(config, networks),
                socket_factory=networks.socket,
                ttl_dns_cache=DNS_TTL_S,
                force_close=not keep_alive,
            ),
            timeout=aiohttp.ClientTimeout(
                total=config.timeout_s, sock_connect=config.connect_timeout_s
            ),
            headers={
                "User-Agent": user_agent(config),
                "Accept": ACCEPT,
                "Accept-Encoding": ACCEPT_ENCODING,
            },
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            read_bufsize=READ_BUFFER_BYTES,
            max_line_size=MAX_HEADER_BYTES,
            max_field_size=MAX_HEADER_BYTES,
            max_headers=MAX_HEADERS,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._session.close()

    async def fetch(self, request: Request) -> Answer:
        started_s = time.monotonic()
        answer = Answer("broken", int(time.time() * 1000))
        try:
            # `encoded`: a normalised URL is sent as it is, not quoted once more.
            async with self._session.get(
                URL(request.url, encoded=True),
                headers=_conditions(request),
                allow_redirects=False,
            ) as response:
                await self._receive(request, response, answer)
        except Exception as error:  # noqa: BLE001  # a stranger's server must not end the round
            answer.outcome, answer.detail = _outcome_of(error), _detail(error)
        answer.elapsed_ms = int((time.monotonic() - started_s) * 1000)
        return answer

    async def _receive(
        self, request: Request, response: aiohttp.ClientResponse, answer: Answer
    ) -> None:
        headers = response.headers
        answer.http_status = response.status
        answer.reason = response.reason or ""
        answer.content_type = _text(headers.get("Content-Type"))
        answer.etag = _text(headers.get("ETag"))
        answer.last_modified = _text(headers.get("Last-Modified"))
        _classify(request, headers, answer, self._rules)
        if answer.outcome != "ok":
            await _drain(response)
            return
        raw, cut = await _read(response.content, request.max_body_bytes)
        try:
            answer.body, overflow, answer.decoded = decode(
                raw, headers.get("Content-Encoding", ""), request.max_body_bytes
            )
        except Undecodable as error:
            answer.outcome, answer.detail = "broken", str(error)[:DETAIL_CHARS]
            return
        answer.truncated = cut or overflow
        answer.headers = response.raw_headers
        answer.target = response.request_info.url.raw_path_qs
        answer.request_headers = tuple(response.request_info.headers.items())


def user_agent(config: FetchConfig) -> str:
    contact = f" (+{config.contact})" if config.contact else ""
    return f"{config.agent}/{__version__}{contact}"


def retry_after_s(value: str | None, now_s: float) -> int | None:
    """Retry-After (RFC 9110 §10.2.3), seconds or a date, as seconds from now; None if neither."""
    if value is None:
        return None
    value = value.strip()
    if value.isascii() and value.isdigit():
        # The length first: int() of a long string is slow, or an error.
        return min(int(value), MAX_RETRY_AFTER_S) if len(value) < 10 else MAX_RETRY_AFTER_S  # noqa: PLR2004
    try:
        date = parsedate_to_datetime(value)
        seconds = date.replace(tzinfo=date.tzinfo or UTC).timestamp() - now_s
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return min(max(int(seconds), 0), MAX_RETRY_AFTER_S)


def _classify(
    request: Request, headers: Mapping[str, str], answer: Answer, rules: UrlRules
) -> None:
    """Outcome and detail by the status code."""
    status = answer.http_status or 0
    answer.outcome = _BY_STATUS.get(status) or _BY_CLASS.get(status // 100, "broken")
    if answer.outcome == "ok":
        return
    answer.detail = f"HTTP {status}"
    if answer.outcome == "busy":
        answer.retry_after_s = retry_after_s(headers.get("Retry-After"), time.time())
    elif status == NOT_MODIFIED:
        asked = request.etag or request.last_modified
        answer.outcome = "unchanged" if asked else "broken"
        answer.detail = None if asked else "HTTP 304, but we did not ask for changes only"
    elif answer.outcome == "redirect":
        location = headers.get("Location")
        if location is None:
            answer.outcome, answer.detail = "broken", f"HTTP {status} without Location"
            return
        answer.redirect_url = normalize(location, request.url, rules)
        if answer.redirect_url is None:
            answer.detail = _text(f"HTTP {status} to {location}"[:DETAIL_CHARS])


def _conditions(request: Request) -> dict[str, str] | None:
    if not (request.etag or request.last_modified):
        return None
    conditions = {"If-None-Match": request.etag, "If-Modified-Since": request.last_modified}
    return {name: value for name, value in conditions.items() if value}


async def _read(stream: aiohttp.StreamReader, limit: int) -> tuple[bytes, bool]:
    """The body, and whether it was cut at `limit` bytes."""
    chunks: list[bytes] = []
    size = 0
    while chunk := await stream.readany():
        chunks.append(chunk)
        size += len(chunk)
        if size > limit:
            return b"".join(chunks)[:limit], True
    return (chunks[0] if len(chunks) == 1 else b"".join(chunks)), False


async def _drain(response: aiohttp.ClientResponse) -> None:
    """Read what little is left, so that the connection may be used again.

    aiohttp closes a connection whose answer was not read to its end.
    """
    with suppress(aiohttp.ClientError, OSError):  # the head has told all that we want to know
        await _read(response.content, DRAIN_BYTES)


def _outcome_of(error: Exception) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ForbiddenAddress):
            return "forbidden_address"
        cause = cause.__cause__
    return next((outcome for kind, outcome in _FAILURES if isinstance(error, kind)), "broken")


def _detail(error: Exception) -> str | None:
    return _text(f"{type(error).__name__}: {error}"[:DETAIL_CHARS])


def _text(value: str | None) -> str | None:
    """Text that can be stored. aiohttp gives bytes that are not UTF-8 as lone surrogates."""
    if value is None or value.isascii():
        return value
    return value.encode("utf-8", "replace").decode()
