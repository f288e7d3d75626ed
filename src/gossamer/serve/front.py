"""Dispatches searches from the event loop: to the cache, else to the search processes.

If no process answers, the server searches in its own process.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING

import msgspec

from gossamer.errors import StoreError
from gossamer.search.messages import Answered
from gossamer.serve.cache import Cache
from gossamer.serve.flights import Flights
from gossamer.serve.turns import ANYBODY, Busy, Turns

if TYPE_CHECKING:
    from gossamer.search.messages import Question
    from gossamer.search.results import Results
    from gossamer.search.searcher import Searcher
    from gossamer.serve.cluster.cluster import Cluster
    from gossamer.serve.reloader import Live

MAX_WAITING = 1_024
"""Searches that may wait for a process. Any more would wait for seconds."""
MAX_HEAVY_WAITING = 64
MAX_EXPLAINING = 1
MAX_EXPLAIN_WAITING = 8
HEAVY = "heavy search"
HERE = 2
"""Concurrent searches in the server process if no other process answers. Its threads share one
interpreter, so more would not be faster."""
HEAVY_WORDS = 8
HEAVY_LAST = 50
"""A query with more words, or for results beyond this one, may take a hundred times as long."""


class Front:
    """Belongs to one event loop and never blocks it: everything slow runs in threads or processes.

    Expensive searches may occupy half of the search processes; the other half stays free for the
    rest.
    """

    def __init__(self, live: Live, cluster: Cluster | None = None, cache_bytes: int = 0) -> None:
        self._live = live
        self._cluster = cluster
        self.cache = Cache(cache_bytes)
        self._flights: Flights[Answered] = Flights()
        turns = cluster.turns if cluster else HERE
        self._light = Turns("search", turns, MAX_WAITING, max(turns // 2, 1))
        self._heavy = Turns(HEAVY, cluster.spare if cluster else 1, MAX_HEAVY_WAITING)
        self._explaining = Turns("explain", MAX_EXPLAINING, MAX_EXPLAIN_WAITING)
        self._here = Turns("search", HERE, MAX_WAITING)

    async def pages(self) -> int | None:
        """The number of pages in the index, or None if there is no index yet. Raises StoreError."""
        searcher = await self._searcher()
        return None if searcher is None else searcher.pages

    async def search(self, question: Question, client: str = ANYBODY) -> Results:
        """Answer a question, from the cache if possible. Raises StoreError, Busy.

        `took_ms` is the time of this call, also for an answer from the cache.
        """
        started_s = time.perf_counter()
        searcher = await self._opened()
        if question.language not in searcher.languages:  # so it makes no difference to the answer
            question = msgspec.structs.replace(question, language="")
        known = self.cache.find(searcher.state, question)
        if known is not None:
            took_ms = round((time.perf_counter() - started_s) * 1000, 1)
            return msgspec.structs.replace(known, took_ms=took_ms)
        if not self.cache.max_bytes:  # without a cache, identical searches are not shared either
            return (await self._answer(searcher, question, client)).results
        found = await self._flights.share(
            (searcher.state, question), lambda: self._kept(searcher, question, client)
        )
        return found.results

    async def complete(self, text: str, client: str = ANYBODY, limit: int = 8) -> list[str]:
        """Complete a query that is being typed. Raises StoreError, Busy."""
        searcher = await self._opened()
        async with self._light.taken(client):
            completions = await self._cluster.complete(text, limit) if self._cluster else None
            if completions is None:
                async with self._here.taken(client):
                    return await asyncio.to_thread(searcher.complete, text, limit)
            return completions

    async def _kept(self, searcher: Searcher, question: Question, client: str) -> Answered:
        """Answer a question, and cache the answer before the computation stops being shared."""
        answered = await self._answer(searcher, question, client)
        self.cache.keep(answered.state, question, answered.results)
        return answered

    async def _answer(self, searcher: Searcher, question: Question, client: str) -> Answered:
        heavy = is_heavy(question)
        explaining = self._explaining.taken(client) if question.explain else nullcontext()
        async with explaining, (self._heavy if heavy else self._light).taken(client):
            if self._cluster and (answered := await self._cluster.answer(question, heavy=heavy)):
                return answered
            if heavy and self._cluster and self._cluster.is_well:
                raise Busy(HEAVY)  # it took too long there and would take longer here
            async with self._here.taken(client):
                return Answered(searcher.state, await asyncio.to_thread(searcher.answer, question))

    async def _opened(self) -> Searcher:
        searcher = await self._searcher()
        if searcher is None:
            root = self._live.root
            raise StoreError(root, "has no index yet", f"build it: gossamer index {root}")
        return searcher

    async def _searcher(self) -> Searcher | None:
        live = self._live
        return await asyncio.to_thread(live.searcher) if live.is_due else live.searcher()


def is_heavy(question: Question) -> bool:
    """Whether a search may take many times as long as most, judging by the question."""
    return (
        question.explain
        or question.offset + question.limit > HEAVY_LAST
        or len(question.query.split()) > HEAVY_WORDS
        or "related:" in question.query.lower()
    )
