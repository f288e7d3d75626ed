"""Settings for single hosts ([[fetch.sites]]): delay, headers, authentication, proxy, TLS.

A table applies to the hosts that its pattern matches; if the pattern includes a scheme or port,
only to requests with these. Secrets belong to an origin (RFC 6454): they are sent only to the
pattern's scheme and port, by default to https and its port. A password for https://a.example is
never sent to http://a.example, where others could read it on the way, nor to a service on another
port. Redirects are not followed, so no header travels with them.

A proxy is trusted wherever it is, because the settings name it. But it connects in our place, and
a URL could point it at its own network. So hosts that are addresses are checked before they are
passed to it. **Names are resolved by the proxy**, out of our sight: only its own rules can refuse
the addresses that they lead to.
"""

from __future__ import annotations

import base64
import re
import socket
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import ThreadedResolver
from yarl import URL

from gossamer.config import PUBLIC_HEADERS
from gossamer.config.fetching import HOSTS
from gossamer.errors import ConfigError
from gossamer.fetch.network.allowed_networks import ForbiddenAddress
from gossamer.web.ip_addresses import parse_address

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gossamer.config import Secret, SiteConfig
    from gossamer.fetch.network.allowed_networks import Networks

ORIGINS_CACHED = 1 << 14
PORTS: Mapping[str, int] = {"http": 80, "https": 443}
OTHER_PORT = 0
"""Stands for the default port of other schemes, which only their fetchers know."""
SECURE = "https"
LOCALHOST = "127.0.0.1"
OURS = frozenset({
    "accept-encoding", "connection", "content-encoding", "content-length", "expect", "host",
    "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since",
    "keep-alive", "proxy-authorization", "proxy-connection", "range", "te", "trailer",
    "transfer-encoding", "upgrade",
})  # fmt: skip
"""Headers that control framing, coding and conditional requests, which the fetcher sets itself."""
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # RFC 9110 §5.6.2
_HOSTS = re.compile(HOSTS)
_PORT = re.compile(r":(\d+)\Z")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")  # RFC 9110 §5.5


class Site(NamedTuple):
    """The settings for a request. `login` is user and password, if they may be sent."""

    headers: Mapping[str, str]
    proxy: URL | None
    login: tuple[str, str] | None
    verify_tls: bool | None = None
    """Replaces fetch.verify_tls, if not None."""


NO_SITE = Site({}, None, None)


class HostPattern(NamedTuple):
    """A table's `hosts`: a pattern for names, with scheme and port if it includes them."""

    scheme: str | None
    name: str
    port: int | None

    @classmethod
    def from_config(cls, config: SiteConfig) -> HostPattern:
        """Raises ConfigError."""
        match = _HOSTS.fullmatch(config.hosts)
        port = int(match["port"]) if match and match["port"] else None
        if match is None or (port is not None and not 0 < port < 1 << 16):
            raise _unsendable(config, "hosts", "is not a host, with or without scheme and port")
        name = match["name"].lower()
        return cls(match["scheme"], name.strip("[]") if ":" in name else name, port)

    def fits_host_pattern(self, host: str, port: int | None) -> bool:
        """Whether the pattern matches a host, for any scheme; a port of None is the default one."""
        if self.port not in (None, port or PORTS.get(self.scheme or SECURE)):
            return False
        return fnmatchcase(host, self.name)

    def fits_request(self, scheme: str, host: str, port: int) -> bool:
        return (
            self.scheme in (None, scheme)
            and self.port in (None, port)
            and self.fits_host_pattern(host, port)
        )

    def owns(self, scheme: str, port: int) -> bool:
        """Whether the table's secrets may be sent to this scheme and port of a matching host."""
        own = self.scheme or SECURE
        return own == scheme and (self.port or PORTS.get(own, OTHER_PORT)) == port


class Sites:
    """The tables of [[fetch.sites]]; the first that matches applies.

    Secrets must have been replaced by their values. Raises ConfigError if a value cannot be sent.
    """

    def __init__(self, configs: Sequence[SiteConfig]) -> None:
        self._sites = [
            (HostPattern.from_config(config), _site(config), config) for config in configs
        ]
        self.proxies = {site.proxy for _, site, _ in self._sites if site.proxy is not None}
        self.for_origin = lru_cache(maxsize=ORIGINS_CACHED)(self._find) if self._sites else _none

    def for_url(self, url: URL) -> Site:
        return self.for_origin(url.scheme, url.raw_host or "", url.explicit_port)

    def delay_s(self, host: str) -> float | None:
        """The delay in the first table with one that matches a host (as in `pages`)."""
        delays = (config.delay_s for _, config in self._matching(host))
        return next((delay_s for delay_s in delays if delay_s is not None), None)

    def is_proxied(self, host: str) -> bool:
        """Whether a host (as in `pages`) is reached through a proxy."""
        site, _ = next(self._matching(host), (NO_SITE, None))
        return site.proxy is not None

    def _matching(self, host: str) -> Iterator[tuple[Site, SiteConfig]]:
        """The tables that match a host (as in `pages`), for any scheme."""
        name, port = _split_port(host)
        return (
            (site, config)
            for pattern, site, config in self._sites
            if pattern.fits_host_pattern(name, port)
        )

    def _find(self, scheme: str, host: str, port: int | None) -> Site:
        port = port or PORTS.get(scheme, OTHER_PORT)
        for pattern, site, config in self._sites:
            if pattern.fits_request(scheme, host, port):
                if pattern.owns(scheme, port):
                    return site
                return site._replace(headers=_site_headers(config.headers), login=None)
        return NO_SITE


class ProxyNetwork(AbstractResolver):
    """Resolver and socket factory that permit connections to the proxies only."""

    def __init__(self, proxies: Iterable[URL]) -> None:
        self._targets = {(proxy.raw_host or "", proxy.port or 80) for proxy in proxies}
        self._addresses = set(self._targets)
        self._dns = ThreadedResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Raises OSError; ForbiddenAddress for a host that is not a proxy."""
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
    """Raise ForbiddenAddress for a host that must not be requested from a proxy.

    `localhost` and names below it would mean the proxy's own machine (RFC 6761 §6.3).
    """
    name = host.rstrip(".")
    if name == "localhost" or name.endswith(".localhost"):
        name = LOCALHOST
    if parse_address(name) is not None and not networks.allows(name):
        raise ForbiddenAddress(host)


def _none(_scheme: str, _host: str, _port: int | None) -> Site:
    return NO_SITE


def _split_port(host: str) -> tuple[str, int | None]:
    """Split a host (as in `pages`) into name and port; addresses lose their brackets."""
    match = _PORT.search(host)
    name = host[: match.start()] if match else host
    return name.strip("[]"), int(match[1]) if match else None


def _site(config: SiteConfig) -> Site:
    headers = {}
    login = None
    if config.user or config.password:
        if ":" in config.user:
            raise _unsendable(config, "user", "contains a colon")  # RFC 7617 §2
        login = (config.user, _plain(config, "password", config.password))
        headers["Authorization"] = _site_login(config, *login)
    for name, given in config.headers.items():
        key = f"headers: {name!r}"
        value = _plain(config, key, given)
        if _NAME.fullmatch(name) is None:
            raise _unsendable(config, key, "is not a valid header name")
        if name.lower() in OURS:
            raise _unsendable(config, key, "is set by the fetcher itself")
        if _VALUE.fullmatch(value) is None:
            raise _unsendable(config, key, "has a value that HTTP cannot carry")
        headers[name] = value
    return Site(headers, _site_proxy(config), login, config.verify_tls)


def _site_headers(headers: Mapping[str, str | Secret]) -> dict[str, str]:
    """The headers that are not secret."""
    return {
        name: value
        for name, value in headers.items()
        if name.lower() in PUBLIC_HEADERS and isinstance(value, str)
    }


def _plain(config: SiteConfig, key: str, value: str | Secret) -> str:
    if isinstance(value, str):
        return value
    raise _unsendable(config, key, "was not read from its file or environment variable")


def _site_login(config: SiteConfig, user: str, password: str) -> str:
    for key, value in (("user", user), ("password", password)):
        if _VALUE.fullmatch(value) is None:
            raise _unsendable(config, key, "has control characters or ones outside Latin-1")
    secret = f"{user}:{password}".encode("latin-1")
    return f"Basic {base64.b64encode(secret).decode()}"


def _site_proxy(config: SiteConfig) -> URL | None:
    if not config.proxy:
        return None
    try:
        proxy = URL(_plain(config, "proxy", config.proxy))
        if proxy.scheme == "http" and proxy.raw_host:
            return proxy
    except ValueError:
        pass
    raise _unsendable(config, "proxy", "does not have the form http://host:port")


def _unsendable(config: SiteConfig, field: str, why: str) -> ConfigError:
    return ConfigError(f"fetch.sites {config.hosts!r}: {field}", why, "see docs/settings.md")
