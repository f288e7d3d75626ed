"""The nodes that are there: resolves the names that list them, and collects their reports.

A name may have several addresses, like that of a headless service in Kubernetes: each of them is a
node. Servers and nodes both look, servers to route requests, nodes to place shards.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple

from gossamer.serve.cluster.replica import Replica

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from ssl import SSLContext

    from gossamer.search.messages import Report

MAX_NODES = 128
"""Further addresses are ignored. Every other node keeps a connection to a node, to ask for its
reports, and must leave some to servers (`server.MAX_CONNECTIONS`)."""
RESOLVE_S = 2.0
"""The pause before names are resolved again. One that then fails keeps its addresses."""
FIRST_S = 2.0
"""How long the first look waits for names to be resolved. Later ones do not wait."""
RESOLVING = 4
"""Threads that resolve names. A name server that is gone must not keep others waiting."""
STALE_S = 10.0
"""What an older report says no longer counts. Busy nodes are late, and those that fail are noticed
by other requests."""
GONE_S = 300.0
"""A node that gave no sign for so long has lost its place. A restart is faster."""
_log = logging.getLogger(__name__)


class _Heard(NamedTuple):
    report: Report
    at_s: float


class Members:
    """Belongs to one event loop. `replicas` holds the nodes that are listed now, by address."""

    def __init__(
        self,
        listed: Sequence[str],
        tls: SSLContext | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._tls = tls
        self._clock = clock
        self._addresses: dict[str, list[str]] = {name: [] for name in listed}
        self._resolving: asyncio.Task[list[list[str]]] | None = None
        self._resolve_at_s = 0.0
        self._resolvers = ThreadPoolExecutor(RESOLVING, "resolve")
        self._heard: dict[str, _Heard] = {}
        self._signs: dict[str, float] = {}
        self.replicas: dict[str, Replica] = {}

    async def look(self) -> None:
        """Ask all nodes for their reports, and wait until each has answered or failed to."""
        if self._resolving is None and self._clock() >= self._resolve_at_s:
            self._resolving = asyncio.create_task(self._resolve())
        if self._resolving is not None:
            await asyncio.wait([self._resolving], timeout=0 if self.replicas else FIRST_S)
            if self._resolving.done():
                self._adopt(self._resolving.result())
                self._resolving = None
                self._resolve_at_s = self._clock() + RESOLVE_S
        await asyncio.gather(*(self._probe(*each) for each in self.replicas.items()))

    def reports(self) -> dict[str, Report]:
        """The reports of healthy nodes, by address."""
        late_s = self._clock() - STALE_S
        return {
            address: self._heard[address].report
            for address, replica in self.replicas.items()
            if replica.well and address in self._heard and self._heard[address].at_s > late_s
        }

    def names(self) -> set[str]:
        """The names of the nodes that have a place. Until it reports one, a node's is its address.

        A node has a place if it gave a sign within GONE_S, or was listed only since then.
        """
        late_s = self._clock() - GONE_S
        self._signs = {name: at_s for name, at_s in self._signs.items() if at_s > late_s}
        return set(self._signs)

    def close(self) -> None:
        if self._resolving is not None:
            self._resolving.cancel()
        self._resolvers.shutdown(wait=False, cancel_futures=True)
        for replica in self.replicas.values():
            replica.close()

    async def _resolve(self) -> list[list[str]]:
        return await asyncio.gather(*map(self._addresses_of, self._addresses))

    async def _addresses_of(self, listed: str) -> list[str]:
        """The addresses of a name with a port; none if it cannot be resolved now."""
        host, _, port = listed.rpartition(":")
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(self._resolvers, _resolve, host.strip("[]"), port)
        except (OSError, UnicodeError):
            return []
        return [f"[{host}]:{port}" if ":" in host else f"{host}:{port}" for host in found]

    def _adopt(self, resolved: Sequence[list[str]]) -> None:
        self._addresses = {
            name: addresses or self._addresses[name]
            for name, addresses in zip(self._addresses, resolved, strict=True)
        }
        listed = {each: name for name, some in self._addresses.items() for each in some}
        if len(listed) > MAX_NODES:
            _log.warning("serve.nodes has %d addresses; %d are used", len(listed), MAX_NODES)
            listed = dict(sorted(listed.items())[:MAX_NODES])
        for address in self.replicas.keys() - listed.keys():
            self.replicas.pop(address).close()
            self._heard.pop(address, None)
        for address in listed.keys() - self.replicas.keys():
            host = listed[address].rpartition(":")[0].strip("[]")
            self.replicas[address] = Replica(address, self._tls, host, self._clock)
            self._signs[address] = self._clock()

    async def _probe(self, address: str, replica: Replica) -> None:
        report = await replica.probe()
        if report is not None and self.replicas.get(address) is replica:
            name = report.name or address
            if name != address:
                self._signs.pop(address, None)
            self._heard[address] = _Heard(report, self._clock())
            self._signs[name] = self._clock()


def _resolve(host: str, port: str) -> list[str]:
    return [str(at[0]) for *_, at in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
