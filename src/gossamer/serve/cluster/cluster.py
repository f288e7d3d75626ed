"""The search processes of this machine: sends them questions under a deadline.

Each of them holds the whole index, and runs a broker of its own.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from gossamer.search.messages import Answered, Suggest, Suggested
from gossamer.serve.cluster.group import Group
from gossamer.serve.cluster.replica import Replica

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from gossamer.search.messages import Question

WATCH_S = 0.25


class Cluster:
    """Processes by their addresses: `host:port`, or `unix:` and a path."""

    def __init__(self, addresses: Sequence[str], deadline_s: float) -> None:
        self._group = Group([Replica(address) for address in addresses])
        self.deadline_s = deadline_s

    @property
    def turns(self) -> int:
        """How many searches can be sent to the processes at once (`AHEAD` to each)."""
        return self._group.turns

    @property
    def spare(self) -> int:
        """The number of processes that expensive searches may occupy: half, but at least one."""
        return max(len(self._group.replicas) // 2, 1)

    async def answer(self, question: Question, *, heavy: bool = False) -> Answered | None:
        """Answer a question, or return None if no process did in time.

        A `heavy` question makes others prefer another process. It does not mark a process as
        failed when it is late.
        """
        found = await self._group.ask(question, self.deadline_s, heavy=heavy)
        return found if isinstance(found, Answered) else None

    async def complete(self, text: str, limit: int) -> list[str] | None:
        found = await self._group.ask(Suggest(text, limit), self.deadline_s)
        return found.completions if isinstance(found, Suggested) else None

    def health(self) -> Iterator[tuple[str, str, bool]]:
        """Yield a group, the address and the health of each process."""
        for replica in self._group.replicas:
            yield "0", replica.address, replica.well

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[None]:
        """Probe failed processes during the `with` block, and close all connections at its end."""
        watching = asyncio.create_task(self._probe_forever())
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.wait([watching])
            for replica in self._group.replicas:
                replica.close()

    async def _probe_forever(self) -> None:
        while True:
            await asyncio.gather(*(replica.revive() for replica in self._group.replicas))
            await asyncio.sleep(WATCH_S)
