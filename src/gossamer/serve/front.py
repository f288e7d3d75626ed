"""Who answers a search: the processes of a cluster, or, where there is none, this one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from gossamer.serve.messages import Answered

if TYPE_CHECKING:
    from gossamer.serve.cluster.cluster import Cluster
    from gossamer.serve.live import Live
    from gossamer.serve.messages import Question
    from gossamer.serve.search import Searcher


class Front:
    """Belongs to an event loop, and keeps it free: what takes time is done in threads.

    Where no process answers at all, this one does: nobody is turned away while they start.
    """

    def __init__(self, live: Live, cluster: Cluster | None = None) -> None:
        self._live = live
        self._cluster = cluster

    async def searcher(self) -> Searcher | None:
        """That of this process. None: there is no index yet. Raises StoreError."""
        live = self._live
        return await asyncio.to_thread(live.searcher) if live.is_due else live.searcher()

    async def answer(self, searcher: Searcher, question: Question) -> Answered:
        if self._cluster and (answered := await self._cluster.answer(question)):
            return answered
        return Answered(searcher.state, await asyncio.to_thread(searcher.answer, question))

    async def complete(self, searcher: Searcher, text: str, limit: int = 8) -> list[str]:
        completions = await self._cluster.complete(text, limit) if self._cluster else None
        if completions is None:
            return await asyncio.to_thread(searcher.complete, text, limit)
        return completions
