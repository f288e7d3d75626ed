"""What the config says of some hosts alone: headers, basic authentication, a proxy.

Secrets are sent to hosts that match and to no others: redirects are not followed, so no header
travels. A proxy is named by the config and therefore trusted, wherever it stands; but it connects
in our place, and could be asked for what stands beside it. So hosts that are addresses are
judged before they are handed over. **Names are resolved by the proxy**, out of our sight:
what its DNS answers, only its own rules can refuse.
"""

from __future__ import annotations

import base64
import re
import socket
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver
from yarl import URL

from gossamer.errors import ConfigError
from gossamer.fetch.networks import ForbiddenAddress, parse_address
from gossamer.fetch.resolver import matching

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from gossamer.config import SiteConfig
    from gossamer.fetch.networks import Networks

HOSTS_CACHED = 1 << 14
LOCALHOST = "127.0.0.1"
OURS = frozenset({
    "accept-encoding", "connection", "content-encoding", "content-length", "expect", "host",
    "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since",
    "keep-alive", "proxy-authorization", "proxy-connection", "range", "te", "trailer",
    "transfer-encoding", "upgrade",
})  # fmt: skip
"""Headers that tell how an answer is framed and coded, or to which question."""
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110 §5.6.2
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")  # RFC 9110 §5.5


class Site(NamedTuple):
    headers: Mapping[str, str]
    proxy: URL | None


NO_SITE = Site({}, None)


class Sites:
    """What holds for a host. Raises ConfigError where it could never be sent."""

    def __init__(self, configs: Sequence[SiteConfig]) -> None:
        self._sites: dict[str, Site] = {}
        for config in configs:
            self._sites.setdefault(config.hosts, _site(config))
        self.proxies = {site.proxy for site in self._sites.values() if site.proxy is not None}
        self.of = lru_cache(maxsize=HOSTS_CACHED)(self._of) if self._sites else _none

    def _of(self, host: str) -> Site:
        pattern = matching(host, self._sites)
        return NO_SITE if pattern is None else self._sites[pattern]


class ProxyNetwork(AbstractResolver):
    """Names and sockets of the proxies: whatever a URL says, no socket connects elsewhere."""

    def __init__(self, proxies: Iterable[URL]) -> None:
        self._targets = {(proxy.raw_host or "", proxy.port or 80) for proxy in proxies}
        self._addresses = set(self._targets)
        self._dns = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Raises OSError, and ForbiddenAddress for what is no proxy."""
        if (host, port) not in self._targets:
            raise ForbiddenAddress(host)
        found = await self._dns.resolve(host, port, family)
        self._addresses.update((result["host"], result["port"]) for result in found)
        return found

    def socket(self, info: tuple[Any, ...]) -> socket.socket:
        """A socket for one result of getaddrinfo. Raises ForbiddenAddress."""
        family, kind, protocol, _, (address, port, *_) = info
        if (address, port) not in self._addresses:
            raise ForbiddenAddress(address)
        return socket.socket(family, kind, protocol)

    async def close(self) -> None:
        await self._dns.close()


def judge_proxied(host: str, networks: Networks) -> None:
    """Refuse a host that a proxy must not be asked for. Raises ForbiddenAddress.

    `localhost` and names below it are this machine's own (RFC 6761 §6.3), so the proxy's.
    """
    name = host.rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        name = LOCALHOST
    if parse_address(name) is not None and not networks.allows(name):
        raise ForbiddenAddress(host)


def _none(_host: str) -> Site:
    return NO_SITE


def _site(config: SiteConfig) -> Site:
    headers = {}
    if config.user or config.password:
        if ":" in config.user:
            raise _unsendable(config, "user", "holds a colon")  # RFC 7617 §2
        headers["Authorization"] = _basic(config)
    for name, value in config.headers.items():
        if _NAME.fullmatch(name) is None:
            raise _unsendable(config, f"headers: {name!r}", "is not a name of a header")
        if name.lower() in OURS:
            raise _unsendable(config, f"headers: {name!r}", "is set by the fetcher itself")
        if _VALUE.fullmatch(value) is None:
            raise _unsendable(config, f"headers: {name!r}", "has a value that HTTP cannot carry")
        headers[name] = value
    return Site(headers, _proxy(config))


def _basic(config: SiteConfig) -> str:
    for field, value in (("user", config.user), ("password", config.password)):
        if _VALUE.fullmatch(value) is None:
            raise _unsendable(config, field, "has characters outside Latin-1, or controls")
    secret = f"{config.user}:{config.password}".encode("latin-1")
    return f"Basic {base64.b64encode(secret).decode()}"


def _proxy(config: SiteConfig) -> URL | None:
    if not config.proxy:
        return None
    try:
        proxy = URL(config.proxy)
        if proxy.raw_host:
            return proxy
    except ValueError:
        pass
    raise _unsendable(config, "proxy", "is not the like of http://host:port")


def _unsendable(config: SiteConfig, field: str, why: str) -> ConfigError:
    return ConfigError(f"fetch.sites {config.hosts!r}: {field}", why, "see docs/settings.md")
