"""The nodes of other machines: sends them questions under a deadline, through the broker.

What the nodes report decides who is asked (`cover.py`). If one node has all shards, a question goes
to it unchanged. Otherwise the broker sends its requests to all parts of the index at once, step by
step. A part of which no node replies within the deadline of a step is left out.

A question whose nodes fail, or have dropped the state that it is about, is asked again from the
start, if other nodes can answer it more completely.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar, get_args

from gossamer.search.broker import Broker
from gossamer.search.messages import Answered, Directed, Reply, Suggest, Suggested
from gossamer.search.page_filters import page_facts
from gossamer.search.query_text import effective_query
from gossamer.search.synonyms import expansion, unexpanded
from gossamer.serve.cluster.cover import Cover, best_cover
from gossamer.serve.cluster.group import AHEAD, Group
from gossamer.serve.cluster.members import Members
from gossamer.serve.dispatch.single_flight import SingleFlight

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
    from ssl import SSLContext

    from gossamer.config import RankingConfig
    from gossamer.search.messages import AnyReply, IndexRequest, Question, Request, RequestGenerator
    from gossamer.search.page_filters import CrawlView
    from gossamer.search.synonyms import Synonyms

_T = TypeVar("_T")
LOOK_S = 0.25
AGAIN = 2
"""How often a question is asked again."""
REPLIES = get_args(Reply)


class _Parts:
    """The parts of a cover, as groups of processes. What is missing is a group of none."""

    def __init__(self, cover: Cover, members: Members, before: _Parts | None) -> None:
        """Groups that stay the same keep their turns."""
        self.cover = cover
        known = before.groups if before else {}
        self.groups: dict[tuple[int, ...], Group] = {}
        for shards, holders in cover.parts:
            replicas = tuple(members.replicas[each] for each in holders)
            group = known.get(shards)
            same = group is not None and group.replicas == replicas
            self.groups[shards] = group if group and same else Group(replicas)
        self.count = len(self.groups) + bool(cover.missing)

    @property
    def is_one(self) -> bool:
        """Whether each process has all shards."""
        return self.count == 1

    async def ask_one(
        self, request: IndexRequest, deadline_s: float, *, heavy: bool = False
    ) -> AnyReply | None:
        ((shards, group),) = self.groups.items()
        directed = Directed(self.cover.state, shards, request)
        return await group.ask(directed, deadline_s, heavy=heavy)

    async def drive(
        self, asking: RequestGenerator[_T], deadline_s: float, *, heavy: bool = False
    ) -> tuple[_T, bool]:
        """What the broker makes of the replies, and whether all parts that there are replied."""
        is_whole = True
        try:
            requests = next(asking)
            while True:
                replies = await self._ask(requests, deadline_s, heavy=heavy)
                is_whole = is_whole and all(
                    number in replies for number in requests if number < len(self.groups)
                )
                requests = asking.send(replies)
        except StopIteration as done:
            return done.value, is_whole

    async def _ask(
        self, requests: Mapping[int, Request], deadline_s: float, *, heavy: bool
    ) -> dict[int, Reply]:
        """The replies that came in time, by part. The broker continues without the others."""
        groups = list(self.groups.items())
        asked = {number: each for number, each in requests.items() if number < len(groups)}
        outcomes = await asyncio.gather(
            *(
                group.ask(Directed(self.cover.state, shards, each), deadline_s, heavy=heavy)
                for number, each in asked.items()
                for shards, group in [groups[number]]
            )
        )
        found = zip(asked, outcomes, strict=True)
        return {number: each for number, each in found if isinstance(each, REPLIES)}


class Nodes:
    """The nodes that `serve.nodes` lists. It holds no state but their reports and connections."""

    def __init__(
        self,
        listed: Sequence[str],
        weights: RankingConfig,
        crawl: CrawlView,
        deadline_s: float,
        tls: SSLContext | None = None,
        *,
        synonyms: Synonyms | None = None,
        meanings: bool = False,
    ) -> None:
        """`meanings`: the nodes may have vectors."""
        self._meanings = meanings
        self._members = Members(listed, tls)
        self._weights = weights
        self._synonyms = synonyms
        self._crawl = crawl
        self.deadline_s = deadline_s
        self._parts: _Parts | None = None
        self._looks: SingleFlight[None] = SingleFlight()

    @property
    def cover(self) -> Cover | None:
        """What answers at this moment; None if no node has an index."""
        return self._parts.cover if self._parts else None

    @property
    def turns(self) -> int:
        """How many searches can be sent to the nodes at once (`AHEAD` to each of a part)."""
        groups = self._parts.groups.values() if self._parts else ()
        return min((group.turns for group in groups), default=AHEAD)

    @property
    def spare(self) -> int:
        """The number of nodes of a part that expensive searches may occupy."""
        return max(self.turns // AHEAD // 2, 1)

    def health(self) -> Iterator[tuple[str, str, bool]]:
        """Yield the part, the address and the health of each node."""
        parts = self._parts.cover.parts if self._parts else ()
        part_of = {each: str(number) for number, part in enumerate(parts) for each in part.holders}
        for address, replica in sorted(self._members.replicas.items()):
            yield part_of.get(address, ""), address, replica.well

    def _broker(self, parts: _Parts) -> Broker:
        languages = parts.cover.languages
        expand = expansion(self._synonyms, languages) if self._synonyms else unexpanded
        return Broker(parts.count, self._weights, expand, meanings=self._meanings)

    async def answer(self, question: Question, *, heavy: bool = False) -> Answered | None:
        """Answer a question, or return None if no node did in time.

        A `heavy` question makes others prefer another node. It does not mark a node as failed when
        it is late.
        """

        async def ask(parts: _Parts) -> tuple[Answered | None, bool]:
            if parts.is_one:
                reply = await parts.ask_one(question, self.deadline_s, heavy=heavy)
                return (reply, True) if isinstance(reply, Answered) else (None, False)
            text = effective_query(question.query)
            facts = await asyncio.to_thread(page_facts, text, self._crawl)
            asking = self._broker(parts).answer(question, facts)
            answered, is_whole = await parts.drive(asking, self.deadline_s, heavy=heavy)
            return answered if answered.results.missing < parts.count else None, is_whole

        return await self._ask(ask, heavy=heavy)

    async def complete(self, text: str, limit: int) -> list[str] | None:
        async def ask(parts: _Parts) -> tuple[list[str] | None, bool]:
            if parts.is_one:
                reply = await parts.ask_one(Suggest(text, limit), self.deadline_s)
                return (reply.completions, True) if isinstance(reply, Suggested) else (None, False)
            asking = self._broker(parts).complete(text, limit)
            return await parts.drive(asking, self.deadline_s)

        return await self._ask(ask)

    async def _ask(
        self, ask: Callable[[_Parts], Awaitable[tuple[_T | None, bool]]], *, heavy: bool = False
    ) -> _T | None:
        """An answer, whole if the nodes can give one. Late `heavy` ones are not repeated."""
        answer = None
        for _ in range(AGAIN + 1):
            parts, began_s = self._parts, time.monotonic()
            if parts is None:
                break
            answer, is_whole = await ask(parts)
            if is_whole or (heavy and time.monotonic() - began_s >= self.deadline_s):
                break
            await self.look()
            now = self._parts
            if now is None or now is parts or now.cover.share < parts.cover.share:
                break
        return answer

    @asynccontextmanager
    async def watch(self) -> AsyncIterator[None]:
        """Look after the nodes during the `with` block, and close all connections at its end."""
        await self.look()
        watching = asyncio.create_task(self._probe_forever())
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.wait([watching])
            self._members.close()

    async def _probe_forever(self) -> None:
        while True:
            await asyncio.sleep(LOOK_S)
            await self.look()

    async def look(self) -> None:
        """Ask all nodes for their reports, and choose those that answer by them."""
        await self._looks.share("look", self._look_once)

    async def _look_once(self) -> None:
        await self._members.look()
        cover = self._best()
        if cover is None:
            self._parts = None
        elif self._parts is None or self._parts.cover != cover:
            self._parts = _Parts(cover, self._members, self._parts)

    def _best(self) -> Cover | None:
        reports = self._members.reports()
        return best_cover((at, held) for at, report in reports.items() for held in report.held)
