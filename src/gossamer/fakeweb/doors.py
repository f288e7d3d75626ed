"""Ports of their own for hosts that misbehave before a request can name them.

Facts (Linux): a bound socket that does not listen refuses connections, and keeps its port from
others. A listening one whose queue is full drops the client's SYN without a word
(tcp_abort_on_overflow is off by default), so that connecting takes until the client gives up.
"""

from __future__ import annotations

import socket
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from gossamer.fakeweb.hostile.act import Act
from gossamer.fakeweb.hostile.case import Ask, Door

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator, Callable, Iterable

    from gossamer.fakeweb.hostile.case import Case

FILLERS = 4  # a queue of length 0 takes one or two, as the kernel rounds it


@asynccontextmanager
async def open_doors(
    cases: Iterable[Case],
    address: str,
    greeter: Callable[[str, Act], asyncio.Protocol],
    loop: asyncio.AbstractEventLoop,
) -> AsyncIterator[dict[str, str]]:
    """Host name to address:port, of each case that has a door.

    `greeter` makes the protocol of a connection at once: of the host's name, and of what it does.
    """
    routes: dict[str, str] = {}
    async with AsyncExitStack() as stack:
        for case in cases:
            if case.door is None:
                continue
            bound = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
            bound.bind((address, 0))
            routes[case.host] = f"{address}:{bound.getsockname()[1]}"
            if case.door is Door.FULL:
                _fill(bound, stack)
            elif case.door is Door.OPEN:
                act = case.reply(Ask(0, 0.0, case.host, "/", {}))
                assert isinstance(act, Act)  # noqa: S101 - no request, so no Answer
                greeting = partial(greeter, case.host, act)
                server = await loop.create_server(greeting, sock=bound)
                stack.callback(server.close)
        yield routes


def _fill(bound: socket.socket, stack: AsyncExitStack) -> None:
    bound.listen(0)
    for _ in range(FILLERS):
        filler = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
        filler.setblocking(False)
        filler.connect_ex(bound.getsockname())
