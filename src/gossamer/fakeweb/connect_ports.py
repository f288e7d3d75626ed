"""One port for each host that misbehaves before a request can name it.

Facts (Linux): a bound socket that does not listen refuses connections and reserves its port. A
listening socket whose queue is full silently drops the client's SYN (tcp_abort_on_overflow is off
by default), so the client waits until its own timeout.
"""

from __future__ import annotations

import socket
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from gossamer.fakeweb.hostile.act import Act
from gossamer.fakeweb.hostile.case import Ask, ConnectPort

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator, Callable, Iterable

    from gossamer.fakeweb.hostile.case import Case

FILLERS = 4  # connections that fill a queue of length 0, which the kernel rounds up to one or two


@asynccontextmanager
async def open_connect_ports(
    cases: Iterable[Case],
    address: str,
    greeter: Callable[[str, Act], asyncio.Protocol],
    loop: asyncio.AbstractEventLoop,
) -> AsyncIterator[dict[str, str]]:
    """Open the ports, and yield address:port by host name for each case that has its own port.

    `greeter` builds the protocol of a new connection from the host's name and its act.
    """
    routes: dict[str, str] = {}
    async with AsyncExitStack() as stack:
        for case in cases:
            if case.connect_port is None:
                continue
            bound = stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_STREAM))
            bound.bind((address, 0))
            routes[case.host] = f"{address}:{bound.getsockname()[1]}"
            if case.connect_port is ConnectPort.FULL:
                _fill(bound, stack)
            elif case.connect_port is ConnectPort.OPEN:
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
