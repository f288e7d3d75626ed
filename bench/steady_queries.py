"""A client that sends so many queries a second to a search page, however long the answers take.

It runs in a process of its own. Each query comes from another visitor, with a connection of its
own. The time of an answer counts from the moment at which its query was due, so a server that
stands still is seen by all queries that come meanwhile.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import time
from typing import TYPE_CHECKING, NamedTuple

import uvloop
from serve import ask, client_address

if TYPE_CHECKING:
    from collections.abc import Sequence
    from multiprocessing.connection import Connection
    from multiprocessing.context import SpawnProcess

PATIENCE_S = 10.0
VISITORS = 200


class Asked(NamedTuple):
    due_s: float
    """Unix time."""
    took_s: float
    outcome: str
    """The status, "partial" if a part of the index was missing, or the name of an error."""


class SteadyQueries:
    """Sends the queries, one after the other and then again, until they are ended."""

    def __init__(self, port: int, queries: Sequence[str], per_s: float) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._line, theirs = spawn.Pipe()
        arguments = (port, queries, per_s, theirs)
        self.process: SpawnProcess = spawn.Process(target=_run, args=arguments, daemon=True)
        self.process.start()
        theirs.close()

    def ended(self) -> list[Asked]:
        """End, and return what was asked."""
        self._line.send("end")
        asked: list[Asked] = self._line.recv()
        self.process.join()
        return asked


def _run(port: int, queries: Sequence[str], per_s: float, line: Connection) -> None:
    line.send(uvloop.run(_ask_until_told(port, queries, per_s, line)))


async def _ask_until_told(
    port: int, queries: Sequence[str], per_s: float, line: Connection
) -> list[Asked]:
    told = asyncio.Event()
    asyncio.get_running_loop().add_reader(line.fileno(), told.set)
    running: list[asyncio.Task[Asked]] = []
    began_s = time.time()
    while not told.is_set():
        number = len(running)
        due_s = began_s + number / per_s
        await asyncio.sleep(due_s - time.time())
        query = queries[number % len(queries)]
        running.append(asyncio.create_task(_asked(port, number, query, due_s)))
    return await asyncio.gather(*running)


async def _asked(port: int, number: int, query: str, due_s: float) -> Asked:
    host = "127.0.0.1"
    opened = None
    try:
        async with asyncio.timeout(PATIENCE_S):
            address = client_address(number % VISITORS), 0
            opened = await asyncio.open_connection(host, port, local_addr=address)
            status, is_partial = await ask(opened, host, query)
        outcome = "partial" if is_partial and status == "200" else status
    except (OSError, asyncio.IncompleteReadError) as error:
        outcome = type(error).__name__
    if opened is not None:
        opened[1].close()
    return Asked(due_s, time.time() - due_s, outcome)
