"""A searcher in this process: the whole index as one node, and a broker that asks it."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import TYPE_CHECKING, TypeVar

import xxhash

from gossamer.index import schema
from gossamer.index.layout import shard_of
from gossamer.lookup import Lookup
from gossamer.serve.broker import Broker, read
from gossamer.serve.messages import Question
from gossamer.serve.node import Node, is_first
from gossamer.serve.pages import Pages
from gossamer.serve.resolve import NOTHING, looked_up

if TYPE_CHECKING:
    from collections.abc import Collection
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
    def open(
        cls, work: Workspace, known: Known | None = None, shards: Collection[int] = ()
    ) -> Self:
        """The index that the crawl's manifest names, as last read. Raises MissingFile.

        `known`: of the pages that queries ask about, where somebody knows them already. `shards`:
        only these, if any are named.
        """
        named = [PurePath(file.path) for file in work.store.files("index")]
        parts = sorted(path.parent for path in named if path.name == schema.META)
        # Wherever a machine has the crawl, these parts are the same state.
        state = xxhash.xxh3_64_hexdigest("\n".join(map(str, parts)).encode())
        mine = [Path(work.root, part) for part in parts if not shards or shard_of(part) in shards]
        node = Node(mine, work.config.ranking, state, tiered=any(map(is_first, parts)))
        return cls(node, work.config.ranking, known or Pages(work, Lookup(work)))

    def __init__(self, node: Node, weights: RankingConfig, known: Known = NOTHING) -> None:
        self.node = node
        self._known = known
        self._broker = Broker(1, weights)

    @property
    def pages(self) -> int:
        return self.node.pages

    @property
    def state(self) -> str:
        """What of the index it has opened: another one is in another state."""
        return self.node.state

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
        return self.answer(Question(query, offset, limit, by_date, facets, explain, profile))

    def answer(self, question: Question) -> Results:
        meant = looked_up(read(question.query), self._known)
        return self._driven(self._broker.answer(question, meant)).results

    def complete(self, text: str, limit: int = 8) -> list[str]:
        """What a query that is being typed may become: its last word completed."""
        return self._driven(self._broker.complete(text, limit))

    def _driven(self, asking: Asking[_T]) -> _T:
        try:
            requests = next(asking)
            while True:
                replies = {number: self.node.reply(each) for number, each in requests.items()}
                requests = asking.send(replies)
        except StopIteration as done:
            answer: _T = done.value
            return answer
