"""Holds the searcher of a crawl's newest index; requests trigger the check for a newer one."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from gossamer.errors import StoreError
from gossamer.search.searcher import Searcher
from gossamer.storage.objects.bucket import is_object_url

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.search.page_filters import CrawlView
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer

LOOK_S = 0.25
OBJECT_LOOK_S = 1.0
"""On object storage, where each look costs a request."""
_log = logging.getLogger(__name__)


class OpenIndex:
    """The newest index that could be opened. Used from several threads.

    Invariant: a newer index replaces the current one only once it is completely open. A search
    that began with the old searcher keeps it; its memory maps outlive the deleted files.
    """

    def __init__(
        self,
        work: Workspace,
        clock: Callable[[], float] = time.monotonic,
        crawl: CrawlView | None = None,
    ) -> None:
        self.root = work.root
        self._work = work
        self._crawl = crawl
        self._clock = clock
        self._every_s = OBJECT_LOOK_S if is_object_url(work.root) else LOOK_S
        self._guard = threading.Lock()
        self._next_s = clock()
        self._layers: tuple[Layer, ...] = ()
        self._searcher: Searcher | None = None

    @property
    def is_due(self) -> bool:
        """Whether it is time to check for a newer index."""
        return self._clock() >= self._next_s

    def searcher(self) -> Searcher | None:
        """The searcher of the newest index, or None if there is no index yet.

        Raises StoreError if there is an index that cannot be read, and none was open before. While
        one thread opens a newer index, the others get the current one, if any.
        """
        if self._guard.acquire(blocking=self._searcher is None):
            try:
                if self.is_due:
                    self._look()
                    self._next_s = self._clock() + self._every_s
            finally:
                self._guard.release()
        return self._searcher

    def _look(self) -> None:
        try:
            manifest = self._work.store.refresh()
            index = manifest.layers("index")
            layers = (*index, *manifest.layers("vectors"))
            if layers != self._layers:
                self._searcher = Searcher.open(self._work, self._crawl) if index else None
                self._layers = layers
        except StoreError as error:
            if self._searcher is None:
                raise
            _log.warning("still serving the previous index: %s", error)
