"""Which task fetches which part, if only some workers may?

Spark runs a task on any worker. So where parts are bound to groups of workers (`fetch.egress`), its
tasks are not given a part each. There are as many as slots, and each looks for a part that its
worker may fetch, and claims it (fetch_lease.py). One that finds none keeps its slot for a moment,
so that the others get slots of other workers, and ends. What a wave of tasks has not fetched, as
workers were lost or busy, the next one is offered, until some waves in a row have fetched nothing.
The pages of parts that are left stay due.

A task that is run again takes the part that it had claimed, if its worker may fetch it. Else, that
is for the next wave.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gossamer.config import egress
from gossamer.fetch.cluster import fetch_lease
from gossamer.fetch.cluster.fetch_lease import PartLease
from gossamer.state import stopping
from gossamer.storage.task_output import YIELD, YIELD_DDL, count_rows

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Sequence

    from gossamer.engine.engine import Engine
    from gossamer.fetch.fetch_part import FetchPart
    from gossamer.storage.task_output import Row

PATIENCE_S = 2.0
"""Seconds for which a task without a part keeps its slot, while parts are unclaimed."""
LOOK_S = 0.5
TRIES = 8
"""Waves in a row that fetch nothing. Spark replaces an executor within a few seconds."""
FETCHED = "fetched_part"
"""The name of the count by which a task reports the number of its part."""


@dataclass(frozen=True)
class Offer:
    """What the tasks of a wave may fetch."""

    parts: tuple[FetchPart, ...]
    claims: Counter[int]
    """How often each part was claimed before."""

    def free(self) -> set[int]:
        """The numbers of the parts that no task of the wave has claimed yet."""
        now = fetch_lease.count_claims(self.parts[0].root, self.parts[0].run or "")
        numbers = {part.number for part in self.parts}
        return {number for number in numbers if now[number] <= self.claims[number]}

    def former(self, parts: Iterable[FetchPart], task: int) -> FetchPart | None:
        """The part that a task claimed before it was run again, if it did."""
        for part in parts:
            with suppress(FileNotFoundError):
                claim = self.claims[part.number]
                if fetch_lease.claimant(part.root, part.run or "", part.number, claim) == task:
                    return part
        return None


def fetch_parts(engine: Engine, parts: Sequence[FetchPart]) -> tuple[list[Row], list[FetchPart]]:
    """Fetch parts: the rows of YIELD of all tasks, and the parts that no worker could fetch."""
    if engine.is_local or not any(part.egress for part in parts):
        here = egress.groups_here()
        mine = [part for part in parts if part.egress <= here]
        left = [part for part in parts if not part.egress <= here]
        return engine.map_tasks(mine, _fetch, YIELD, YIELD_DDL), left
    rows, left, tries = [], list(parts), 0
    while left and tries < TRIES and not stopping.requested(left[0].root):
        offer = Offer(tuple(left), fetch_lease.count_claims(left[0].root, left[0].run or ""))
        tasks = [(offer, task) for task in range(max(engine.workers, len(left)))]
        found = engine.map_tasks(tasks, _fetch_one, YIELD, YIELD_DDL)
        done = {row["rows"] for row in found if row["name"] == FETCHED}
        rows += [row for row in found if row["name"] != FETCHED]
        left = [part for part in left if part.number not in done]
        tries = 0 if done else tries + 1
    for part in left:
        claim_part(part)  # so a task that was lost to Spark, but still runs, ends
    return rows, left


def take(
    offer: Offer,
    task: int,
    clock: Callable[[], float] = time.monotonic,
    wait: Callable[[float], None] = time.sleep,
) -> tuple[FetchPart, PartLease] | None:
    """Claim a part for a task; None if there is none for its worker. Those of groups come first."""
    turn = task % len(offer.parts)
    in_turn = (*offer.parts[turn:], *offer.parts[:turn])  # tasks that start at once seldom collide
    mine = [part for part in in_turn if part.egress <= egress.groups_here()]
    mine.sort(key=lambda part: -len(part.egress))
    free = offer.free()
    for part in mine:
        if part.number in free:
            with suppress(FileExistsError):
                return part, claim_part(part, number=offer.claims[part.number], task=task)
    if (former := offer.former(mine, task)) is not None:
        return former, claim_part(former, task=task)
    ends_s = clock() + PATIENCE_S
    while offer.free() and clock() < ends_s:
        wait(LOOK_S)
    return None


def claim_part(part: FetchPart, number: int | None = None, task: int = 0) -> PartLease:
    return PartLease(part.root, part.run or "", part.number, number=number, task=task)


def _fetch(part: FetchPart) -> list[Row]:
    # aiohttp takes long to import, and only tasks need it.
    from gossamer.fetch.fetch_task import fetch_part

    return fetch_part(part)


def _fetch_one(given: tuple[Offer, int]) -> list[Row]:
    from gossamer.fetch.fetch_task import fetch_part  # as above

    taken = take(*given)
    if taken is None:
        return []
    part, held = taken
    return [*fetch_part(part, held), *count_rows({FETCHED: part.number})]
