"""Names to addresses: fetch.host_overrides first, then a cache, then DNS (`dns_client.py`).

`locate` looks a host's address up long before its turn, so that `resolve`, which aiohttp calls for
each new connection, finds it in the cache. Both share one cache and at most one look-up per name.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections import OrderedDict
from contextlib import nullcontext
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from aiohttp.abc import AbstractResolver, ResolveResult

from gossamer.config.own_hosts import Own
from gossamer.fetch.network.allowed_networks import ForbiddenAddress
from gossamer.fetch.network.dns_client import Dns, DnsResult
from gossamer.fetch.network.host_overrides import matching_pattern, parse_overrides
from gossamer.web.ip_addresses import parse_address, strip_port

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.config import FetchConfig
    from gossamer.fetch.network.allowed_networks import Networks

MIN_TTL_S = 30
"""Without it, a name with a TTL of 0 would be looked up again for each connection."""
MAX_TTL_S = 3_600
"""A server that moves must be found within the same round, whatever its TTL is."""
MAX_NAMES = 1 << 16
"""Names in the cache, of 600 bytes each: 40 MB."""
LOOKUPS = 64
"""Concurrent look-ups, of two queries each. More would overflow the DNS server's buffers."""
PREFETCHES = 48
"""How many of them `locate` may use, so that connections do not queue behind 20,000 hosts."""


class _CachedName(NamedTuple):
    found: DnsResult
    expires_s: float


class Resolver(AbstractResolver):
    """An asynchronous resolver with a cache. It opens on first use, in a running event loop.

    Invariants
      * At most one task looks a name up, and a caller's cancellation does not end it.
      * At most LOOKUPS look-ups run at once. At most MAX_NAMES names are cached; the least
        recently used is dropped first.
    `clock` is monotonic, in seconds. The constructor raises ConfigError.
    """

    def __init__(
        self,
        config: FetchConfig,
        networks: Networks,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._overrides = parse_overrides(config)
        self._networks = networks
        self._own = Own(config)
        self._clock = clock
        self._dns = Dns(config.nameservers, clock)
        self._known: OrderedDict[str, _CachedName] = OrderedDict()
        self._pending: dict[str, asyncio.Task[DnsResult]] = {}
        self._lookups = asyncio.Semaphore(LOOKUPS)
        self._prefetches = asyncio.Semaphore(PREFETCHES)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Raises OSError if the look-up fails, ForbiddenAddress if no address is allowed."""
        if (pattern := matching_pattern(host, self._overrides)) is not None:
            return [_result(host, *self._overrides[pattern])]
        found = await self._find(_name(host))
        if found.failure is not None:
            raise socket.gaierror(found.failure.code, f"{host}: {found.failure.text}")
        if self._own.names_in_full(host):
            self._networks.admit(found.addresses)
        usable = [address for address in found.addresses if self._networks.allows(address)]
        if not usable:
            raise ForbiddenAddress(found.addresses[0])
        results = [_result(host, address, port) for address in usable]
        if family != socket.AF_UNSPEC:
            results = [result for result in results if result["family"] == family]
        if not results:
            raise socket.gaierror(socket.EAI_ADDRFAMILY, f"{host}: no address of this family")
        return results

    async def locate(self, host: str) -> str | None:
        """The address at which a host (as in `pages`, maybe with a port) is contacted first.

        None if it has no allowed address. Never raises, except CancelledError.
        """
        name = strip_port(host)
        try:
            async with nullcontext() if self._needs_no_lookup(name) else self._prefetches:
                first, *_ = await self.resolve(name)
        except OSError:
            return None
        return first["host"] if self._networks.allows(first["host"]) else None

    async def close(self) -> None:
        """End all pending look-ups; they fail for every caller that waits."""
        await self._dns.close()
        await asyncio.gather(*self._pending.values())

    def _needs_no_lookup(self, host: str) -> bool:
        name = _name(host)
        return (
            name in self._pending
            or self._recall(name) is not None
            or matching_pattern(host, self._overrides) is not None
        )

    async def _find(self, name: str) -> DnsResult:
        if (found := self._recall(name)) is not None:
            return found
        if name not in self._pending:
            self._pending[name] = asyncio.create_task(self._look_up(name))
        return await asyncio.shield(self._pending[name])

    async def _look_up(self, name: str) -> DnsResult:
        try:
            async with self._lookups:
                found = await self._dns.look_up(name)
        finally:
            del self._pending[name]
        self._remember(name, found)
        return found

    def _recall(self, name: str) -> DnsResult | None:
        """The cached result of a name, marked as used now; an address is its own result."""
        known = self._known.get(name)
        if known is None:
            return DnsResult((name.strip("[]"),), inf) if parse_address(name) is not None else None
        if known.expires_s <= self._clock():
            return None
        self._known.move_to_end(name)
        return known.found

    def _remember(self, name: str, found: DnsResult) -> None:
        ttl_s = min(max(found.ttl_s, MIN_TTL_S), MAX_TTL_S)
        self._known[name] = _CachedName(found, self._clock() + ttl_s)
        self._known.move_to_end(name)
        if len(self._known) > MAX_NAMES:
            self._known.popitem(last=False)


def _name(host: str) -> str:
    """The cache key of a host: `A.example.` becomes `a.example`."""
    return host.lower().removesuffix(".")


def _result(host: str, address: str, port: int) -> ResolveResult:
    return ResolveResult(
        hostname=host,
        host=address,
        port=port,
        family=socket.AF_INET6 if ":" in address else socket.AF_INET,
        proto=socket.IPPROTO_TCP,
        flags=socket.AI_NUMERICHOST,
    )
