"""Processes that hold the same shards: the one with the least to do is asked, else another."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from gossamer.serve.cluster.replica import ReplicaError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.serve.cluster.replica import Replica
    from gossamer.serve.messages import Outcome, Request, Whole

AHEAD = 4
"""Requests that are with a process at a time. It answers one after the other, and should not have
to wait for the next; but who waits here, gets the first process that is free, in order."""
TOO_LITTLE_S = 0.01
"""Who is asked with less time than that left, can only fail, too."""


class Group:
    def __init__(self, replicas: Sequence[Replica]) -> None:
        self.replicas = tuple(replicas)
        self._turns = asyncio.Semaphore(AHEAD * len(self.replicas))

    async def ask(self, request: Whole | Request, patience_s: float) -> Outcome | None:
        """The answer, if need be of another replica. None: there is none in time.

        The time counts from when it is this request's turn.
        """
        async with self._turns:
            left, deadline_s = list(self.replicas), time.monotonic() + patience_s
            while deadline_s - time.monotonic() > TOO_LITTLE_S:
                well = [replica for replica in left if replica.well]
                if not well:
                    break
                replica = min(well, key=lambda each: each.waiting)
                left.remove(replica)
                with suppress(ReplicaError):
                    return await replica.ask(request, deadline_s)
            return None
