"""A searcher in this process: the whole index as one node, and a broker that asks it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from gossamer.lookup import Lookup
from gossamer.serve.broker import Broker, read
from gossamer.serve.messages import Question
from gossamer.serve.node import Node
from gossamer.serve.pages import Pages
from gossamer.serve.query import parse
from gossamer.serve.resolve import NOTHING, looked_up

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from gossamer.config import Profile, RankingConfig
    from gossamer.serve.answers import Results
    from gossamer.serve.broker import Asking
    from gossamer.serve.resolve import Known
    from gossamer.workspace import Workspace

_T = TypeVar("_T")


class Searcher:
    """The shards of one index, opened. It never sees a change: for a newer index, open another."""

    @classmethod
    def open(cls, work: Workspace, known: Known | None = None) -> Self:
        """The index that the crawl's manifest names, as last read. Raises MissingFile.

        `known`: of the pages that queries ask about, where somebody knows them already.
        """
        named = (Path(path) for path in work.paths("index"))
        folders = sorted(path.parent for path in named if path.name == "meta.json")
        return cls(folders, work.config.ranking, known or Pages(work, Lookup(work)))

    def __init__(
        self, folders: Sequence[Path], weights: RankingConfig, known: Known = NOTHING
    ) -> None:
        self._known = known
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
        profile: Profile | None = None,
    ) -> Results:
        """The pages for a query, from `offset`; at most MAX_RESULTS can be reached."""
        question = Question(query, offset, limit, by_date, facets, explain, profile)
        meant = looked_up(parse(read(query)), self._known)
        return self._driven(self._broker.answer(question, meant))

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
