"""A searcher in this process: the whole index as one node, and a broker that asks it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from gossamer.serve.broker import Broker
from gossamer.serve.messages import Question
from gossamer.serve.node import Node

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from gossamer.config import RankingConfig
    from gossamer.serve.answers import Results
    from gossamer.serve.broker import Asking
    from gossamer.workspace import Workspace

_T = TypeVar("_T")


class Searcher:
    """The shards of one index, opened. It never sees a change: for a newer index, open another."""

    @classmethod
    def open(cls, work: Workspace) -> Self:
        """The index that the crawl's manifest names, as last read. Raises MissingFile."""
        named = (Path(path) for path in work.paths("index"))
        folders = sorted(path.parent for path in named if path.name == "meta.json")
        return cls(folders, work.config.ranking)

    def __init__(self, folders: Sequence[Path], weights: RankingConfig) -> None:
        self._node = Node(folders, weights)
        self._broker = Broker(1, weights)
        self.pages = self._node.pages

    def search(
        self,
        query: str,
        offset: int = 0,
        limit: int = 10,
        *,
        by_date: bool = False,
        facets: bool = False,
        explain: bool = False,
    ) -> Results:
        """The pages for a query, from `offset`; at most MAX_RESULTS can be reached."""
        question = Question(query, offset, limit, by_date, facets, explain)
        return self._driven(self._broker.answer(question))

    def complete(self, text: str, limit: int = 8) -> list[str]:
        """What a query that is being typed may become: its last word completed."""
        return self._driven(self._broker.complete(text, limit))

    def _driven(self, asking: Asking[_T]) -> _T:
        try:
            requests = next(asking)
            while True:
                replies = {number: self._node.reply(each) for number, each in requests.items()}
                requests = asking.send(replies)
        except StopIteration as done:
            answer: _T = done.value
            return answer
