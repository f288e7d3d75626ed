"""All search processes: sends them questions under a deadline, through the broker if needed.

If every process holds the whole index (one group), a question goes to one of them unchanged. If
each group holds some of the shards, the broker sends its requests to all groups at once, step by
step. A group that misses the deadline of a step is left out, and the answer reports that.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar, get_args

from gossamer.search.broker import Broker, effective_query
from gossamer.search.messages import Answered, Reply, Suggest, Suggested
from gossamer.search.page_filters import page_facts
from gossamer.serve.cluster.group import Group
from gossamer.serve.cluster.replica import Replica

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
    from ssl import SSLContext

    from gossamer.config import RankingConfig
    from gossamer.search.messages import Question, Request, RequestGenerator
    from gossamer.search.page_filters import CrawlView

_T = TypeVar("_T")
WATCH_S = 0.25
REPLIES = get_args(Reply)


class Cluster:
    """Groups of processes, by their addresses: `host:port`, or `unix:` and a path."""

    def __init__(
        self,
        groups: Sequence[Sequence[str]],
        weights: RankingConfig,
        crawl: CrawlView,
        deadline_s: float,
        tls: SSLContext | None = None,
    ) -> None:
        """`tls`: for connections to nodes; processes of this machine have Unix sockets."""
        self._groups = [Group([Replica(address, tls) for address in group]) for group in groups]
        self._broker = Broker(len(groups), weights)
        self._crawl = crawl
        self._deadline_s = deadline_s

    @property
    def turns(self) -> int:
        """How many searches can be sent to the processes at once (`AHEAD` to each of a group)."""
        return min(group.turns for group in self._groups)

    @property
    def spare(self) -> int:
        """The number of processes that expensive searches may occupy: half, but at least one."""
        return max(min(len(group.replicas) for group in self._groups) // 2, 1)

    async def answer(self, question: Question, *, heavy: bool = False) -> Answered | None:
        """Answer a question, or return None if no process did in time.

        A `heavy` question makes others prefer another process. It does not mark a process as
        failed when it is late.
        """
        if len(self._groups) == 1:
            found = await self._groups[0].ask(question, self._deadline_s, heavy=heavy)
            return found if isinstance(found, Answered) else None
        facts = await asyncio.to_thread(page_facts, effective_query(question.query), self._crawl)
        answered = await self._driven(self._broker.answer(question, facts), heavy=heavy)
        return answered if answered.results.missing < len(self._groups) else None

    async def complete(self, text: str, limit: int) -> list[str] | None:
        if len(self._groups) == 1:
            found = await self._groups[0].ask(Suggest(text, limit), self._deadline_s)
            return found.completions if isinstance(found, Suggested) else None
        return await self._driven(self._broker.complete(text, limit))

    @property
    def is_well(self) -> bool:
        """Whether each group has a healthy process."""
        return all(any(replica.well for replica in group.replicas) for group in self._groups)

    def health(self) -> Iterator[tuple[int, str, bool]]:
        """Yield the group, the address and the health of each process."""
        for number, group in enumerate(self._groups):
            for replica in group.replicas:
                yield number, replica.address, replica.well

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """Probe failed processes during the `with` block, and close all connections at its end."""
        watching = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.wait([watching])
            for replica in self._replicas():
                replica.close()

    async def _watch(self) -> None:
        while True:
            await asyncio.gather(*(replica.probe() for replica in self._replicas()))
            await asyncio.sleep(WATCH_S)

    def _replicas(self) -> Iterator[Replica]:
        return (replica for group in self._groups for replica in group.replicas)

    async def _driven(self, asking: RequestGenerator[_T], *, heavy: bool = False) -> _T:
        try:
            requests = next(asking)
            while True:
                requests = asking.send(await self._ask(requests, heavy=heavy))
        except StopIteration as done:
            answer: _T = done.value
            return answer

    async def _ask(self, requests: Mapping[int, Request], *, heavy: bool) -> dict[int, Reply]:
        """The replies that came in time, by group. The broker continues without the others."""
        asked = (
            self._groups[number].ask(each, self._deadline_s, heavy=heavy)
            for number, each in requests.items()
        )
        outcomes = zip(requests, await asyncio.gather(*asked), strict=True)
        return {number: each for number, each in outcomes if isinstance(each, REPLIES)}
