"""A node that follows its crawl: it opens its shards of the newest index beside the older ones.

It looks after the other nodes, works out its place among them (`node_share`), and opens and drops
shards as far as `rolling.py` allows. Opening runs in a thread, so the node answers meanwhile.
"""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import xxhash

from gossamer.errors import GossamerError
from gossamer.search.messages import Directed, Holding, Report
from gossamer.search.searcher import IndexParts, Searcher
from gossamer.serve.cluster.rolling import droppable_later, droppable_now, is_turn
from gossamer.serve.process_setup import exempt_present_objects

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from gossamer.search.messages import AnyRequest
    from gossamer.serve.cluster.members import Members
    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer

LOOK_S = 1.0
LINGER_S = 5.0
"""How long a node keeps what is no longer needed: a server may have asked the first of several
steps. Later it gets a refusal, and asks again."""
PATIENCE_S = 60.0
"""A node waits so long for another of its group to open a newer index first."""
RETRY_S = 5.0
"""The pause after an index could not be opened."""
_log = logging.getLogger(__name__)
_T = TypeVar("_T", int, str)


class _Opened(NamedTuple):
    holding: Holding
    searcher: Searcher


class _Newest(NamedTuple):
    """The newest index: the version of the crawl, and when it was first seen."""

    layers: tuple[Layer, ...]
    version: int
    parts: IndexParts
    seen_s: float


class Follower:
    """Belongs to one event loop.

    Invariant: `_opened` has no two entries of one state and shards, and is ordered by version.
    """

    def __init__(
        self,
        work: Workspace,
        name: str,
        members: Members,
        groups: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._work = work
        self._name = name
        self._members = members
        self._groups = groups
        self._clock = clock
        self._opened: list[_Opened] = []
        self._newest: _Newest | None = None
        self._share: tuple[int, ...] = ()
        self._target = (0, "")
        self._opening: asyncio.Task[None] | None = None
        self._unneeded_since_s: dict[Holding, float] = {}
        self._not_before_s = clock()
        self._trouble = ""

    @property
    def held(self) -> list[Holding]:
        return [each.holding for each in self._opened]

    def report(self) -> Report:
        return Report(self.held, self._name, self._share, self._target)

    def searcher(self, request: AnyRequest) -> Searcher | None:
        if isinstance(request, Directed):
            for holding, searcher in self._opened:
                if (holding.state, holding.shards) == (request.state, request.shards):
                    return searcher
        return None

    async def follow(self) -> None:
        """Follow the crawl until the task is cancelled."""
        try:
            while True:
                await self.step()
                await asyncio.sleep(LOOK_S)
        finally:
            self._members.close()

    async def step(self) -> None:
        """Look once after the crawl and the other nodes, and do what can be done at this moment."""
        await self._members.look()
        if self._opening is not None:
            if not self._opening.done():
                return
            self._opening.result()
            self._opening = None
        try:
            self._newest = await asyncio.to_thread(self._looked_up)
        except GossamerError as error:
            self._complain(error)
        if self._newest is None:
            return
        parts, names = self._newest.parts, self._members.names() | {self._name}
        self._share = tuple(node_share(self._name, names, parts.shards, self._groups))
        reports = {
            report.name: report
            for report in self._members.reports().values()
            if report.name and report.name != self._name
        }
        key = (parts.state, self._share)
        wanted = [each for each in self.held if (each.state, each.shards) == key]
        if wanted:
            self._drop(droppable_later(self.held, wanted[0], reports))
        elif self._share and self._clock() >= self._not_before_s:
            self._open(self._newest, reports)

    def _looked_up(self) -> _Newest | None:
        """The newest index. Raises GossamerError."""
        manifest = self._work.store.refresh()
        index = manifest.layers("index")
        layers = (*index, *manifest.layers("vectors"))
        if not index or (self._newest and self._newest.layers == layers):
            return self._newest
        return _Newest(
            layers, manifest.version, IndexParts.from_manifest(self._work), self._clock()
        )

    def _open(self, newest: _Newest, reports: Mapping[str, Report]) -> None:
        """Begin to open the newest index, unless it has to wait."""
        held, state = self.held, newest.parts.state
        dropped = droppable_now(held, state, reports)
        waited = self._clock() - newest.seen_s >= PATIENCE_S
        if dropped is None or not (
            waited or is_turn(self._name, held, state, self._share, reports)
        ):
            return
        self._forget(dropped)
        self._target = (newest.version, newest.parts.state)
        self._opening = asyncio.create_task(self._opened_in_a_thread(newest, self._share))

    async def _opened_in_a_thread(self, newest: _Newest, shards: tuple[int, ...]) -> None:
        parts = newest.parts
        try:
            searcher = await asyncio.to_thread(Searcher.open, self._work, None, shards, parts)
        except (GossamerError, OSError) as error:
            self._not_before_s = self._clock() + RETRY_S
            self._complain(error)
            return
        self._trouble = ""
        languages = tuple(searcher.languages)
        holding = Holding(
            newest.version, parts.state, shards, parts.shards, searcher.pages, languages
        )
        self._opened.append(_Opened(holding, searcher))
        exempt_present_objects()

    def _drop(self, unneeded: Sequence[Holding]) -> None:
        """Drop what has not been needed for LINGER_S."""
        now_s = self._clock()
        self._unneeded_since_s = {
            each: self._unneeded_since_s.get(each, now_s) for each in unneeded
        }
        self._forget(
            [each for each, at_s in self._unneeded_since_s.items() if now_s - at_s >= LINGER_S]
        )

    def _forget(self, dropped: Collection[Holding]) -> None:
        self._opened = [each for each in self._opened if each.holding not in dropped]

    def _complain(self, error: Exception) -> None:
        """Log an error once, not each time that it comes again."""
        if str(error) != self._trouble:
            self._trouble = str(error)
            _log.warning("still serving what is open: %s", error)


def node_share(
    node: str, nodes: Collection[str], shards: Collection[int], groups: int
) -> list[int]:
    """The shards that a node holds, which is one of `nodes`: all compute it from the same names.

    The shards are dealt to a fixed number of groups, and the nodes, too: a node holds the shards of
    its group, and all nodes of a group hold the same. So a node answers from all its shards as one
    index, and another one of its group can go on with a question where it failed. How much a node
    holds does not depend on how many nodes are there.
    """
    groups = max(min(groups, len(shards)), 1)
    mine = deal_shards(nodes, groups)[node]
    return sorted(shard for shard, group in deal_shards(shards, groups).items() if group == mine)


def deal_shards(items: Collection[_T], groups: int) -> dict[_T, int]:
    """Deal items to groups by rendezvous hashing; the sizes of groups differ by one at most.

    The pair of the highest hash comes first (Thaler and Ravishankar, "Using name-based mappings to
    increase hit rates", IEEE/ACM Transactions on Networking 6, 1998), and a group that has its
    share takes no more. When a node comes or goes, few others change their group.
    """
    least, larger = divmod(len(items), groups)
    pairs = sorted(
        ((_hash(f"{group}/{item}"), item, group) for item in items for group in range(groups)),
        reverse=True,
    )
    found: dict[_T, int] = {}
    sizes = [0] * groups
    for _, item, group in pairs:
        is_full = sizes[group] > least or (sizes[group] == least and not larger)
        if item in found or is_full:
            continue
        larger -= sizes[group] == least
        found[item] = group
        sizes[group] += 1
    return found


def _hash(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode())
