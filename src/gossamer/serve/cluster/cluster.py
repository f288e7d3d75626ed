"""All processes that answer, asked under a deadline: what drives the broker.

Where every process holds the whole index (one group), a question goes to one of them as it is.
Where each holds some shards, the broker asks all groups at once, step by step; who has not answered
a step at its deadline is left out, and the answer says so.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, TypeVar, get_args

from gossamer.serve.broker import Broker, read
from gossamer.serve.cluster.group import Group
from gossamer.serve.cluster.replica import Replica
from gossamer.serve.messages import Answered, Reply, Suggest, Suggested
from gossamer.serve.query import parse
from gossamer.serve.resolve import looked_up

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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
        self._closed = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def answer(self, question: Question) -> Answered | None:
        """None: no process answers."""
        deadline_s = time.monotonic() + self._deadline_s
        if len(self._groups) == 1:
            found = self._groups[0].ask(question, deadline_s)
            return found if isinstance(found, Answered) else None
        meant = looked_up(parse(read(question.query)), self._known)
        answered = self._driven(self._broker.answer(question, meant))
        return answered if answered.results.missing < len(self._groups) else None

    def complete(self, text: str, limit: int) -> list[str] | None:
        deadline_s = time.monotonic() + self._deadline_s
        if len(self._groups) == 1:
            found = self._groups[0].ask(Suggest(text, limit), deadline_s)
            return found.completions if isinstance(found, Suggested) else None
        return self._driven(self._broker.complete(text, limit))

    def health(self) -> Iterator[tuple[int, str, bool]]:
        """Of each process its group, its address, and whether it is well."""
        for number, group in enumerate(self._groups):
            for replica in group.replicas:
                yield number, replica.address, replica.well

    def _watch(self) -> None:
        """Those that failed are asked whether they are back."""
        while not self._closed.wait(WATCH_S):
            for group in self._groups:
                for replica in group.replicas:
                    replica.probe()

    def close(self) -> None:
        self._closed.set()
        for group in self._groups:
            for replica in group.replicas:
                replica.close()

    def _driven(self, asking: Asking[_T]) -> _T:
        try:
            requests = next(asking)
            while True:
                requests = asking.send(self._ask(requests))
        except StopIteration as done:
            answer: _T = done.value
            return answer

    def _ask(self, requests: Mapping[int, Request]) -> dict[int, Reply]:
        """What the groups answer in time: who is lost here, is not waited for again."""
        deadline_s = time.monotonic() + self._deadline_s
        calls = {number: self._groups[number].begin(each) for number, each in requests.items()}
        outcomes = {
            number: self._groups[number].finish(call, requests[number], deadline_s)
            for number, call in calls.items()
        }
        return {number: each for number, each in outcomes.items() if isinstance(each, REPLIES)}
