"""Expensive responses other than searches: few are computed at once, each is reused for a second.

They are computed in threads of the server process, which share its interpreter with the event loop
that dispatches searches. So each kind of response gets few threads, however many clients ask.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from cachetools import TTLCache
from starlette.concurrency import run_in_threadpool

from gossamer.serve.dispatch.fair_queue import FairQueue
from gossamer.serve.dispatch.single_flight import SingleFlight
from gossamer.serve.web.request_limits import client_of
from gossamer.serve.web.site_path import root_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.responses import Response

MAX_WAITING = 64
KEPT_S = 1.0
KEPT_BYTES = 4 << 20
"""Memory for the kept responses of one kind. Larger ones are computed for each request."""
_RESPONSE_BYTES = 1_000
"""Memory of a response without its body."""


class Guard:
    """Guards one kind of responses, whose name is on /metrics. Belongs to one event loop."""

    def __init__(
        self,
        kind: str,
        running: int = 1,
        kept_s: float = KEPT_S,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._turns = FairQueue(kind, running, MAX_WAITING)
        self._flights: SingleFlight[Response] = SingleFlight()
        self._kept: TTLCache[tuple[str, str, bytes], Response] = TTLCache(
            KEPT_BYTES, kept_s, clock, getsizeof=_size
        )

    def __call__(
        self, handler: Callable[[Request], Response]
    ) -> Callable[[Request], Awaitable[Response]]:
        """Make an async handler that waits for a turn and then calls `handler` in a thread.

        It raises Busy if too many requests wait.
        """

        async def guarded(request: Request) -> Response:
            scope = request.scope
            key = root_of(scope), scope["path"], scope["query_string"]
            kept = self._kept.get(key)
            if kept is not None:
                return kept
            return await self._flights.share(key, lambda: self._made(key, handler, request))

        return guarded

    async def _made(
        self, key: tuple[str, str, bytes], handler: Callable[[Request], Response], request: Request
    ) -> Response:
        async with self._turns.taken(client_of(request.scope)):
            answer = await run_in_threadpool(handler, request)
        if _size(answer) <= KEPT_BYTES:
            self._kept[key] = answer
        return answer


def _size(answer: Response) -> int:
    return len(answer.body) + _RESPONSE_BYTES
