"""Nodes of this process, asked by a broker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from gossamer.lookup import Lookup
from gossamer.serve.broker import Broker
from gossamer.serve.pages import Pages
from gossamer.serve.resolve import looked_up

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.serve.answers import Results
    from gossamer.serve.messages import Question, Reply, Request
    from gossamer.workspace import Workspace


class Replying(Protocol):
    def reply(self, request: Request) -> Reply: ...


def asked(work: Workspace, nodes: Sequence[Replying], question: Question) -> Results:
    """What the nodes answer together."""
    meant = looked_up(question.query, Pages(work, Lookup(work)))
    asking = Broker(len(nodes), work.config.ranking).answer(question, meant)
    try:
        requests = next(asking)
        while True:
            replies = {number: nodes[number].reply(each) for number, each in requests.items()}
            requests = asking.send(replies)
    except StopIteration as done:
        results: Results = done.value.results
        return results
