"""Determines the client of a request: an IPv4 address, or the /64 network of an IPv6 address.

Providers assign a /64 or more to each customer (RFC 6177), so a limit per IPv6 address would not
limit anybody.
"""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv6Address, ip_address, ip_network
from typing import TYPE_CHECKING

from gossamer.config.searching import UNIX
from gossamer.errors import ConfigError
from gossamer.serve.dispatch.fair_queue import ANYBODY

if TYPE_CHECKING:
    from collections.abc import Sequence
    from ipaddress import IPv4Address

IPV6_BITS = 64
MAX_KEPT = 4_096
"""Addresses whose client is cached."""
MAX_NAME_CHARS = 64
"""How much is used of an identifier that a proxy sends in place of an address (RFC 7239, section
6)."""


class Clients:
    """Distinguishes clients, also behind `proxies` (addresses or networks)."""

    def __init__(self, proxies: Sequence[str]) -> None:
        """Raises ConfigError."""
        try:
            self._proxies = [ip_network(each, strict=False) for each in proxies if each != UNIX]
        except ValueError as error:
            remedy = "list IP addresses or networks, such as 10.0.0.0/8, or unix"
            raise ConfigError("serve.proxies", str(error), remedy) from None
        self._trusts_socket = UNIX in proxies
        self._known = lru_cache(MAX_KEPT)(self._of)

    def of(self, host: str) -> str:
        """The client at an address. A proxy that does not report its client's is ANYBODY."""
        return self._known(host[:MAX_NAME_CHARS])

    def is_proxy(self, host: str) -> bool:
        """Whether what this host reports about its clients is trusted."""
        if host == UNIX:
            return self._trusts_socket
        return bool(host) and self.of(host) == ANYBODY

    def _of(self, host: str) -> str:
        if host == UNIX:  # of many clients, if a proxy uses the socket
            return ANYBODY
        try:
            address = _plain(ip_address(host.partition("%")[0]))
        except ValueError:
            return host
        if any(address in network for network in self._proxies):
            return ANYBODY
        if isinstance(address, IPv6Address):
            return str(ip_network((int(address) >> IPV6_BITS << IPV6_BITS, IPV6_BITS)))
        return str(address)


def _plain(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Convert an IPv4-mapped IPv6 address to IPv4: a socket that listens on both reports those."""
    return (isinstance(address, IPv6Address) and address.ipv4_mapped) or address
