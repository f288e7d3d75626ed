"""Holds the link graphs of a crawl for the server's threads; requests notice newer ones."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from gossamer.errors import StoreError
from gossamer.links.graph.queries import LinkGraph

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.state.lookup import Lookup
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer

    Answer = TypeVar("Answer")

_log = logging.getLogger(__name__)


class _Opened(NamedTuple):
    layers: tuple[Layer, ...]
    graph: LinkGraph


class Graphs:
    """The newest graphs that could be opened, by kind. Used from several threads.

    Nothing is opened before it is asked for. A newer graph replaces the current one only once it
    is open.
    """

    def __init__(self, work: Workspace, lookup: Lookup) -> None:
        self._work = work
        self._lookup = lookup
        self._guard = threading.Lock()
        self._opened: dict[str, _Opened] = {}

    @property
    def is_built(self) -> bool:
        """Whether there is a graph in the manifest that the store last read."""
        return bool(self._work.store.manifest.layers("graph"))

    def ask(self, kind: str, question: Callable[[LinkGraph], Answer]) -> Answer:
        """Ask the newest graph of pages ("page") or hosts ("host").

        Raises StoreError if there is none that can be read, and what the question raises.
        """
        graph = self._newest(kind)
        try:
            return question(graph)
        except StoreError:  # it may have been replaced, and its files deleted
            self._opened.pop(kind, None)
            return question(self._newest(kind))

    def _newest(self, kind: str) -> LinkGraph:
        layers = self._work.store.refresh().layers("graph")
        opened = self._opened.get(kind)
        if opened is None or opened.layers != layers:
            with self._guard:
                opened = self._opened.get(kind)
                if opened is None or opened.layers != layers:
                    opened = self._open(kind, layers, opened)
                    self._opened[kind] = opened
        return opened.graph

    def _open(self, kind: str, layers: tuple[Layer, ...], before: _Opened | None) -> _Opened:
        root = self._work.root
        if not layers:
            remedy = f"build it: gossamer graph build {root}"
            raise StoreError(root, "has no link graph yet", remedy)
        try:
            return _Opened(layers, LinkGraph(self._work, kind, self._lookup))
        except StoreError as error:
            if before is None:
                raise
            _log.warning("still serving the previous link graph: %s", error)
            return _Opened(layers, before.graph)
