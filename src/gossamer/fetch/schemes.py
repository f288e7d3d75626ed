"""Who fetches a URL, by its scheme: the extension point for schemes.

`http`, `https`, `ftp` and `file` are built in. Others come from installed packages: an entry point
in the group `gossamer.fetchers`, whose name is the scheme, names a callable

    (config: FetchConfig, rules: UrlRules, networks: Networks, resolver: Resolver) -> Fetcher

that returns a Fetcher, which is also an async context manager. It is made once in each task. All
fetchers of a task share one resolver, and one opinion on which addresses may be connected to.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

from gossamer.errors import ConfigError
from gossamer.fetch.body import Bodies, limit_of
from gossamer.fetch.exchange import DETAIL_CHARS, Answer, text
from gossamer.fetch.files import FileFetcher
from gossamer.fetch.ftp import FtpFetcher
from gossamer.fetch.http import HttpFetcher
from gossamer.fetch.networks import ForbiddenAddress, Networks
from gossamer.fetch.resolver import Resolver
from gossamer.fetch.sites import Sites
from gossamer.outcomes import OUTCOMES
from gossamer.urls import LOCALHOST, WEB

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from importlib.metadata import EntryPoint
    from typing import Self

    from gossamer.config import FetchConfig
    from gossamer.fetch.exchange import Fetcher, Request
    from gossamer.urls import UrlRules

ENTRY_POINTS = "gossamer.fetchers"
BUILT_IN = frozenset((*WEB, "ftp", "file"))


class Fetchers:
    """A fetcher for each scheme of `rules.schemes`; itself a Fetcher."""

    def __init__(self, fetchers: Mapping[str, Fetcher], resolver: Resolver, sites: Sites) -> None:
        self._fetchers = fetchers
        self._resolver = resolver
        self._sites = sites

    @classmethod
    @asynccontextmanager
    async def open(
        cls, config: FetchConfig, rules: UrlRules, *, keep_alive: bool = True
    ) -> AsyncIterator[Self]:
        """Open all of them, and the resolver.

        Raises ConfigError where a scheme has no fetcher, or one that cannot be used.
        """
        schemes = frozenset(rules.schemes)
        plugins = installed(schemes - BUILT_IN)
        networks = Networks(config.allow_networks)
        bodies = Bodies(config)
        fetchers: dict[str, Fetcher] = {}
        async with AsyncExitStack() as stack:
            resolver = Resolver(config, networks)
            stack.push_async_callback(resolver.close)
            if not schemes.isdisjoint(WEB):
                http = HttpFetcher(config, rules, networks, resolver, bodies, keep_alive=keep_alive)
                fetchers |= dict.fromkeys(WEB, await stack.enter_async_context(http))
            if "ftp" in schemes:
                fetchers["ftp"] = FtpFetcher(config, rules, networks, resolver, bodies)
            if "file" in schemes:
                fetchers["file"] = FileFetcher(config, rules)
            for scheme, entry in plugins.items():
                plugin = _Plugin(entry, config.timeout_s)
                await plugin.open(config, rules, networks, resolver)
                stack.push_async_callback(plugin.close)
                fetchers[scheme] = plugin
            ours = {scheme: fetchers[scheme] for scheme in rules.schemes}
            yield cls(ours, resolver, Sites(config.sites))

    async def fetch(self, request: Request) -> Answer:
        """Never raises, but for cancellation."""
        scheme = request.url.partition(":")[0]
        fetcher = self._fetchers.get(scheme)
        if fetcher is None:  # met by a round whose config had it
            return Answer("forbidden_address", _now_ms(), detail=f"no {scheme} in urls.schemes")
        return await fetcher.fetch(request)

    async def locate(self, host: str) -> str | None:
        """The address at which a host of `pages` will be contacted, as `Resolver.locate`.

        None where it has none that is used: files are on no network, and proxies ask for us.
        """
        if host == LOCALHOST and "file" in self._fetchers:
            return None
        if self._sites.of(host.partition(":")[0]).proxy is not None:
            return None
        return await self._resolver.locate(host)


def installed(schemes: frozenset[str]) -> dict[str, EntryPoint]:
    """The plugins for these schemes. Raises ConfigError unless each has one."""
    found: dict[str, EntryPoint] = {}
    for scheme in sorted(schemes):
        entries = entry_points(group=ENTRY_POINTS, name=scheme)
        if len(entries) != 1:
            who = ", ".join(sorted(entry.value for entry in entries)) or "nobody"
            raise ConfigError(
                f"urls.schemes: {scheme!r}",
                f"one package has to know how to fetch it, but {who} does",
                f"install one with an entry point in {ENTRY_POINTS}, or take the scheme out",
            )
        (found[scheme],) = entries
    return found


class _Plugin:
    """Another's fetcher, which is bounded in time and size, and whose errors name it."""

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
            raise self._unusable(f"{self._entry.value} makes no Fetcher")

    async def close(self) -> None:
        with suppress(Exception):  # what was fetched is worth more than a proper end
            await self._stack.aclose()

    async def fetch(self, request: Request) -> Answer:
        started_ms = _now_ms()
        try:
            async with asyncio.timeout(self._timeout_s):
                return _checked(await self._fetcher.fetch(request), request)
        except ForbiddenAddress as error:
            outcome, detail = "forbidden_address", str(error.strerror)
        except TimeoutError:
            outcome, detail = "timeout", f"not within {self._timeout_s:g} s"
        except OSError as error:
            outcome, detail = "unreachable", str(error)
        except Exception as error:  # noqa: BLE001  # a plugin must not end the round
            outcome, detail = "broken", repr(error)
        detail = text(f"fetcher {self._entry.name}: {detail}"[:DETAIL_CHARS])
        return Answer(outcome, started_ms, _now_ms() - started_ms, detail)

    def _unusable(self, what: str) -> ConfigError:
        return ConfigError(
            f"fetcher {self._entry.name} (entry point in {ENTRY_POINTS})",
            f"cannot be used: {what}",
            "repair or uninstall the package it came with",
        )


def _checked(answer: object, request: Request) -> Answer:
    """Raises TypeError for what is no answer."""
    if not isinstance(answer, Answer) or answer.outcome not in OUTCOMES:
        raise TypeError(f"not an Answer with an outcome that there is: {answer!r}")
    limit = limit_of(request, answer.content_type)
    if len(answer.body) > limit:
        answer.body, answer.truncated = answer.body[:limit], True
    return answer


def _now_ms() -> int:
    return int(time.time() * 1000)
