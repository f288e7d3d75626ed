"""Nodes of this process, asked by a broker."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from gossamer.search.broker import Broker
from gossamer.search.page_filters import page_facts
from gossamer.search.page_info import PageInfo
from gossamer.state.lookup import Lookup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.search.messages import Question, Reply, Request
    from gossamer.search.results import Results
    from gossamer.state.workspace import Workspace


class Replying(Protocol):
    def reply(self, request: Request) -> Reply: ...


def asked(
    work: Workspace, nodes: Sequence[Replying], question: Question, *, meanings: bool = False
) -> Results:
    """What the nodes answer together."""
    facts = page_facts(question.query, PageInfo(work, Lookup(work)))
    asking = Broker(len(nodes), work.config.ranking, meanings=meanings).answer(question, facts)
    try:
        requests = next(asking)
        while True:
            replies = {number: nodes[number].reply(each) for number, each in requests.items()}
            requests = asking.send(replies)
    except StopIteration as done:
        results: Results = done.value.results
        return results
