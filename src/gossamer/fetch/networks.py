"""Which addresses a crawl may connect to.

A crawler is a tool that strangers' pages steer: a link, a redirect or a DNS answer may point it
at the network it stands in (server-side request forgery, CWE-918). So addresses that are not
global are refused unless the config allows them, at two places:

  * the resolver drops them from DNS answers, so that a host with others is still reached;
  * `Networks.socket`, which makes every socket of the fetcher, refuses what gets that far. No
    URL gets around it, not even one that names an address, which nobody resolves, nor a name
    whose address changes between two look-ups (DNS rebinding).

The tables below are ours and not those of `ipaddress`, which change with Python's patch releases.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from gossamer.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

NOT_GLOBAL: Sequence[ipaddress.IPv4Network] = [
    ipaddress.IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network; Linux connects 0.0.0.0 to itself
        "10.0.0.0/8",
        "100.64.0.0/10",  # carriers' NAT; Alibaba's metadata at 100.100.100.200
        "127.0.0.0/8",
        "168.63.129.16/32",  # global, but within Azure it is the machine's own host
        "169.254.0.0/16",  # link-local; the metadata of most clouds at 169.254.169.254
        "172.16.0.0/12",
        "192.0.0.0/24",  # IETF protocols; Oracle's metadata at 192.0.0.192
        "192.0.2.0/24",  # documentation
        "192.88.99.0/24",  # relays of 6to4, abolished
        "192.168.0.0/16",
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
]
"""IANA's IPv4 Special-Purpose Address Registry (RFC 6890), multicast, and what clouds add."""

GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
"""All that IANA gives out. Outside: loopback, link-local, unique local, multicast, IPv4 in its
compatible and translated forms, and local NAT64 (64:ff9b:1::/48, RFC 8215)."""

NOT_GLOBAL_6: Sequence[ipaddress.IPv6Network] = [
    ipaddress.IPv6Network(text)
    for text in (
        "2001::/23",  # IETF protocols; Teredo, which holds two IPv4 addresses
        "2001:db8::/32",  # documentation
        "3fff::/20",  # documentation
    )
]

NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""RFC 6052: the last 32 bits are an IPv4 address, which a gateway connects to."""

_ISATAP = 0x0000_5EFE
"""RFC 5214 §6.1: these 32 bits, or 0200:5efe, and then an IPv4 address that is tunnelled to."""
_ISATAP_MASK = 0xFDFF_FFFF


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
        return address is not None and (address in self or is_global(address))

    def socket(self, info: tuple[Any, ...]) -> socket.socket:
        """A socket for one result of getaddrinfo. Raises ForbiddenAddress.

        Only the numeric forms of RFC 4291 and four decimal numbers pass: `127.1` and
        `0177.0.0.1`, which the C library would take for addresses, are none.
        """
        family, kind, protocol, _, (address, *_) = info
        if not self.allows(address):
            raise ForbiddenAddress(address)
        return socket.socket(family, kind, protocol)


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


def is_global(address: Address) -> bool:
    """Whether an address that `parse_address` gave belongs to the public Internet."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in NOT_GLOBAL)
    return (
        address in GLOBAL_UNICAST
        and not any(address in network for network in NOT_GLOBAL_6)
        and (int(address) >> 32) & _ISATAP_MASK != _ISATAP
    )


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        raise ConfigError(
            f"fetch.allow_networks: {text!r}", str(error), "give a network, such as 10.0.0.0/8"
        ) from None
