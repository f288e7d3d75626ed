"""One request, one answer: HTTP without trust. Whatever happens is an Answer, never an exception.

What is bounded, and where:

  * the connection, name look-up and TLS included, in time: aiohttp;
  * heads in time, size and number: `connection.py`;
  * bodies in size, time and speed: `body.py`; decoded, in size again: `coding.py`.

Redirects are not followed: a page's target is a page of its own, with its own place in the
frontier. What was not read to its end ends with its connection, which is then aborted, not
drained. A page that broke off half-way is kept as truncated, without validators: asked for
changes only, its server would say for ever that there are none.
"""

from __future__ import annotations

import asyncio
import time
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

import aiohttp
from yarl import URL

from gossamer import __version__
from gossamer.fetch import connection, resource
from gossamer.fetch.body import Body, limit_of
from gossamer.fetch.coding import ACCEPT_ENCODING, Undecodable, decode
from gossamer.fetch.connection import Connector, Response, tls_context
from gossamer.fetch.exchange import DETAIL_CHARS, Answer, text
from gossamer.fetch.failures import outcome_of
from gossamer.fetch.sites import ProxyNetwork, Sites, judge_proxied
from gossamer.urls import normalize

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping
    from typing import Any, Self

    from aiohttp.abc import AbstractResolver

    from gossamer.config import FetchConfig
    from gossamer.fetch.body import Bodies
    from gossamer.fetch.exchange import Request
    from gossamer.fetch.networks import Networks
    from gossamer.fetch.resolver import Resolver
    from gossamer.fetch.sites import Site
    from gossamer.urls import UrlRules

ACCEPT = "text/html,application/xhtml+xml,*/*;q=0.8"
MAX_LINE_BYTES = 64 << 10
"""Of a header. Content-Security-Policy and Link reach tens of kilobytes."""
MAX_HEADERS = 256
READ_BUFFER_BYTES = 256 << 10
DRAIN_BYTES = 64 << 10
"""Kept of a body that is no page; of a shorter one the connection may be used again."""
DRAIN_S = 2.0
MAX_RETRY_AFTER_S = 30 * 86_400

NOT_MODIFIED = 304
_BY_STATUS: Mapping[int, str] = {404: "not_found", 410: "not_found", 429: "busy", 503: "busy"}
_BY_CLASS: Mapping[int, str] = {1: "broken", 2: "ok", 3: "redirect", 4: "refused"}
"""All others are `server_error`, invalid ones too (RFC 9110 §15)."""


class HttpFetcher:
    """An HTTP client. An async context manager, whose connections live as long as it does.

    The resolver is its owner's to close. Raises ConfigError where `config.sites` cannot be sent.
    """

    def __init__(
        self,
        config: FetchConfig,
        rules: UrlRules,
        networks: Networks,
        resolver: Resolver,
        bodies: Bodies,
        *,
        keep_alive: bool = True,
    ) -> None:
        self._config = config
        self._bodies = bodies
        self._rules = rules
        self._networks = networks
        self._sites = Sites(config.sites)
        self._direct = _session(config, resolver, networks.socket, keep_alive=keep_alive)
        self._proxied: aiohttp.ClientSession | None = None
        if self._sites.proxies:
            proxies = ProxyNetwork(self._sites.proxies)
            self._proxied = _session(config, proxies, proxies.socket, keep_alive=keep_alive)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._direct.close()
        if self._proxied is not None:
            await self._proxied.close()

    async def fetch(self, request: Request) -> Answer:
        answer = Answer("broken", int(time.time() * 1000))
        started_s = time.monotonic()
        url = URL(request.url, encoded=True)  # normalised, so not to be quoted once more
        site = self._sites.of(url.raw_host or "")
        connection.established.set(0)
        try:
            await self._ask(request, url, site, answer)
        except Exception as error:  # noqa: BLE001  # a stranger's server must not end the round
            connections = connection.established.get() - (site.proxy is not None)
            answer.outcome, answer.detail = outcome_of(
                error, self._config, in_handshake=url.scheme == "https" and connections > 0
            )
        answer.elapsed_ms = int((time.monotonic() - started_s) * 1000)
        return answer

    async def _ask(self, request: Request, url: URL, site: Site, answer: Answer) -> None:
        session = self._direct
        if site.proxy is not None and self._proxied is not None:
            session = self._proxied
            judge_proxied(url.raw_host or "", self._networks)
        deadline_s = asyncio.get_running_loop().time() + self._config.timeout_s
        async with session.get(
            url, headers=_headers(request, site), proxy=site.proxy, allow_redirects=False
        ) as response:
            assert isinstance(response, Response)  # noqa: S101  # the session makes no others
            _take_head(request, response, answer, self._rules)
            if site.proxy is None:
                answer.address = response.address
            await self._take_body(request, response, answer, deadline_s)

    async def _take_body(
        self, request: Request, response: Response, answer: Answer, deadline_s: float
    ) -> None:
        wanted = answer.outcome == "ok"
        if wanted:
            kind = answer.content_type or resource.media_type(response.url.raw_path.encode())
            limit = limit_of(request, kind)
        else:
            limit = min(DRAIN_BYTES, request.max_body_bytes)
            drained_s = asyncio.get_running_loop().time() + DRAIN_S
            deadline_s = min(deadline_s, drained_s)
        content = response.content
        if content.is_eof() and content.exception() is None:  # small pages are, with their head
            found = Body.of(content.read_nowait(), limit)
        else:
            found = await self._bodies.read(content.readany, limit, deadline_s)
        coding = response.headers.get("Content-Encoding", "")
        try:
            answer.body, overflow, answer.decoded = decode(found.content, coding, limit)
        except Undecodable as error:
            answer.body, overflow = found.content, False
            if wanted:
                answer.outcome, answer.detail = "broken", text(str(error)[:DETAIL_CHARS])
        answer.truncated = found.is_partial or overflow or found.late is not None
        if not wanted:
            return
        if found.is_passing:
            answer.etag = answer.last_modified = None
        if found.late is not None:
            answer.outcome, answer.detail = "timeout", found.late
        elif found.flaw is not None and answer.outcome == "ok":
            answer.outcome = "ok" if answer.body else "broken"
            answer.detail = found.flaw
        if answer.outcome != "ok":
            answer.truncated = answer.truncated or len(answer.body) > DRAIN_BYTES
            answer.body = answer.body[:DRAIN_BYTES]


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


def _session(
    config: FetchConfig,
    resolver: AbstractResolver,
    socket_factory: Callable[[tuple[Any, ...]], socket.socket],
    *,
    keep_alive: bool,
) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=Connector(
            min(config.head_timeout_s, config.timeout_s),
            resolver=resolver,
            socket_factory=socket_factory,
            ssl=tls_context(verify=config.verify_tls),
            force_close=not keep_alive,
        ),
        timeout=aiohttp.ClientTimeout(connect=min(config.connect_timeout_s, config.timeout_s)),
        headers={
            "User-Agent": user_agent(config),
            "Accept": ACCEPT,
            "Accept-Encoding": ACCEPT_ENCODING,
        },
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        response_class=Response,
        read_bufsize=READ_BUFFER_BYTES,
        max_line_size=MAX_LINE_BYTES,
        max_field_size=MAX_LINE_BYTES,
        max_headers=MAX_HEADERS,
    )


def _headers(request: Request, site: Site) -> Mapping[str, str] | None:
    """What is sent beside the session's headers, or in their place."""
    if not (request.etag or request.last_modified):
        return site.headers or None
    headers = dict(site.headers)
    if request.etag:
        headers["If-None-Match"] = request.etag
    if request.last_modified:
        headers["If-Modified-Since"] = request.last_modified
    return headers


def _take_head(request: Request, response: Response, answer: Answer, rules: UrlRules) -> None:
    headers = response.headers
    answer.http_status = response.status
    answer.reason = text(response.reason or "")
    answer.headers = response.raw_headers
    answer.target = response.request_info.url.raw_path_qs
    answer.request_headers = tuple(response.request_info.headers.items())
    answer.content_type = text(headers.get("Content-Type"))
    answer.etag = text(headers.get("ETag"))
    answer.last_modified = text(headers.get("Last-Modified"))
    _classify(request, headers, answer, rules)


def _classify(
    request: Request, headers: Mapping[str, str], answer: Answer, rules: UrlRules
) -> None:
    """Outcome and detail by the status code."""
    status = answer.http_status or 0
    answer.outcome = _BY_STATUS.get(status) or _BY_CLASS.get(status // 100, "server_error")
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
        if location is not None:
            answer.redirect_url = normalize(location, request.url, rules)
        if answer.redirect_url is None:
            target = "without Location" if location is None else f"to {location}"
            answer.outcome = "bad_redirect"
            answer.detail = text(f"HTTP {status} {target}"[:DETAIL_CHARS])
