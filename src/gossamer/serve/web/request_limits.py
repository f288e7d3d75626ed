"""Bounds the length of URLs and the number of concurrent requests per client."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from gossamer.serve.dispatch.fair_queue import ANYBODY
from gossamer.serve.web.problem import RETRY, refusal_problem

if TYPE_CHECKING:
    from collections.abc import MutableMapping
    from typing import Any

    from starlette.types import ASGIApp, Receive, Scope, Send

    from gossamer.serve.web.clients import Clients

MAX_URL_BYTES = 16_384
"""Path and query, as sent. The longest query, 1,000 characters, takes up to 12,000 bytes when
percent-encoded."""
_KEY = "gossamer.client"


def client_of(scope: MutableMapping[str, Any]) -> str:
    """The client of a request that Limits has admitted."""
    client: str = scope.get(_KEY, ANYBODY)
    return client


class Limits:
    """Refuses requests before a handler sees them, and records the client of the others.

    Invariant: `_open` counts the requests inside `inner` by client and holds no zeros. A request is
    open until its response is sent.
    """

    def __init__(
        self, inner: ASGIApp, clients: Clients, per_client: int, refused: Counter[str]
    ) -> None:
        """With `per_client` 0, the number of requests per client is not limited."""
        self._inner = inner
        self._clients = clients
        self._per_client = per_client
        self._refused = refused
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        host, _ = scope.get("client") or (None, 0)
        client = scope[_KEY] = self._clients.of(host) if host else ANYBODY
        if (error := self._refusal(scope, client)) is not None:
            await refusal_problem(scope, error)(scope, receive, send)
            return
        self._open[client] += 1
        try:
            await self._inner(scope, receive, send)
        finally:
            self._open[client] -= 1
            if not self._open[client]:
                del self._open[client]

    def _refusal(self, scope: Scope, client: str) -> HTTPException | None:
        path = scope.get("raw_path") or scope["path"].encode()
        if len(path) + len(scope["query_string"]) > MAX_URL_BYTES:
            return HTTPException(414, f"the URL may have at most {MAX_URL_BYTES} bytes")
        if self._per_client and client != ANYBODY and self._open[client] >= self._per_client:
            self._refused["address"] += 1
            return HTTPException(
                429, f"at most {self._per_client} concurrent requests from one address", RETRY
            )
        return None
