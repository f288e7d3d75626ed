"""Fetches of a few URLs from servers on loopback."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import uvloop

from gossamer.config import FetchConfig
from gossamer.fetch.exchange import FetchResult, Request
from gossamer.fetch.http.fetcher import HttpFetcher
from gossamer.fetch.http.site_settings import Sites
from gossamer.fetch.network.allowed_networks import Networks
from gossamer.fetch.network.cached_resolver import Resolver
from gossamer.web.urls import UrlRules

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.support.loopback import Loopback

LIMIT = 10_000


def config(server: Loopback, **settings: object) -> FetchConfig:
    return FetchConfig(
        **{
            "allow_networks": ("127.0.0.0/8",),
            "host_overrides": {"*.test": server.address},
            "contact": "mailto:me@a.test",
            **settings,
        }  # type: ignore[arg-type]
    )


@asynccontextmanager
async def http_fetcher(settings: FetchConfig) -> AsyncIterator[HttpFetcher]:
    networks = Networks(settings.allow_networks)
    resolver = Resolver(settings, networks)
    async with HttpFetcher(
        settings, UrlRules(), networks, resolver, Sites(settings.sites), keep_alive=True
    ) as fetcher:
        yield fetcher
    await resolver.close()


def fetch(settings: FetchConfig, *requests: Request) -> list[FetchResult]:
    """All with one fetcher, one after the other, on the loop that the fetcher runs on."""

    async def run() -> list[FetchResult]:
        async with http_fetcher(settings) as fetcher:
            return [await fetcher.fetch(request) for request in requests]

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(run())


def fetch_url(settings: FetchConfig, url: str, limit: int = LIMIT) -> FetchResult:
    (answer,) = fetch(settings, Request(url, limit))
    return answer
