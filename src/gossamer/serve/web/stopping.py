"""What requests get that are still being answered when the server must stop.

uvicorn then cancels their tasks. It would log the traceback of each, whatever was waiting inside,
and answer with status 500. Here, a request is answered with status 503, or its connection is closed
if the response has begun.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from gossamer.serve.web.problem import RETRY, refusal_problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

STOPPING = HTTPException(503, "The server is stopping.", RETRY)


class Stopping:
    """Answers requests whose tasks are cancelled."""

    def __init__(self, inner: ASGIApp) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_begun = is_cancelled = False

        async def send_unless_cancelled(message: Message) -> None:
            nonlocal has_begun
            if not is_cancelled:  # tasks that the request has started may outlive it
                has_begun = True
                await send(message)

        try:
            await self._inner(scope, receive, send_unless_cancelled)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if scope["type"] != "http" or task is None or not task.cancelling():
                raise  # something else was cancelled, for which the request has waited
            is_cancelled = True
            if not has_begun:
                await refusal_problem(scope, STOPPING)(scope, receive, send)
