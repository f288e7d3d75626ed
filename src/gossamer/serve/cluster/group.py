"""Processes that hold the same shards: the one with the least to do is asked, else another."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from gossamer.serve.cluster.replica import ReplicaError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.serve.cluster.replica import Replica
    from gossamer.serve.messages import Outcome, Request, Whole


class Group:
    def __init__(self, replicas: Sequence[Replica]) -> None:
        self.replicas = tuple(replicas)

    async def ask(self, request: Whole | Request, deadline_s: float) -> Outcome | None:
        """The answer, if need be of another replica. None: there is none in time."""
        left = set(self.replicas)
        while time.monotonic() < deadline_s:
            well = [replica for replica in self.replicas if replica in left and replica.well]
            if not well:
                break
            replica = min(well, key=lambda each: each.waiting)
            left.remove(replica)
            with suppress(ReplicaError):
                return await replica.ask(request, deadline_s)
        return None
