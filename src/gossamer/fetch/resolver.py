"""Names to addresses, and which addresses a crawl may connect to.

A crawler is a tool that strangers' pages steer: a link, a redirect or a DNS answer may point it
at the network it stands in (server-side request forgery, CWE-918). So addresses that are not
global are refused unless the config allows them, at two places:

  * `Resolver` drops them from DNS answers, so that a host with others is still reached;
  * `Networks.socket`, which makes every socket of the fetcher, refuses what gets that far. No
    URL gets around it, not even one that names an address, which aiohttp does not resolve.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from aiohttp.abc import AbstractResolver, ResolveResult
from aiohttp.resolver import DefaultResolver

from gossamer.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.config import FetchConfig

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""RFC 6052: the last 32 bits are an IPv4 address, which a gateway connects to."""


class ForbiddenAddress(OSError):
    """An address that the config does not allow."""

    def __init__(self, address: str) -> None:
        super().__init__(errno.EACCES, f"{address} is not in fetch.allow_networks")


class Networks:
    """Which addresses may be connected to: all global ones, and `allowed` (CIDR) ones."""

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        self._allowed = [_network(text) for text in allowed]
        self.allows = lru_cache(maxsize=1 << 14)(self._allows)

    def __contains__(self, address: Address) -> bool:
        """Whether an address is among the allowed ones, global or not."""
        return any(
            address in network for network in self._allowed if network.version == address.version
        )

    def _allows(self, text: str) -> bool:
        address = parse_address(text)
        return address is not None and (address in self or _is_global(address))

    def socket(self, info: tuple[Any, ...]) -> socket.socket:
        """A socket for one result of getaddrinfo. Raises ForbiddenAddress."""
        family, kind, protocol, _, (address, *_) = info
        if not self.allows(address):
            raise ForbiddenAddress(address)
        return socket.socket(family, kind, protocol)


class Resolver(AbstractResolver):
    """DNS, with the config's own names first. aiohttp takes address and port from here."""

    def __init__(self, config: FetchConfig, networks: Networks) -> None:
        self._routes = routes(config)
        self._networks = networks
        self._dns = DefaultResolver()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Raises OSError, and ForbiddenAddress where no address is left that may be used."""
        if (pattern := matching(host, self._routes)) is not None:
            return [_result(host, *self._routes[pattern])]
        found = await self._dns.resolve(host, port, family)
        usable = [result for result in found if self._networks.allows(result["host"])]
        if found and not usable:
            raise ForbiddenAddress(found[0]["host"])
        return usable

    async def close(self) -> None:
        await self._dns.close()


def routes(config: FetchConfig) -> dict[str, tuple[str, int]]:
    """fetch.resolve: address and port by host pattern. Raises ConfigError."""
    return {pattern: _route(pattern, target) for pattern, target in config.resolve.items()}


def matching(host: str, patterns: Iterable[str]) -> str | None:
    """The first pattern that matches a host name."""
    return next((pattern for pattern in patterns if fnmatchcase(host, pattern.lower())), None)


def parse_address(text: str) -> Address | None:
    """An address as the network will see it: one inside another (IPv4-mapped, NAT64, 6to4)."""
    try:
        address = ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address):
        if address in NAT64:
            return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
        return address.ipv4_mapped or address.sixtofour or address
    return address


def _is_global(address: Address) -> bool:
    return (
        address.is_global
        and not address.is_multicast
        and not address.is_reserved
        and not getattr(address, "is_site_local", False)
    )


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        raise ConfigError(
            f"fetch.allow_networks: {text!r}", str(error), "give a network, such as 10.0.0.0/8"
        ) from None


def _route(pattern: str, target: str) -> tuple[str, int]:
    address, _, port = target.rpartition(":")
    if parse_address(address) is None or not port.isdigit() or int(port) >= 1 << 16:
        raise ConfigError(
            f"fetch.resolve: {pattern!r}",
            f"{target!r} is not an address and a port",
            "give the like of 127.0.0.1:8080",
        )
    return address.strip("[]"), int(port)


def _result(host: str, address: str, port: int) -> ResolveResult:
    return ResolveResult(
        hostname=host,
        host=address,
        port=port,
        family=socket.AF_INET6 if ":" in address else socket.AF_INET,
        proto=socket.IPPROTO_TCP,
        flags=socket.AI_NUMERICHOST,
    )
