"""Answers that were given already, kept for who asks the same of the same index.

People ask what others asked: Baeza-Yates et al., "The impact of caching on search engines" (SIGIR
2007). How often here, /metrics tells.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, NamedTuple

import msgspec

if TYPE_CHECKING:
    from gossamer.config import Profile
    from gossamer.serve.answers import Results
    from gossamer.serve.search import Searcher


class Question(NamedTuple):
    """What is asked of a Searcher."""

    query: str
    offset: int
    limit: int
    by_date: bool = False
    facets: bool = False
    explain: bool = False
    profile: Profile | None = None


class Cache:
    """The `most` answers that were asked for last, from several threads.

    Invariant: all are those of one searcher; the first question to another empties it.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._guard = threading.Lock()
        self._searcher: Searcher | None = None
        self._answers: OrderedDict[Question, Results] = OrderedDict()
        self.hits = self.misses = 0

    def search(self, searcher: Searcher, question: Question) -> Results:
        """What the searcher answers; `took_ms` is that of this time."""
        started = time.perf_counter()
        with self._guard:
            if searcher is not self._searcher:
                self._searcher = searcher
                self._answers.clear()
            known = self._answers.get(question)
            if known is not None:
                self._answers.move_to_end(question)
                self.hits += 1
                took_ms = round((time.perf_counter() - started) * 1000, 1)
                return msgspec.structs.replace(known, took_ms=took_ms)
            self.misses += 1
        found = searcher.search(**question._asdict())
        with self._guard:
            if self._most and searcher is self._searcher:
                self._answers[question] = found
                while len(self._answers) > self._most:
                    self._answers.popitem(last=False)
        return found
