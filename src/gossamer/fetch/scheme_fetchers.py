"""The fetcher of each URL scheme: the extension point for schemes.

`http`, `https` and `file` are built in. Others come from installed packages: an entry point
in the group `gossamer.fetchers`, whose name is the scheme, names a callable

    (config: FetchConfig, rules: UrlRules, networks: Networks, resolver: Resolver) -> Fetcher

The returned Fetcher must also be an async context manager. Each task creates it once. All fetchers
of a task share one resolver and one set of allowed networks.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from gossamer.config import egress
from gossamer.config.own_hosts import Own
from gossamer.errors import ConfigError
from gossamer.fetch.exchange import FetchResult, clip_detail
from gossamer.fetch.file_fetcher import FileFetcher
from gossamer.fetch.http.body_reader import limit_of
from gossamer.fetch.http.fetcher import HttpFetcher
from gossamer.fetch.http.site_settings import Sites
from gossamer.fetch.network.allowed_networks import ForbiddenAddress, Networks
from gossamer.fetch.network.cached_resolver import Resolver
from gossamer.tables.outcomes import OUTCOMES
from gossamer.web.urls import LOCALHOST, WEB

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from importlib.metadata import EntryPoint
    from typing import Self

    from gossamer.config import FetchConfig
    from gossamer.fetch.exchange import Fetcher, Request
    from gossamer.web.urls import UrlRules

ENTRY_POINTS = "gossamer.fetchers"
BUILT_IN = frozenset((*WEB, "file"))
PLUGIN_GRACE_S = 1.0
"""Seconds beyond fetch.timeout_s, in which a plugin that keeps this limit can return a result."""


class Fetchers:
    """A Fetcher that passes each request to the fetcher of its scheme."""

    def __init__(self, fetchers: Mapping[str, Fetcher], resolver: Resolver, sites: Sites) -> None:
        self._fetchers = fetchers
        self._resolver = resolver
        self._sites = sites

    @classmethod
    @asynccontextmanager
    async def open(
        cls, config: FetchConfig, rules: UrlRules, *, keep_alive: bool = True
    ) -> AsyncIterator[Self]:
        """Open the resolver and a fetcher for each of `rules.schemes`.

        Raises ConfigError if a scheme has no usable fetcher, or an egress address is not usable.
        """
        schemes = frozenset(rules.schemes)
        plugins = installed_fetchers(schemes - BUILT_IN)
        allowed = (*config.allow_networks, *Own(config).networks)
        networks = Networks(allowed, sources=egress.source_addresses())
        sites = Sites(config.sites)
        fetchers: dict[str, Fetcher] = {}
        async with AsyncExitStack() as stack:
            resolver = Resolver(config, networks)
            stack.push_async_callback(resolver.close)
            if not schemes.isdisjoint(WEB):
                http = HttpFetcher(config, rules, networks, resolver, sites, keep_alive=keep_alive)
                fetchers |= dict.fromkeys(WEB, await stack.enter_async_context(http))
            if "file" in schemes:
                fetchers["file"] = FileFetcher(config, rules)
            for scheme, entry in plugins.items():
                plugin = _Plugin(entry, config.timeout_s)
                await plugin.open(config, rules, networks, resolver)
                stack.push_async_callback(plugin.close)
                fetchers[scheme] = plugin
            followed = {scheme: fetchers[scheme] for scheme in rules.schemes}
            yield cls(followed, resolver, sites)

    async def fetch(self, request: Request) -> FetchResult:
        """Never raises, except CancelledError."""
        scheme = request.url.partition(":")[0]
        fetcher = self._fetchers.get(scheme)
        if fetcher is None:  # an earlier round, whose settings had the scheme, found the URL
            return FetchResult(
                "forbidden_address", _now_ms(), detail=f"{scheme} is not in urls.schemes"
            )
        return await fetcher.fetch(request)

    def delay_s(self, host: str) -> float | None:
        """The delay that [[fetch.sites]] sets for a host, if it does."""
        return self._sites.delay_s(host)

    async def locate(self, host: str) -> str | None:
        """The address at which a host is contacted; see `Resolver.locate`.

        Also None for local files, and for hosts that are reached through a proxy.
        """
        if host == LOCALHOST and "file" in self._fetchers:
            return None
        if self._sites.is_proxied(host):
            return None
        return await self._resolver.locate(host)


def installed_fetchers(schemes: frozenset[str]) -> dict[str, EntryPoint]:
    """The plugins for these schemes. Raises ConfigError unless each scheme has exactly one."""
    found: dict[str, EntryPoint] = {}
    for scheme in sorted(schemes):
        entries = entry_points(group=ENTRY_POINTS, name=scheme)
        if len(entries) != 1:
            if not entries:
                what = "no installed package provides a fetcher for this scheme"
                remedy = f"install one with an entry point in {ENTRY_POINTS}"
            else:
                rivals = ", ".join(sorted(entry.value for entry in entries))
                what = f"several installed packages provide a fetcher for this scheme: {rivals}"
                remedy = "uninstall all but one"
            raise ConfigError(f"urls.schemes: {scheme!r}", what, f"{remedy}, or remove the scheme")
        (found[scheme],) = entries
    return found


class _Plugin:
    """Bounds the time and body size of a plugin's fetcher, and names the plugin in its errors."""

    def __init__(self, entry: EntryPoint, timeout_s: float) -> None:
        self._entry = entry
        self._timeout_s = timeout_s
        self._stack = AsyncExitStack()
        self._fetcher: Any = None

    async def open(self, *given: object) -> None:
        try:
            self._fetcher = await self._stack.enter_async_context(self._entry.load()(*given))
        except Exception as error:
            raise self._unusable(repr(error)) from error
        if not callable(getattr(self._fetcher, "fetch", None)):
            raise self._unusable(f"{self._entry.value} does not return a Fetcher")

    async def close(self) -> None:
        with suppress(Exception):  # an error at the end must not discard what was fetched
            await self._stack.aclose()

    async def fetch(self, request: Request) -> FetchResult:
        started_ms = _now_ms()
        try:
            async with asyncio.timeout(self._timeout_s + PLUGIN_GRACE_S):
                return _check_result(await self._fetcher.fetch(request), request)
        except ForbiddenAddress as error:
            outcome, detail = "forbidden_address", str(error.strerror)
        except TimeoutError:
            outcome, detail = "timeout", f"not within {self._timeout_s:g} s"
        except OSError as error:
            outcome, detail = "unreachable", str(error)
        except Exception as error:  # noqa: BLE001  # a plugin must not end the round
            outcome, detail = "broken", repr(error)
        detail = clip_detail(f"fetcher {self._entry.name}: {detail}")
        return FetchResult(outcome, started_ms, _now_ms() - started_ms, detail)

    def _unusable(self, what: str) -> ConfigError:
        return ConfigError(
            f"fetcher {self._entry.name} (entry point in {ENTRY_POINTS})",
            f"cannot be used: {what}",
            "repair or uninstall the package it came with",
        )


def _check_result(answer: object, request: Request) -> FetchResult:
    """Cut body and detail at their limits; raise TypeError if this is not a valid FetchResult."""
    if not isinstance(answer, FetchResult) or answer.outcome not in OUTCOMES:
        raise TypeError(f"not a FetchResult with a known outcome: {answer!r}")
    limit = limit_of(request, answer.content_type)
    if len(answer.body) > limit:
        answer.body, answer.truncated = answer.body[:limit], True
    if answer.detail is not None:
        answer.detail = clip_detail(answer.detail)
    return answer


def _now_ms() -> int:
    return int(time.time() * 1000)
