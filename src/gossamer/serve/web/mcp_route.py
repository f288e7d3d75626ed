"""The route /mcp: the tools of `gossamer.serve.mcp` over Streamable HTTP.

With a file of tokens (`serve.mcp_tokens`), each request needs one of them, and a token may be used
`serve.mcp_calls_per_minute` times per minute. Without that file, only programs on this machine are
answered: those that connect from loopback to loopback, name it as the host, and were passed on by
no proxy. A page in a browser on this machine is refused by its Origin, as the specification of the
transport asks.

The SDK is imported, in a thread, when the first request comes.
"""

from __future__ import annotations

import asyncio
import math
from contextlib import asynccontextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.routing import Route

from gossamer.errors import ConfigError, UsageError
from gossamer.serve.mcp.sdk_server import http_manager
from gossamer.serve.mcp.tokens import Rates, Tokens
from gossamer.serve.web.problem import refusal_problem
from gossamer.serve.web.request_limits import client_of

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import AsyncIterator

    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.types import Receive, Scope, Send

    from gossamer.serve.mcp.tools import Toolbox
    from gossamer.state.workspace import Workspace

PATH = "/mcp"
HERE = ("localhost", "127.0.0.1", "::1")
PASSED_ON = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
"""Headers of requests that a proxy has passed on."""
NO_TOKEN = HTTPException(
    401, "/mcp needs a token: Authorization: Bearer TOKEN", {"www-authenticate": "Bearer"}
)
NOT_HERE = HTTPException(
    403, "Without serve.mcp_tokens, /mcp answers only programs on the server's own machine."
)
BURST_SHARE = 0.5
"""Share of a minute's requests that may come at once."""


class McpEndpoint:
    """An ASGI application. Belongs to one event loop."""

    def __init__(self, work: Workspace, toolbox: Toolbox, refused: Counter[str]) -> None:
        """Raises ConfigError if the file of tokens cannot be read."""
        config = work.config.serve
        self._toolbox = toolbox
        self._refused = refused
        file = config.mcp_tokens
        self._tokens = Tokens(Path(work.root, file)) if file else None
        per_minute = config.mcp_calls_per_minute
        self._rates = Rates(per_minute, math.ceil(per_minute * BURST_SHARE))
        self._starting = asyncio.Lock()
        self._stopping = asyncio.Event()
        self._running: asyncio.Task[None] | None = None
        self._manager: StreamableHTTPSessionManager | None = None

    def routes(self) -> list[Route]:
        return [Route(PATH, self)]

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """End in the end what the first request has started."""
        try:
            yield
        finally:
            self._stopping.set()
            if self._running is not None:
                await self._running

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._admit(scope)
            manager = self._manager or await self._start()
        except HTTPException as error:
            self._refused["mcp"] += 1
            await refusal_problem(scope, error)(scope, receive, send)
            return
        await manager.handle_request(scope, receive, send)

    def _admit(self, scope: Scope) -> None:
        """Raises HTTPException if the request must not be answered."""
        headers = Headers(scope=scope)
        if self._tokens is None:
            if not is_local(scope, headers):
                raise NOT_HERE
            return
        try:
            name = self._tokens.name_of(headers.get("authorization"))
        except ConfigError as error:
            raise HTTPException(503, str(error)) from None
        if name is None:
            raise NO_TOKEN
        if wait_s := self._rates.wait_s(name):
            retry = {"retry-after": str(math.ceil(wait_s))}
            raise HTTPException(429, "this token was used too often", retry)

    async def _start(self) -> StreamableHTTPSessionManager:
        """Start what answers requests. Raises HTTPException if the SDK is not installed."""
        async with self._starting:
            if self._manager is None:
                try:
                    manager = await asyncio.to_thread(http_manager, self._toolbox, _client)
                except UsageError as error:
                    raise HTTPException(501, str(error)) from None
                ready = asyncio.Event()
                self._running = asyncio.create_task(self._run(manager, ready))
                await ready.wait()
                self._manager = manager
        return self._manager

    async def _run(self, manager: StreamableHTTPSessionManager, ready: asyncio.Event) -> None:
        async with manager.run():
            ready.set()
            await self._stopping.wait()


def is_local(scope: Scope, headers: Headers) -> bool:
    """Whether a request comes from a program on this machine, and not through a proxy."""
    ends = (scope.get("client"), scope.get("server"))
    if any(end is None or not _is_loopback(end[0]) for end in ends):
        return False
    if any(name in headers for name in PASSED_ON):
        return False
    if _name_in(f"http://{headers.get('host', '')}") not in HERE:
        return False
    origin = headers.get("origin")
    return origin is None or _name_in(origin) in HERE


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _name_in(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


def _client(context: Any) -> str:
    """The client of a request, for the fair queue of searches."""
    return client_of(context.request.scope)
