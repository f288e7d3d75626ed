"""Keeps recent answers for repeated questions about the same index.

Many queries repeat earlier ones: Baeza-Yates et al., "The impact of caching on search engines"
(SIGIR 2007). /metrics reports hits and misses.
"""

from __future__ import annotations

from sys import getsizeof
from typing import TYPE_CHECKING

from cachetools import LRUCache

if TYPE_CHECKING:
    from gossamer.search.messages import Question
    from gossamer.search.results import Results

HIT_BYTES = 340
"""Memory of a hit without its strings: the structure, its numbers, and the slots of lists."""
ANSWER_BYTES = 1_200
"""Memory of an answer and its question without the hits."""


class Cache:
    """Holds answers of at most `max_bytes` (estimated); the least recently used are evicted first.

    Invariant: all answers are from one state of the index; asking about another state empties the
    cache.
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._state = ""
        self._answers: LRUCache[Question, Results] = LRUCache(max_bytes, getsizeof=size_of)
        self.hits = self.misses = 0

    def __len__(self) -> int:
        return len(self._answers)

    @property
    def bytes(self) -> int:
        return int(self._answers.currsize)

    def find(self, state: str, question: Question) -> Results | None:
        """Return the cached answer, or None; count a hit or a miss."""
        if state != self._state:
            self._state = state
            self._answers.clear()
        known = self._answers.get(question)
        if known is None:
            self.misses += 1
        else:
            self.hits += 1
        return known

    def keep(self, state: str, question: Question, results: Results) -> None:
        """Cache an answer, unless it is incomplete, explained, from another state, or too large.

        A question about certain pages only is not repeated, either.
        """
        if state != self._state or results.missing or question.explain or question.among:
            return
        if size_of(results) <= self.max_bytes:
            self._answers[question] = results


def size_of(results: Results) -> int:
    """Estimate the memory of an answer in bytes: at most twice what tracemalloc measures."""
    return (
        ANSWER_BYTES
        + sum(
            HIT_BYTES + sum(map(getsizeof, (hit.url, hit.title, hit.snippet, hit.host, hit.image)))
            for hit in results.hits
        )
        + sum(HIT_BYTES * len(counts) for counts in results.facets.values()) // 2
    )
