"""All processes that answer, asked under a deadline: what drives the broker.

Where every process holds the whole index (one group), a question goes to one of them as it is.
Where each holds some shards, the broker asks all groups at once, step by step; who has not answered
a step at its deadline is left out, and the answer says so.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, TypeVar, get_args

from gossamer.serve.broker import Broker, read
from gossamer.serve.cluster.group import Group
from gossamer.serve.cluster.replica import Replica
from gossamer.serve.messages import Answered, Reply, Suggest, Suggested
from gossamer.serve.resolve import looked_up

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

    from gossamer.config import RankingConfig
    from gossamer.serve.broker import Asking
    from gossamer.serve.messages import Question, Request
    from gossamer.serve.resolve import Known

_T = TypeVar("_T")
WATCH_S = 0.25
REPLIES = get_args(Reply)


class Cluster:
    """Groups of processes, by their addresses: `host:port`, or `unix:` and a path."""

    def __init__(
        self,
        groups: Sequence[Sequence[str]],
        weights: RankingConfig,
        known: Known,
        deadline_s: float,
    ) -> None:
        self._groups = [Group([Replica(address) for address in group]) for group in groups]
        self._broker = Broker(len(groups), weights)
        self._known = known
        self._deadline_s = deadline_s

    async def answer(self, question: Question) -> Answered | None:
        """None: no process answers."""
        if len(self._groups) == 1:
            found = await self._groups[0].ask(question, self._deadline_s)
            return found if isinstance(found, Answered) else None
        meant = await asyncio.to_thread(looked_up, read(question.query), self._known)
        answered = await self._driven(self._broker.answer(question, meant))
        return answered if answered.results.missing < len(self._groups) else None

    async def complete(self, text: str, limit: int) -> list[str] | None:
        if len(self._groups) == 1:
            found = await self._groups[0].ask(Suggest(text, limit), self._deadline_s)
            return found.completions if isinstance(found, Suggested) else None
        return await self._driven(self._broker.complete(text, limit))

    def health(self) -> Iterator[tuple[int, str, bool]]:
        """Of each process its group, its address, and whether it is well."""
        for number, group in enumerate(self._groups):
            for replica in group.replicas:
                yield number, replica.address, replica.well

    @asynccontextmanager
    async def watched(self) -> AsyncIterator[None]:
        """For as long as questions come. Those that failed are asked whether they are back."""
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

    async def _driven(self, asking: Asking[_T]) -> _T:
        try:
            requests = next(asking)
            while True:
                requests = asking.send(await self._ask(requests))
        except StopIteration as done:
            answer: _T = done.value
            return answer

    async def _ask(self, requests: Mapping[int, Request]) -> dict[int, Reply]:
        """What the groups answer in time: who is lost here, is not waited for again."""
        asked = (
            self._groups[number].ask(each, self._deadline_s) for number, each in requests.items()
        )
        outcomes = zip(requests, await asyncio.gather(*asked), strict=True)
        return {number: each for number, each in outcomes if isinstance(each, REPLIES)}
