"""HTTP from untrusted servers: one request, one result. Every error is a FetchResult.

What is bounded, and where:

  * the time to connect, including name look-up and TLS: aiohttp;
  * the time of heads: `connection.py`; their size and number: `response_parser.py`;
  * size, time and speed of bodies: `body_reader.py`; the size of a decoded body:
    `content_coding.py`.

Redirects are not followed: the target is a page of its own, with its own place in the frontier. If
a response is not read to its end, its connection is aborted, not drained. A page that broke off is
kept as truncated, without validators: with them, its server would answer 304 for ever.
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
from gossamer.fetch import file_results
from gossamer.fetch.exchange import FetchResult, clip_detail, refuse_type, replace_surrogates
from gossamer.fetch.http import connection
from gossamer.fetch.http.body_reader import Bodies, Body, limit_of
from gossamer.fetch.http.connection import Connector, Response
from gossamer.fetch.http.content_coding import ACCEPT_ENCODING, Undecodable, decode
from gossamer.fetch.http.failures import outcome_of
from gossamer.fetch.http.site_settings import SECURE, ProxyNetwork, judge_proxied
from gossamer.fetch.http.tls import tls_context
from gossamer.state.credible_times import LONGEST_HOST_WAIT_S
from gossamer.web.urls import browser_spelling, normalize

if TYPE_CHECKING:
    import socket
    import ssl
    from collections.abc import Callable, Mapping
    from typing import Any, Self

    from aiohttp.abc import AbstractResolver

    from gossamer.config import FetchConfig
    from gossamer.fetch.exchange import Request
    from gossamer.fetch.http.site_settings import Site, Sites
    from gossamer.fetch.network.allowed_networks import Networks
    from gossamer.fetch.network.cached_resolver import Resolver
    from gossamer.web.urls import UrlRules

ACCEPT = "text/html,application/xhtml+xml,*/*;q=0.8"
READ_BUFFER_BYTES = 256 << 10
DRAIN_BYTES = 64 << 10
"""Bytes read of a body that is not a page. If it is shorter, the connection can be reused."""
DRAIN_S = 2.0

NOT_MODIFIED = 304
_BY_STATUS: Mapping[int, str] = {404: "not_found", 410: "not_found", 429: "busy", 503: "busy"}
_BY_CLASS: Mapping[int, str] = {1: "broken", 2: "ok", 3: "redirect", 4: "refused"}
"""All others are `server_error`, including invalid codes (RFC 9110 §15)."""
_STATUSES_3XX = range(300, 400)
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
"""Statuses that browsers follow if there is a Location. With any other status of 3xx, or without a
Location, they show the body, which usually links to the target or to choices (300). If there is no
body, a Location counts whatever the status."""


class HttpFetcher:
    """An HTTP client; an async context manager that closes its connections, not the resolver."""

    def __init__(
        self,
        config: FetchConfig,
        rules: UrlRules,
        networks: Networks,
        resolver: Resolver,
        sites: Sites,
        *,
        keep_alive: bool,
    ) -> None:
        self._config = config
        self._bodies = Bodies(config)
        self._rules = rules
        self._networks = networks
        self._sites = sites
        self._direct = _session(config, resolver, networks.socket, keep_alive=keep_alive)
        self._proxied: aiohttp.ClientSession | None = None
        if sites.proxies:
            proxies = ProxyNetwork(sites.proxies)
            self._proxied = _session(config, proxies, proxies.socket, keep_alive=keep_alive)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._direct.close()
        if self._proxied is not None:
            await self._proxied.close()

    async def fetch(self, request: Request) -> FetchResult:
        answer = FetchResult("broken", int(time.time() * 1000))
        started_s = time.monotonic()
        url = _request_url(request.url)
        site = self._sites.for_url(url)
        connection.established.set(0)
        try:
            await self._ask(request, url, site, answer)
        except Exception as error:  # noqa: BLE001  # a stranger's server must not end the round
            connections = connection.established.get() - (site.proxy is not None)
            answer.outcome, answer.detail = outcome_of(
                error, self._config, in_handshake=url.scheme == SECURE and connections > 0
            )
        answer.elapsed_ms = int((time.monotonic() - started_s) * 1000)
        return answer

    async def _ask(self, request: Request, url: URL, site: Site, answer: FetchResult) -> None:
        session = self._direct
        if site.proxy is not None and self._proxied is not None:
            session = self._proxied
            judge_proxied(url.raw_host or "", self._networks)
        deadline_s = asyncio.get_running_loop().time() + self._config.timeout_s
        tls: ssl.SSLContext | bool = True
        if url.scheme == SECURE:  # to read the authorities takes as long as some 50 requests
            verify = self._config.verify_tls if site.verify_tls is None else site.verify_tls
            tls = tls_context(url.raw_host or "", verify=verify)
        async with session.get(
            url,
            headers=_headers(request, site),
            proxy=site.proxy,
            ssl=tls,
            allow_redirects=False,
        ) as response:
            assert isinstance(response, Response)  # noqa: S101  # the session's response_class
            _take_head(request, response, answer, self._rules)
            if site.proxy is None:
                answer.address = response.address
            if refuse_type(request, answer):
                return  # the connection is aborted, unless the body came with the head
            await self._take_body(request, response, answer, deadline_s)
            if answer.outcome == "ok" and not answer.body and response.status in _STATUSES_3XX:
                _take_location(request, response.headers, answer, self._rules)

    async def _take_body(
        self, request: Request, response: Response, answer: FetchResult, deadline_s: float
    ) -> None:
        wanted = answer.outcome == "ok"
        if wanted:
            kind = answer.content_type or file_results.media_type(response.url.raw_path.encode())
            limit = limit_of(request, kind)
        else:
            limit = min(DRAIN_BYTES, request.max_body_bytes)
            drained_s = asyncio.get_running_loop().time() + DRAIN_S
            deadline_s = min(deadline_s, drained_s)
        content = response.content
        if content.is_eof() and content.exception() is None:  # small pages come with their head
            found = Body.from_content(content.read_nowait(), limit)
        else:
            found = await self._bodies.read(content.readany, limit, deadline_s)
        coding = response.headers.get("Content-Encoding", "")
        try:
            answer.body, is_cut, answer.decoded = decode(found.content, coding, limit)
        except Undecodable as error:
            answer.body, is_cut = found.content, False
            if wanted:
                answer.outcome, answer.detail = "broken", clip_detail(str(error))
        answer.truncated = found.is_partial or is_cut or found.late is not None
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


def _request_url(url: str) -> URL:
    """The URL as aiohttp takes it: neither quoted again nor, like `/a?`, without an empty query."""
    scheme, _, authority, path = url.split("/", 3)
    return URL.build(
        scheme=scheme.removesuffix(":"), authority=authority, path=f"/{path}", encoded=True
    )


def retry_after_s(value: str | None, sent: str | None, now_s: float) -> int | None:
    """Convert Retry-After (RFC 9110 §10.2.3) to seconds from now; None if it is invalid.

    A date counts from the one at which the answer was `sent`, its header Date, by the same clock;
    without that, from ours.
    """
    if value is None:
        return None
    value = value.strip()
    if value.isascii() and value.isdigit():
        # Check the length first: int() of a long string is slow, or an error.
        seconds = int(value) if len(value) < 10 else LONGEST_HOST_WAIT_S  # noqa: PLR2004
    elif (until_s := _seconds_of_date(value)) is not None:
        sent_s = _seconds_of_date(sent or "")
        seconds = int(until_s - (now_s if sent_s is None else sent_s))
    else:
        return None
    return min(max(seconds, 0), LONGEST_HOST_WAIT_S)


def _seconds_of_date(value: str) -> float | None:
    """A date of a header in seconds since 1970; None if it is invalid."""
    try:
        date = parsedate_to_datetime(value)
        return date.replace(tzinfo=date.tzinfo or UTC).timestamp()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


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
    )


def _headers(request: Request, site: Site) -> Mapping[str, str] | None:
    """Headers to send in addition to the session's, or instead of them."""
    if not (request.etag or request.last_modified):
        return site.headers or None
    headers = dict(site.headers)
    if request.etag:
        headers["If-None-Match"] = request.etag
    if request.last_modified:
        headers["If-Modified-Since"] = request.last_modified
    return headers


def _take_head(request: Request, response: Response, answer: FetchResult, rules: UrlRules) -> None:
    headers = response.headers
    answer.http_status = response.status
    answer.reason = replace_surrogates(response.reason or "")
    answer.headers = response.raw_headers
    answer.target = response.request_info.url.raw_path_qs
    answer.request_headers = tuple(response.request_info.headers.items())
    answer.content_type = replace_surrogates(headers.get("Content-Type"))
    answer.etag = replace_surrogates(headers.get("ETag"))
    answer.last_modified = replace_surrogates(headers.get("Last-Modified"))
    _classify(request, headers, answer, rules)


def _classify(
    request: Request, headers: Mapping[str, str], answer: FetchResult, rules: UrlRules
) -> None:
    """Set outcome and detail by the status code."""
    status = answer.http_status or 0
    answer.outcome = _BY_STATUS.get(status) or _BY_CLASS.get(status // 100, "server_error")
    if answer.outcome == "ok":
        return
    answer.detail = f"HTTP {status}"
    if answer.outcome == "busy":
        answer.retry_after_s = retry_after_s(
            headers.get("Retry-After"), headers.get("Date"), time.time()
        )
    elif status == NOT_MODIFIED:
        is_conditional = request.etag or request.last_modified
        answer.outcome = "unchanged" if is_conditional else "broken"
        answer.detail = None if is_conditional else "HTTP 304 to an unconditional request"
    elif answer.outcome == "redirect":
        if status in _REDIRECTS and headers.get("Location"):
            _take_location(request, headers, answer, rules)
        else:
            answer.outcome, answer.detail = "ok", None


def _take_location(
    request: Request, headers: Mapping[str, str], answer: FetchResult, rules: UrlRules
) -> None:
    """Set outcome and target of an answer that is no page."""
    location = _escape_bytes(headers.get("Location", ""))
    answer.redirect_url = normalize(location, request.url, rules) if location else None
    if answer.redirect_url is None:
        target = f"to {location}" if location else "without Location"
        answer.outcome = "bad_redirect"
        answer.detail = clip_detail(f"HTTP {answer.http_status} {target}")
        return
    answer.outcome, answer.detail = "redirect", f"HTTP {answer.http_status}"
    written = browser_spelling(location, request.url, answer.redirect_url)
    answer.redirect_spelling = None if written == answer.redirect_url else written


def _escape_bytes(location: str) -> str:
    """Escape bytes beyond ASCII one by one, as browsers do, whatever encoding they are in."""
    if location.isascii():
        return location
    sent = location.encode("utf-8", "surrogateescape")
    return "".join(chr(byte) if byte < 0x80 else f"%{byte:02X}" for byte in sent)  # noqa: PLR2004
