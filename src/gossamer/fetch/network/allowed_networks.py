"""Which addresses a crawl may connect to.

Strangers' pages steer a crawler: a link, a redirect or a DNS answer may point it at its own network
(server-side request forgery, CWE-918). So addresses that are not global, or that are in a network
of this machine's interfaces, are refused unless the settings allow them, in two places:

  * The resolver drops them from DNS answers, so a host that also has other addresses is reached.
  * `Networks.socket` creates every socket of the fetcher and refuses all other addresses. No URL
    gets around it, not even one with an address in place of a name, or a name whose address
    changes between two look-ups (DNS rebinding).

The tables below are our own, because those of `ipaddress` change with Python's patch releases.

Facts
  * A machine with a global address shares its prefix with its neighbours: its rack, its home, its
    other services. They often trust every address in the prefix, and IPv6 gives global addresses
    to machines that IPv4 hid behind NAT. So to a crawler that strangers steer, these networks are
    as private as 10/8.
  * A prefix shorter than any that a single network is assigned (a wrong netmask, a tunnel for all
    traffic) would close the Internet. Of such a network only the interface's address counts.
"""

from __future__ import annotations

import errno
import ipaddress
import socket
import sys
import time
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import psutil

from gossamer.config.network_addresses import network
from gossamer.web.ip_addresses import parse_address

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from gossamer.config.network_addresses import Network
    from gossamer.web.ip_addresses import Address

REFRESH_S = 60

SHORTEST_PREFIXES = {4: 8, 6: 32}
"""Prefix lengths by IP version: sites get /48 to /64 (RFC 6177), providers /32."""

NOT_GLOBAL: Sequence[ipaddress.IPv4Network] = [
    ipaddress.IPv4Network(text)
    for text in (
        "0.0.0.0/8",  # this network; on Linux, 0.0.0.0 connects to the machine itself
        "10.0.0.0/8",
        "100.64.0.0/10",  # carriers' NAT; Alibaba's metadata at 100.100.100.200
        "127.0.0.0/8",
        "168.63.129.16/32",  # global, but within Azure it is the machine's physical host
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
"""IANA's IPv4 Special-Purpose Address Registry (RFC 6890), multicast, and addresses of clouds."""

GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")
"""All addresses that IANA assigns. It excludes loopback, link-local, unique local, multicast, IPv4
in its compatible and translated forms, and local NAT64 (64:ff9b:1::/48, RFC 8215)."""

NOT_GLOBAL_6: Sequence[ipaddress.IPv6Network] = [
    ipaddress.IPv6Network(text)
    for text in (
        "2001::/23",  # IETF protocols; Teredo, which holds two IPv4 addresses
        "2001:db8::/32",  # documentation
        "3fff::/20",  # documentation
    )
]

_ISATAP = 0x0000_5EFE
"""RFC 5214 §6.1: these 32 bits, or 0200:5efe, precede the IPv4 address at a tunnel's other end."""
_ISATAP_MASK = 0xFDFF_FFFF


def interface_networks() -> frozenset[Network]:
    """The networks of all interfaces, as the kernel reports them now. Takes 0.4 ms."""
    return frozenset(
        network_of(each.address, each.netmask)
        for addresses in psutil.net_if_addrs().values()
        for each in addresses
        if each.family in {socket.AF_INET, socket.AF_INET6}
    )


def network_of(address: str, netmask: str | None) -> Network:
    """The network of an interface's address; `netmask` has the form of an address, too."""
    own = ipaddress.ip_address(address.partition("%")[0])
    bits = own.max_prefixlen
    length = int(ipaddress.ip_address(netmask)).bit_count() if netmask else bits
    if length < SHORTEST_PREFIXES[own.version]:
        length = bits
    return ipaddress.ip_network((int(own).to_bytes(bits // 8), length), strict=False)


class ForbiddenAddress(OSError):
    """An address that the settings do not allow."""

    def __init__(self, address: str) -> None:
        super().__init__(errno.EACCES, f"{address} is not in fetch.allow_networks")


class Networks:
    """The addresses that a crawl may connect to.

    These are the `allowed` networks (CIDR), and all global addresses that are outside the networks
    of this machine's interfaces. Interfaces come and go with DHCP, VPNs and containers, so they are
    read again every REFRESH_S of `clock`. `sources` are the addresses to connect from, by family.
    """

    def __init__(
        self,
        allowed: Iterable[str] = (),
        *,
        sources: Mapping[int, str] | None = None,
        interfaces: Callable[[], frozenset[Network]] = interface_networks,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._allowed = [network(text) for text in allowed]
        self._admitted: set[str] = set()
        self._sources = sources or {}
        self._interfaces = interfaces
        self._clock = clock
        self._near = interfaces()
        self._refresh_s = clock() + REFRESH_S
        self._judge = lru_cache(maxsize=1 << 14)(self._allows)

    def __contains__(self, address: Address) -> bool:
        """Whether an address is in one of the `allowed` networks, global or not."""
        return any(address in network for network in self._allowed)

    def allows(self, text: str) -> bool:
        if self._clock() >= self._refresh_s:
            self._refresh_s = self._clock() + REFRESH_S
            if (near := self._interfaces()) != self._near:
                self._near = near
                self._judge.cache_clear()
        return self._judge(text)

    def _allows(self, text: str) -> bool:
        address = parse_address(text)
        if address is None:
            return False
        if address in self or text in self._admitted:
            return True
        return is_global(address) and not any(address in network for network in self._near)

    def admit(self, addresses: Iterable[str]) -> None:
        """Allow the addresses of a host that the settings name as the user's own."""
        if not self._admitted.issuperset(new := set(addresses)):
            self._admitted |= new
            self._judge.cache_clear()

    def socket(self, info: tuple[Any, ...]) -> socket.socket:
        """Create a socket for one result of getaddrinfo. Raises OSError; ForbiddenAddress.

        It accepts only the forms of RFC 4291 and four decimal numbers. The C library would also
        accept `127.1` and `0177.0.0.1`.
        """
        family, kind, protocol, _, (address, *_) = info
        if not self.allows(address):
            raise ForbiddenAddress(address)
        opened = socket.socket(family, kind, protocol)
        if (source := self._sources.get(family)) is not None:
            try:
                # Else each connection would take a port of this address for itself (ip(7)), as it
                # does elsewhere.
                if sys.platform == "linux":
                    opened.setsockopt(socket.IPPROTO_IP, socket.IP_BIND_ADDRESS_NO_PORT, 1)
                opened.bind((source, 0))
            except OSError:
                opened.close()
                raise
        return opened


def is_global(address: Address) -> bool:
    """Whether an address from `parse_address` belongs to the public Internet."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in NOT_GLOBAL)
    return (
        address in GLOBAL_UNICAST
        and not any(address in network for network in NOT_GLOBAL_6)
        and (int(address) >> 32) & _ISATAP_MASK != _ISATAP
    )
