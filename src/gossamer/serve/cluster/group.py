"""Processes that hold the same shards: the one with the least to do is asked, else another."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING

from gossamer.serve.cluster.replica import ReplicaError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.serve.cluster.replica import Call, Replica
    from gossamer.serve.messages import Outcome, Request, Whole


class Group:
    def __init__(self, replicas: Sequence[Replica]) -> None:
        self.replicas = tuple(replicas)

    def begin(self, request: Whole | Request, *, without: Replica | None = None) -> Call | None:
        """Send it to a replica that is well. None: there is none."""
        for replica in sorted(self.replicas, key=lambda each: each.waiting):
            if replica is not without and replica.well:
                with suppress(ReplicaError):
                    return replica.begin(request)
        return None

    def ask(self, request: Whole | Request, deadline_s: float) -> Outcome | None:
        return self.finish(self.begin(request), request, deadline_s)

    def finish(
        self, call: Call | None, request: Whole | Request, deadline_s: float
    ) -> Outcome | None:
        """The answer, if need be of another replica. None: there is none in time."""
        while call is not None:
            try:
                return call.finish(deadline_s)
            except ReplicaError:
                late = time.monotonic() >= deadline_s  # another could only fail, too
                call = None if late else self.begin(request, without=call.replica)
        return None
