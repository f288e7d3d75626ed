"""One request begins at a time, fairly between clients."""

from __future__ import annotations

import asyncio
import threading
from contextlib import ExitStack
from functools import partial
from typing import TYPE_CHECKING

import pytest
from starlette.responses import PlainTextResponse

from gossamer.serve.web import turns
from gossamer.serve.web.clients import Clients
from tests.support.counted_names import CountedName, counted_names
from tests.support.served_application import PATIENCE_S, get, listening, read

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

CONNECTIONS, AHEAD = 40, 50


def test_the_client_whose_turn_was_longest_ago_is_next(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "MAX_KEPT", 3)
    begun: list[str] = []

    async def run() -> None:
        queue = turns.Turns()
        for client in "aaabcab":
            queue.take(client, partial(begun.append, client))
        assert begun == ["a"]
        for number in range(2, 8):
            for _ in range(turns.REST):
                assert len(begun) == number - 1
                await asyncio.sleep(0)
            if number == 4:
                queue.take("d", partial(begun.append, "d"))
        for _ in range(2 * turns.REST):
            await asyncio.sleep(0)
        queue.take("e", partial(begun.append, "e"))

    asyncio.run(run())
    assert begun == [*"abcadbaa", "e"]


def test_a_turn_costs_the_same_however_many_clients_wait() -> None:
    async def lookups_per_turn(clients: int) -> float:
        queue, begun = turns.Turns(), asyncio.Event()
        for client in counted_names(clients):
            queue.take(client, lambda: None)
        queue.take("the last one", begun.set)
        await begun.wait()
        return CountedName.lookups / clients

    few, many = (asyncio.run(lookups_per_turn(clients)) for clients in (20, 100))
    assert many < 1.5 * few


@pytest.mark.server
def test_pipelined_requests_of_many_connections_do_not_starve_others() -> None:
    """The event loop stands still until all have sent their requests."""
    sent = threading.Event()
    begun: list[str] = []

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        if not begun:
            sent.wait(PATIENCE_S)
        begun.append(scope["path"])
        await PlainTextResponse(scope["path"])(scope, receive, send)

    with listening(answer, clients=Clients(())) as site, ExitStack() as stack:
        for _ in range(CONNECTIONS):
            stranger = stack.enter_context(site.connected("127.0.0.2"))
            stranger.sendall(get("/pipelined") * AHEAD)
        other = stack.enter_context(site.connected("127.0.0.3"))
        other.sendall(get("/other"))
        sent.set()
        assert read(other, b"/other").endswith(b"\r\n\r\n/other")
    assert begun.index("/other") <= CONNECTIONS // 4
