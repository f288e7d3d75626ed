"""How is an IP address in a URL or a setting read?"""

from __future__ import annotations

import ipaddress
import re

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
"""RFC 6052: the last 32 bits are an IPv4 address, which a gateway connects to."""
_PORT = re.compile(r":[0-9]+$")


def strip_port(host: str) -> str:
    """The name or address of a host as in `pages`."""
    return host if host.endswith("]") else _PORT.sub("", host)


def parse_address(text: str) -> Address | None:
    """Parse an address; return the IPv4 address inside it if it is IPv4-mapped, NAT64 or 6to4."""
    try:
        address = ipaddress.ip_address(text.strip("[]"))
    except ValueError:
        return None
    if isinstance(address, ipaddress.IPv6Address):
        if address in NAT64:
            return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
        return address.ipv4_mapped or address.sixtofour or address
    return address


def is_network(text: str) -> bool:
    """Whether a text is an address or a network in CIDR notation."""
    try:
        ipaddress.ip_network(text.strip("[]"))
    except ValueError:
        return False
    return True
