"""Processes that hold the same shards: a request goes to the least busy, on failure to another."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from gossamer.search.messages import RequestRefused
from gossamer.serve.cluster.replica import ReplicaError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.search.messages import AnyReply, AnyRequest
    from gossamer.serve.cluster.replica import Replica

AHEAD = 2
"""How many requests a process has at once: one that it answers, and one that keeps it busy. More
would queue in the process, where turns are no longer divided fairly between clients
(fair_queue.py): in a flood of distinct queries, 4 made the p99 of a visitor 1.8
times as high."""
TOO_LITTLE_S = 0.01
"""With less time left than this, another replica would fail as well."""


class Group:
    def __init__(self, replicas: Sequence[Replica]) -> None:
        self.replicas = tuple(replicas)
        self.turns = AHEAD * len(self.replicas)
        self._turns = asyncio.Semaphore(self.turns)

    async def ask(
        self, request: AnyRequest, patience_s: float, *, heavy: bool = False
    ) -> AnyReply | None:
        """Return the answer of the first replica that gives one, or None if none does in time.

        The time runs from when it is this request's turn. A `heavy` request counts as AHEAD
        requests, so that the next ones go to other replicas.
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
                    reply = await replica.ask(request, deadline_s, AHEAD if heavy else 1)
                    if not isinstance(reply, RequestRefused):
                        return reply
            return None
