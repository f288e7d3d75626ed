"""Which workers may ask a host, and from which address do they?

The setting `fetch.egress` maps groups of workers to patterns of host names and to networks. A host
belongs to the first group that matches its name, the address in its URL, or the address at which it
was contacted last. Every worker may ask a host of no group.

The environment of a worker has the names of its groups, separated by commas, in GOSSAMER_EGRESS. In
GOSSAMER_EGRESS_ADDRESS, it may have the address from which the worker connects, or two, one of each
family. For hosts of a family without one, the system chooses, as it does without the variable.
"""

from __future__ import annotations

import ipaddress
import os
import re
import socket
from bisect import bisect_right
from fnmatch import translate
from typing import TYPE_CHECKING, NamedTuple

from gossamer.errors import ConfigError
from gossamer.web.ip_addresses import parse_address, strip_port

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gossamer.web.ip_addresses import Address

    Network = ipaddress.IPv4Network | ipaddress.IPv6Network

GROUPS, ADDRESSES = "GOSSAMER_EGRESS", "GOSSAMER_EGRESS_ADDRESS"
"""Environment variables."""
POSTPONED = "postponed_egress"
"""The count of pages that wait for a worker of their group."""
_GROUP = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_HOSTS = re.compile(r"[^\s:/@,\x00-\x1f\x7f]+")


class Egress:
    """The groups of the setting. Raises ValueError if one is invalid."""

    def __init__(self, setting: Mapping[str, Sequence[str]]) -> None:
        self._groups = [_Group.parse(name, entries) for name, entries in setting.items()]

    def group(self, host: str, address: str | None = None) -> int | None:
        """The number of a host's group, in the order of the setting; None: it has none.

        The host is as in `pages`; `address` is the last one that is known.
        """
        name = strip_port(host)
        where = parse_address(name) or (parse_address(address) if address else None)
        matching = (n for n, group in enumerate(self._groups) if group.matches(name, where))
        return next(matching, None)


class _Group(NamedTuple):
    hosts: re.Pattern[str] | None
    begins: Sequence[tuple[int, int]]
    """Version and first address of the networks, in order, without those that are part of another.
    There may be thousands, such as those of a country."""
    ends: Sequence[tuple[int, int]]
    """Their last addresses."""

    @classmethod
    def parse(cls, name: str, entries: Sequence[str]) -> _Group:
        if _GROUP.fullmatch(name) is None:
            raise ValueError(f"egress: a group cannot be named {name!r}: use letters, digits, _.-")
        patterns, networks = [], []
        for entry in entries:
            try:
                network = ipaddress.ip_network(entry)
            except ValueError as error:
                if _HOSTS.fullmatch(entry) is None:
                    what = "neither a pattern of host names, such as *.de, nor a network"
                    raise ValueError(f"egress.{name}: {entry!r} is {what}: {error}") from None
                patterns.append(translate(entry.lower()))
            else:
                networks.append(network)
        begins: list[tuple[int, int]] = []
        ends: list[tuple[int, int]] = []
        for first, last in sorted(map(_span, networks)):
            if not ends or last > ends[-1]:
                begins.append(first)
                ends.append(last)
        return cls(re.compile("|".join(patterns)) if patterns else None, begins, ends)

    def matches(self, name: str, address: Address | None) -> bool:
        if self.hosts is not None and self.hosts.match(name):
            return True
        if address is None:
            return False
        place = (address.version, int(address))
        after = bisect_right(self.begins, place)
        return after > 0 and place <= self.ends[after - 1]


def _span(network: Network) -> tuple[tuple[int, int], tuple[int, int]]:
    version = network.version
    return (version, int(network.network_address)), (version, int(network.broadcast_address))


def groups_here() -> frozenset[str]:
    """The groups of this process."""
    return frozenset(_read_list(GROUPS))


def report_groups(_task: int) -> Iterator[dict[str, list[str]]]:
    """A task of `Engine.map_tasks` that tells the groups of its worker."""
    yield {"groups": sorted(groups_here())}


def source_addresses() -> dict[int, str]:
    """The addresses from which this process connects, by family. Raises ConfigError."""
    found: dict[int, str] = {}
    for text in _read_list(ADDRESSES):
        try:
            address = ipaddress.ip_address(text)
        except ValueError as error:
            raise _unusable(text, str(error)) from None
        is_v4 = isinstance(address, ipaddress.IPv4Address)
        family = socket.AF_INET if is_v4 else socket.AF_INET6
        if family in found:
            raise _unusable(text, "is the second address of its family")
        try:
            with socket.socket(family) as tried:
                tried.bind((text, 0))
        except OSError as error:
            why = f"{error.strerror or error} on {socket.gethostname()}".lower()
            raise _unusable(text, why) from None
        found[family] = text
    return found


def _unusable(text: str, why: str) -> ConfigError:
    remedy = "give an address of this machine, or one of each family, separated by a comma"
    return ConfigError(f"{ADDRESSES}={text}", why, remedy)


def _read_list(variable: str) -> Iterator[str]:
    return filter(None, map(str.strip, os.environ.get(variable, "").split(",")))
