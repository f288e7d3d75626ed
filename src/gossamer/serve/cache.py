"""Answers that were given already, kept for who asks the same of the same index.

People ask what others asked: Baeza-Yates et al., "The impact of caching on search engines" (SIGIR
2007). How often here, /metrics tells.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from gossamer.serve.answers import Results
    from gossamer.serve.front import Front
    from gossamer.serve.messages import Question
    from gossamer.serve.search import Searcher


class Cache:
    """The `most` answers that were asked for last. Belongs to an event loop.

    Invariant: all are those of one state of the index; the first question in another empties it.
    What misses something is not kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._state = ""
        self._answers: OrderedDict[Question, Results] = OrderedDict()
        self.hits = self.misses = 0

    async def search(self, front: Front, searcher: Searcher, question: Question) -> Results:
        """What the front answers; `took_ms` is that of this time."""
        started_s = time.perf_counter()
        if searcher.state != self._state:
            self._state = searcher.state
            self._answers.clear()
        known = self._answers.get(question)
        if known is not None:
            self._answers.move_to_end(question)
            self.hits += 1
            took_ms = round((time.perf_counter() - started_s) * 1000, 1)
            return msgspec.structs.replace(known, took_ms=took_ms)
        self.misses += 1
        found = await front.answer(searcher, question)
        if self._most and found.state == self._state and not found.results.missing:
            self._answers[question] = found.results
            while len(self._answers) > self._most:
                self._answers.popitem(last=False)
        return found.results
