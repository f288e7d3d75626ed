"""Lets pages of other sites read the API in their visitors' browsers (Fetch, section 3.2).

Only GET requests without credentials are allowed, and only to /api/: a preflight request is
answered like any other request, and so forbids what it asks for. Nothing of a visitor can leak by
it, as the API knows no visitors. But pages of any site could read a server that only its visitors
can reach, so the setting `serve.origins` names the sites.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.serve.web.site_path import route_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

ANY = "*"
READABLE = "/api/"


class Cors:
    """Adds Access-Control-Allow-Origin to answers of the API for pages of these origins."""

    def __init__(self, inner: ASGIApp, origins: Collection[str]) -> None:
        self._inner = inner
        self._origins = frozenset(origin.encode() for origin in origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self._origins or scope["type"] != "http" or not self._is_readable(scope):
            await self._inner(scope, receive, send)
            return
        added = [(b"vary", b"Origin")]
        if (allowed := self._allowed(scope)) is not None:
            added.append((b"access-control-allow-origin", allowed))

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        await self._inner(scope, receive, send_with_headers)

    def _is_readable(self, scope: Scope) -> bool:
        return scope["method"] in ("GET", "HEAD") and route_of(scope).startswith(READABLE)

    def _allowed(self, scope: Scope) -> bytes | None:
        """The origin that may read the answer, or None."""
        if ANY.encode() in self._origins:
            return ANY.encode()
        asking = [value for name, value in scope["headers"] if name == b"origin"]
        return asking[0] if len(asking) == 1 and asking[0] in self._origins else None
