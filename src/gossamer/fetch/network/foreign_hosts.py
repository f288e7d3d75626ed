"""Which hosts belong to others, whose webmasters must be able to reach the owner of the crawl?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.config.own_hosts import Own
from gossamer.fetch.network.allowed_networks import Networks
from gossamer.fetch.network.host_overrides import matching_pattern, parse_overrides
from gossamer.web.ip_addresses import parse_address, strip_port

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.config import FetchConfig


def first_foreign_host(hosts: Iterable[str], config: FetchConfig) -> str | None:
    """The first host that is not on this machine, not the user's own and not in an allowed network.

    Raises ConfigError if fetch.allow_networks or fetch.host_overrides is invalid.
    """
    networks, patterns, own = Networks(config.allow_networks), parse_overrides(config), Own(config)
    for host in hosts:
        name = strip_port(host)
        address = parse_address(name)
        if address is None:
            is_local = name == "localhost" or matching_pattern(name, patterns) is not None
        else:
            is_local = address.is_loopback or address in networks
        if not is_local and not own.has(host):
            return host
    return None
