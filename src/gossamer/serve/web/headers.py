"""The security headers of every response, errors included."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; "
    "img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    # Without it, browsers resolve the hosts of all links of a page that came over plain HTTP.
    "x-dns-prefetch-control": "off",
}


class Headers:
    """Adds HEADERS to every response, except those that the response sets itself."""

    def __init__(self, inner: ASGIApp) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                raw: list[Any] = list(message["headers"])
                own = {name for name, _ in raw}
                raw += [pair for pair in _RAW if pair[0] not in own]
                message = {**message, "headers": raw}
            await send(message)

        await self._inner(scope, receive, send_with_headers)


_RAW = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
