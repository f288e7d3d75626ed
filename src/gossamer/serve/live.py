"""The searcher of a crawl's newest index, looked for while requests come."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from gossamer.errors import StoreError
from gossamer.serve.search import Searcher

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from gossamer.serve.resolve import Known
    from gossamer.store import Layer
    from gossamer.workspace import Workspace

LOOK_S = 1.0
_log = logging.getLogger(__name__)


class Live:
    """Invariant: `searcher()` is whole; a newer index replaces it only when it is open.

    Used from several threads. A search that began with the old searcher keeps it, and its
    memory maps outlive its files.
    """

    def __init__(
        self,
        work: Workspace,
        clock: Callable[[], float] = time.monotonic,
        known: Known | None = None,
        shards: Collection[int] = (),
    ) -> None:
        self._work = work
        self._known = known
        self._shards = shards
        self._clock = clock
        self._guard = threading.Lock()
        self._next_s = clock()
        self._layers: tuple[Layer, ...] = ()
        self._searcher: Searcher | None = None

    @property
    def is_due(self) -> bool:
        """Whether a newer index is to be looked for."""
        return self._clock() >= self._next_s

    def searcher(self) -> Searcher | None:
        """None: there is no index yet. Raises StoreError where there is one, but unreadable.

        While somebody looks for a newer one, others go on with what is open, if anything is.
        """
        if self._guard.acquire(blocking=self._searcher is None):
            try:
                if self.is_due:
                    self._look()
                    self._next_s = self._clock() + LOOK_S
            finally:
                self._guard.release()
        return self._searcher

    def _look(self) -> None:
        try:
            layers = self._work.store.refresh().layers("index")
            if layers != self._layers:
                self._searcher = (
                    Searcher.open(self._work, self._known, self._shards) if layers else None
                )
                self._layers = layers
        except StoreError as error:
            if self._searcher is None:
                raise
            _log.warning("goes on with the index opened before: %s", error)
