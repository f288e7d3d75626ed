"""The networks of this machine's own interfaces, including global ones.

Facts
  * A machine with a global address shares its prefix with its neighbours: its rack, its home, its
    other services. They often trust every address in the prefix, and IPv6 gives global addresses
    to machines that IPv4 hid behind NAT. So to a crawler that strangers steer, these networks are
    as private as 10/8.
  * A prefix shorter than any that a single network is assigned (a wrong netmask, a tunnel for all
    traffic) would close the Internet. Of such a network only the interface's address counts.
"""

from __future__ import annotations

import ipaddress
import socket

import psutil

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

SHORTEST = {4: 8, 6: 32}
"""Prefix lengths by IP version: sites get /48 to /64 (RFC 6177), providers /32."""


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
    if length < SHORTEST[own.version]:
        length = bits
    return ipaddress.ip_network((int(own).to_bytes(bits // 8), length), strict=False)
