"""Who answers a search: the processes of a cluster, or, where there is none, this one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.serve.messages import Answered

if TYPE_CHECKING:
    from gossamer.serve.cluster.cluster import Cluster
    from gossamer.serve.live import Live
    from gossamer.serve.messages import Question
    from gossamer.serve.search import Searcher


class Front:
    """Where no process answers at all, this one does: nobody is turned away while they start."""

    def __init__(self, live: Live, cluster: Cluster | None = None) -> None:
        self._live = live
        self.cluster = cluster

    def searcher(self) -> Searcher | None:
        """That of this process. None: there is no index yet. Raises StoreError."""
        return self._live.searcher()

    def answer(self, searcher: Searcher, question: Question) -> Answered:
        answered = self.cluster and self.cluster.answer(question)
        return answered or Answered(searcher.state, searcher.answer(question))

    def complete(self, searcher: Searcher, text: str, limit: int = 8) -> list[str]:
        completions = self.cluster.complete(text, limit) if self.cluster else None
        return searcher.complete(text, limit) if completions is None else completions
