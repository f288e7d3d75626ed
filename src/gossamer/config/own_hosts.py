"""Which hosts are the user's own (`fetch.own_hosts`), and what that permits.

An own host gets several connections, no delay and no limit per address: its owner decides how much
it can take. Back-off still applies while it fails or answers 429 or 503.

The crawl may connect to an own address or network, private or not, as in `fetch.allow_networks`.
`localhost` stands for the loopback networks. The same holds for all addresses that DNS returns for
a host that is named in full. A pattern such as `*.example.org` does not permit private addresses,
because anybody who can add a name below it could point it into our network.
"""

from __future__ import annotations

import ipaddress
import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from gossamer.web.ip_addresses import is_network, parse_address, strip_port

if TYPE_CHECKING:
    from gossamer.config import FetchConfig

LOOPBACK = ("127.0.0.0/8", "::1/128")
_WILDCARD = re.compile(r"[*?[]")


class Own:
    """The own hosts of a config."""

    def __init__(self, config: FetchConfig) -> None:
        networks = list(LOOPBACK) if "localhost" in config.own_hosts else []
        self._patterns = []
        for entry in config.own_hosts:
            if is_network(entry):
                networks.append(entry.strip("[]"))
            else:
                self._patterns.append(entry.lower())
        self.networks = tuple(networks)
        """In CIDR notation."""
        self._parsed = [ipaddress.ip_network(network) for network in networks]
        self._names = frozenset(p for p in self._patterns if not _WILDCARD.search(p))

    def __bool__(self) -> bool:
        return bool(self._patterns or self.networks)

    def has(self, host: str, address: str | None = None) -> bool:
        """Whether a host (as in `pages`, maybe with a port) or its address is the user's own."""
        name = strip_port(host)
        if any(fnmatchcase(name, pattern) for pattern in self._patterns):
            return True
        return any(self._has_address(text) for text in (name, address) if text)

    def names_in_full(self, name: str) -> bool:
        """Whether `fetch.own_hosts` has this name itself, not only a pattern that matches it."""
        return name.lower().removesuffix(".") in self._names

    def _has_address(self, text: str) -> bool:
        address = parse_address(text)
        return address is not None and any(
            address in network for network in self._parsed if network.version == address.version
        )
