"""Settings that are addresses: each function returns what the text means, or raises ValueError."""

from __future__ import annotations

import ipaddress
import re

from gossamer.web.ip_addresses import parse_address

Network = ipaddress.IPv4Network | ipaddress.IPv6Network

_SERVER = re.compile(
    r"(?:\[(?P<six>[^][]+)\]|(?P<four>[^][:]+))(?::(?P<port>[0-9]{1,5}))?|(?P<bare_six>[^][]+)"
)


def override_target(pattern: str, target: str) -> tuple[str, int]:
    """Address and port of a target in fetch.host_overrides."""
    address, _, port = target.rpartition(":")
    if parse_address(address) is None or not _is_port(port):
        raise ValueError(
            f"host_overrides: {pattern!r}: {target!r} is not an address and a port, such as "
            "127.0.0.1:8080"
        )
    return address.strip("[]"), int(port)


def nameserver(text: str) -> str:
    """A DNS server in the form that c-ares accepts."""
    parts = match.groupdict() if (match := _SERVER.fullmatch(text)) else {}
    port = parts.pop("port", None)
    address = next(filter(None, parts.values()), "")
    if parse_address(address) is None or not _is_port(port or "53"):
        raise ValueError(
            f"nameservers: {text!r} is not an address, with or without a port, such as 9.9.9.9, "
            "127.0.0.1:5353 or [::1]:5353"
        )
    return text if port else address


def network(text: str) -> Network:
    """A network in fetch.allow_networks."""
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        raise ValueError(
            f"allow_networks: {text!r}: {error}; write a network, such as 10.0.0.0/8"
        ) from None


def _is_port(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 5 and 0 < int(text) < 1 << 16  # noqa: PLR2004
