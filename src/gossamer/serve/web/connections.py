"""Bounds the open connections of the server and of each client.

Beyond the bound, a new connection replaces the one that has been idle longest, of the client with
the most connections. If none is idle, the new one is refused.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Protocol

from gossamer.serve.dispatch.fair_queue import ANYBODY
from gossamer.serve.web.turns import Turns

if TYPE_CHECKING:
    from gossamer.serve.web.clients import Clients

MAX_CONNECTIONS = 2_048
"""Each takes about 30 kB."""
CLIENT_SHARE = 8
"""One client may have one eighth of all connections."""


class Connection(Protocol):
    def drop(self) -> None: ...


class Connections:
    """Belongs to one event loop.

    Invariants: `_clients` maps every open connection to its client, `_count` holds the number of
    connections per client, and `_idle` those that wait for a request, by client, the one that has
    waited longest first.
    """

    def __init__(
        self, clients: Clients, refused: Counter[str], limit: int = MAX_CONNECTIONS
    ) -> None:
        self.refused = refused
        self.turns = Turns()
        self._names = clients
        self._limit = limit
        self._clients: dict[Connection, str] = {}
        self._count: Counter[str] = Counter()
        self._idle: dict[str, dict[Connection, None]] = {}

    def __len__(self) -> int:
        return len(self._clients)

    def enter(self, connection: Connection, host: str | None) -> bool:
        """Admit a new connection, dropping an idle one if necessary; return whether it may stay."""
        client = self._names.of(host) if host else ANYBODY
        if client != ANYBODY and self._count[client] >= max(self._limit // CLIENT_SHARE, 1):
            over_limit = [client]
        elif len(self._clients) >= self._limit:
            over_limit = [name for name, _ in self._count.most_common()]
        else:
            over_limit = None
        if over_limit is not None and not self._drop_one(over_limit):
            self.refused["connection"] += 1
            return False
        self._clients[connection] = client
        self._count[client] += 1
        self.idle(connection)
        return True

    def _drop_one(self, clients: list[str]) -> bool:
        """Drop the longest idle connection of the first client that has one; return success."""
        for client in clients:
            for oldest in self._idle.get(client, ()):
                self.refused["idle connection"] += 1
                self.leave(oldest)
                oldest.drop()
                return True
        return False

    def client_of(self, connection: Connection) -> str:
        return self._clients.get(connection, ANYBODY)

    def idle(self, connection: Connection) -> None:
        """Note that a connection waits for a request from now on."""
        if (client := self._clients.get(connection)) is not None:
            self._idle.setdefault(client, {})[connection] = None

    def busy(self, connection: Connection) -> None:
        """Note that a connection has sent a request."""
        if (client := self._clients.get(connection)) is not None:
            self._take(client, connection)

    def leave(self, connection: Connection) -> None:
        """Forget a connection that is closed, or about to be. May be called more than once."""
        if (client := self._clients.pop(connection, None)) is not None:
            self._take(client, connection)
            self._count[client] -= 1
            if not self._count[client]:
                del self._count[client]

    def _take(self, client: str, connection: Connection) -> None:
        waiting = self._idle.get(client, {})
        waiting.pop(connection, None)
        if not waiting:
            self._idle.pop(client, None)
