"""What a request may be, and how many searches may wait for an answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from gossamer.serve.web.problem import refusal

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

MAX_URL_BYTES = 16_384
"""Path and query, as sent. The 1,000 characters of a query that count take 12,000, escaped."""
MAX_SEARCHES = 1_024
"""That are made or wait for a thread. More would wait for seconds, and so would every page."""
SEARCHES = frozenset(("/search", "/api/search", "/api/complete", "/suggest"))
RETRY_AFTER_S = 1


class Limits:
    """Refuses what no handler shall see.

    Invariant: `_searches` are on their way through `inner`. All of this happens on one event
    loop, beside the threads that handlers run in, so that what waits for a thread counts, too.
    """

    def __init__(self, inner: ASGIApp) -> None:
        self._inner = inner
        self._searches = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
        elif (refused := self._refused(scope)) is not None:
            await refusal(scope["path"], refused)(scope, receive, send)
        elif scope["path"] in SEARCHES:
            self._searches += 1
            try:
                await self._inner(scope, receive, send)
            finally:
                self._searches -= 1
        else:
            await self._inner(scope, receive, send)

    def _refused(self, scope: Scope) -> HTTPException | None:
        path = scope.get("raw_path") or scope["path"].encode()
        if len(path) + len(scope["query_string"]) > MAX_URL_BYTES:
            return HTTPException(414, f"at most {MAX_URL_BYTES} bytes of URL")
        if scope["path"] in SEARCHES and self._searches >= MAX_SEARCHES:
            later = {"retry-after": str(RETRY_AFTER_S)}
            return HTTPException(503, "too many searches at a time", later)
        return None
