"""Requests to the application of a crawl without sockets, as if they came from an address."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import TYPE_CHECKING, Any

import httpx

from gossamer.config import ServeConfig
from gossamer.serve.web.app import app
from gossamer.serve.web.clients import Clients
from gossamer.serve.web.site_path import behind_proxies

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp

    from gossamer.state.workspace import Workspace

PROXY = "127.0.0.1"
STRANGER = "192.0.2.1"
PLAIN = {"accept-encoding": "identity"}


def application(work: Workspace, kept_s: float = 0, **settings: Any) -> ASGIApp:
    """The application with these settings of [serve], behind its proxies."""
    config = ServeConfig(**settings)
    clients = Clients(config.proxies)
    return behind_proxies(app(work, (), clients, Counter(), kept_s), config, clients)


def get(
    asked: ASGIApp, path: str, headers: Mapping[str, str] | None = None, address: str = PROXY
) -> httpx.Response:
    """The answer to one request; a redirect is not followed."""

    async def answer() -> httpx.Response:
        transport = httpx.ASGITransport(asked, client=(address, 40_000))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return await client.get(path, headers=PLAIN | dict(headers or {}))

    return asyncio.run(answer())
