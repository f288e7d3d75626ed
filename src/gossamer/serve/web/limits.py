"""What a request may be, and how many searches may go on at a time."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from gossamer.serve.web.problem import refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.types import ASGIApp, Receive, Scope, Send

MAX_URL_BYTES = 16_384
"""Path and query, as sent. The 1,000 characters of a query that count take 12,000, escaped."""
MAX_WAITING = 64
"""Searches that are being made or wait for their turn. More would wait for seconds, and hold the
threads that all answers are made in."""
RETRY_AFTER_S = 1


class Limits:
    """Refuses what no handler shall see: URLs without end."""

    def __init__(self, inner: ASGIApp) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer = self._inner
        if scope["type"] == "http":
            path = scope.get("raw_path") or scope["path"].encode()
            if len(path) + len(scope["query_string"]) > MAX_URL_BYTES:
                answer = refusal(
                    scope["path"], HTTPException(414, f"at most {MAX_URL_BYTES} bytes of URL")
                )
        await answer(scope, receive, send)


class Turns:
    """Lets `most` in at a time, and tells others to come again."""

    def __init__(self, most: int = MAX_WAITING) -> None:
        self._free = threading.Semaphore(most)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Raises HTTPException (503) where all turns are taken."""
        if not self._free.acquire(blocking=False):
            raise HTTPException(
                503, "too many searches at a time", {"retry-after": str(RETRY_AFTER_S)}
            )
        try:
            yield
        finally:
            self._free.release()
