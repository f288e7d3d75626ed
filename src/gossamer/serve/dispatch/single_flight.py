"""Concurrent requests for the same thing share one computation (single flight)."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

_T = TypeVar("_T")


class SingleFlight(Generic[_T]):
    """Belongs to one event loop. Invariant: `_open` holds exactly the running computations."""

    def __init__(self) -> None:
        self._open: dict[Hashable, asyncio.Future[_T]] = {}

    async def share(self, key: Hashable, compute: Callable[[], Awaitable[_T]]) -> _T:
        """Return or raise the result of `compute`, or of the call already running for this key.

        Cancelling one caller does not cancel the computation: the others still get the result.
        """
        flight = self._open.get(key)
        if flight is None:
            flight = asyncio.ensure_future(compute())
            self._open[key] = flight
            flight.add_done_callback(lambda _: self._open.pop(key))
        return await asyncio.shield(flight)
