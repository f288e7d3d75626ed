"""Dispatches searches from the event loop: to the cache, else to the search processes.

If no process of this machine answers, the server searches in its own process. Where nodes on other
machines search, the server does not open the index, which may be larger than its machine.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import nullcontext
from math import inf
from typing import TYPE_CHECKING

import msgspec

from gossamer.errors import StoreError
from gossamer.search.languages import preferable
from gossamer.search.messages import Answered
from gossamer.search.query import parse
from gossamer.search.query_cost import HEAVY_TERMS, first_terms, query_terms
from gossamer.search.searcher import not_indexed
from gossamer.serve.cluster.cover import Cover
from gossamer.serve.cluster.group import TOO_LITTLE_S
from gossamer.serve.cluster.nodes import Nodes
from gossamer.serve.dispatch.cache import Cache
from gossamer.serve.dispatch.fair_queue import ANYBODY, Busy, FairQueue
from gossamer.serve.dispatch.single_flight import SingleFlight

if TYPE_CHECKING:
    from gossamer.search.messages import Question
    from gossamer.search.results import Results
    from gossamer.search.searcher import Searcher
    from gossamer.search.synonyms import Synonyms
    from gossamer.serve.cluster.cluster import Cluster
    from gossamer.serve.dispatch.reloader import OpenIndex

MAX_WAITING = 1_024
"""Searches that may wait for a process. Any more would wait for seconds."""
MAX_HEAVY_WAITING = 64
MAX_EXPLAINING = 1
MAX_EXPLAIN_WAITING = 8
HEAVY = "heavy search"
HERE = 2
"""Concurrent searches in the server process if no other process answers. Its threads share one
interpreter, so more would not be faster."""
NODES = "serve.nodes"
REMEDY = "see whether `gossamer node` runs on all of them: docs/operating.md"
LATE = "late search"
HEAVY_LAST = 50
"""A search for results beyond this one may take many times as long as most."""


class Dispatcher:
    """Belongs to one event loop and never blocks it: everything slow runs in threads or processes.

    Expensive searches may occupy half of the search processes; the other half stays free for the
    rest.
    """

    def __init__(
        self,
        index: OpenIndex | Nodes,
        cluster: Cluster | None = None,
        cache_bytes: int = 0,
        synonyms: Synonyms | None = None,
    ) -> None:
        """`cluster`: processes of this machine that search the index before this one does."""
        self._index = index
        self._synonyms = synonyms
        self._elsewhere = index if isinstance(index, Nodes) else cluster
        self.cache = Cache(cache_bytes)
        self._flights: SingleFlight[Answered] = SingleFlight()
        self._light = FairQueue("search", HERE, MAX_WAITING)
        self._heavy = FairQueue(HEAVY, 1, MAX_HEAVY_WAITING)
        self._divide_turns()
        self._explaining = FairQueue("explain", MAX_EXPLAINING, MAX_EXPLAIN_WAITING)
        self._here = FairQueue("search", HERE, MAX_WAITING)

    def _divide_turns(self) -> None:
        """Allow as many searches as there are processes for, which changes with the nodes."""
        turns = self._elsewhere.turns if self._elsewhere else HERE
        self._light.allow(turns, max(turns // 2, 1))
        self._heavy.allow(self._elsewhere.spare if self._elsewhere else 1)

    def opened(self) -> Searcher | Cover | None:
        """The index that answers at this moment, or None if there is none yet. May read files.

        Raises StoreError.
        """
        index = self._index
        return index.cover if isinstance(index, Nodes) else index.searcher()

    async def pages(self) -> int | None:
        """The number of pages in the index, or None if there is no index yet. Raises StoreError."""
        index = await self._look()
        return None if index is None else index.pages

    async def search(self, question: Question, client: str = ANYBODY) -> Results:
        """Answer a question, from the cache if possible. Raises StoreError, Busy.

        `took_ms` is the time of this call, also for an answer from the cache.
        """
        started_s = time.perf_counter()
        index = await self._present()
        # Users of languages without pages get the same answer, from the cache.
        language = preferable(question.language, index.languages)
        if language != question.language:
            question = msgspec.structs.replace(question, language=language)
        if self._synonyms:  # so that no answer with others is found in the cache
            question = msgspec.structs.replace(question, synonyms=self._synonyms.version)
        known = self.cache.find(index.state, question)
        if known is not None:
            took_ms = round((time.perf_counter() - started_s) * 1000, 1)
            return msgspec.structs.replace(known, took_ms=took_ms)
        if not self.cache.max_bytes:  # without a cache, identical searches are not shared either
            return (await self._answer(question, client)).results
        found = await self._flights.share(
            (index.state, question), lambda: self._kept(question, client)
        )
        return found.results

    async def complete(self, text: str, client: str = ANYBODY, limit: int = 8) -> list[str]:
        """Complete a query that is being typed. Raises StoreError, Busy."""
        await self._present()
        self._divide_turns()
        async with self._light.taken(client):
            if self._elsewhere:
                began_s = time.monotonic()
                completions = await self._elsewhere.complete(text, limit)
                if completions is not None:
                    return completions
                self._refuse_late(began_s)
            searcher = await self._searcher()
            async with self._here.taken(client):
                return await asyncio.to_thread(searcher.complete, text, limit)

    async def _kept(self, question: Question, client: str) -> Answered:
        """Answer a question, and cache the answer before the computation stops being shared."""
        answered = await self._answer(question, client)
        self.cache.keep(answered.state, question, answered.results)
        return answered

    async def _answer(self, question: Question, client: str) -> Answered:
        heavy = is_heavy(question)
        explaining = self._explaining.taken(client) if question.explain else nullcontext()
        self._divide_turns()
        async with explaining, (self._heavy if heavy else self._light).taken(client):
            if self._elsewhere:
                began_s = time.monotonic()
                answered = await self._elsewhere.answer(question, heavy=heavy)
                if answered is not None:
                    return answered
                self._refuse_late(began_s, heavy=heavy)
            searcher = await self._searcher()
            async with self._here.taken(client):
                until_s = time.monotonic() + self._elsewhere.deadline_s if self._elsewhere else inf
                try:
                    results = await asyncio.to_thread(searcher.answer, question, until_s)
                except TimeoutError:
                    raise Busy(HEAVY if heavy else LATE) from None
                return Answered(searcher.state, results)

    def _refuse_late(self, began_s: float, *, heavy: bool = False) -> None:
        """Refuse what missed its deadline elsewhere: here, it would take longer. Raises Busy.

        What failed sooner is answered here: no process runs, or each of them refused it.
        """
        took_s = time.monotonic() - began_s
        if self._elsewhere and took_s >= self._elsewhere.deadline_s - TOO_LITTLE_S:
            raise Busy(HEAVY if heavy else LATE)

    async def _present(self) -> Searcher | Cover:
        """The index that answers at this moment. Raises StoreError."""
        index = await self._look()
        if index is not None:
            return index
        if isinstance(self._index, Nodes):
            raise StoreError(NODES, "no node has an index open", REMEDY)
        raise not_indexed(self._index.root)

    async def _look(self) -> Searcher | Cover | None:
        reads = not isinstance(self._index, Nodes) and self._index.is_due
        return await asyncio.to_thread(self.opened) if reads else self.opened()

    async def _searcher(self) -> Searcher:
        """The index in this process, if nobody elsewhere answers. Raises StoreError."""
        index = await self._present()
        if isinstance(index, Cover):
            raise StoreError(NODES, "no node answered in time", REMEDY)
        return index


def is_heavy(question: Question) -> bool:
    """Whether a search may take many times as long as most."""
    return (
        question.explain
        or question.offset + question.limit > HEAVY_LAST
        or query_terms(first_terms(parse(question.query))) > HEAVY_TERMS
        or "related:" in question.query.lower()
    )
