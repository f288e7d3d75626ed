"""The route /mcp: the tools of `gossamer.serve.mcp` over Streamable HTTP.

`token_gate.py` decides who is answered.

The SDK is imported, in a thread, when the first request comes.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.routing import Route

from gossamer.errors import UsageError
from gossamer.serve.mcp.sdk_server import http_manager
from gossamer.serve.web.problem import refusal_problem
from gossamer.serve.web.request_limits import client_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.types import Receive, Scope, Send

    from gossamer.serve.mcp.tools import Toolbox
    from gossamer.serve.web.token_gate import TokenGate

PATH = "/mcp"


class McpEndpoint:
    """An ASGI application. Belongs to one event loop."""

    def __init__(self, toolbox: Toolbox, gate: TokenGate) -> None:
        self._toolbox = toolbox
        self._gate = gate
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
            self._gate.admit(scope)
            manager = self._manager or await self._start()
        except HTTPException as error:
            await refusal_problem(scope, error)(scope, receive, send)
            return
        await manager.handle_request(scope, receive, send)

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


def _client(context: Any) -> str:
    """The client of a request, for the fair queue of searches."""
    return client_of(context.request.scope)
