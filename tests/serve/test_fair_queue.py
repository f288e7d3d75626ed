"""The order in which waiting requests start, and computations that identical requests share."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from gossamer.serve.dispatch.fair_queue import ANYBODY, Busy, FairQueue
from gossamer.serve.dispatch.single_flight import SingleFlight
from tests.support.counted_names import CountedName, counted_names

if TYPE_CHECKING:
    from collections.abc import Sequence


class Requests:
    """Requests that hold their turn until `end` is called. `order` lists them as they began."""

    def __init__(self, turns: FairQueue) -> None:
        self.order: list[str] = []
        self.tasks: list[asyncio.Task[None]] = []
        self._turns = turns
        self._ends: list[asyncio.Event] = []

    async def add(self, clients: Sequence[str]) -> None:
        self.tasks += [asyncio.create_task(self._request(client)) for client in clients]
        await settled()

    async def _request(self, client: str) -> None:
        async with self._turns.taken(client):
            self.order.append(client)
            self._ends.append(ended := asyncio.Event())
            await ended.wait()

    async def end(self, count: int = 1) -> None:
        """End the requests that began first."""
        for _ in range(count):
            self._ends.pop(0).set()
            await settled()

    async def all(self) -> list[str]:
        """End all requests, and return the order in which they began."""
        while self._ends:
            await self.end()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        return self.order


async def settled() -> None:
    """Let every task run until it waits."""
    for _ in range(5):
        await asyncio.sleep(0)


def test_the_next_turn_goes_to_the_client_that_has_the_fewest() -> None:
    async def run() -> list[str]:
        requests = Requests(FairQueue("search", running=2, waiting=100))
        await requests.add("aaaaaaaa")
        await requests.add("bc")
        return await requests.all()

    assert asyncio.run(run()) == list("aabcaaaaaa")


def test_one_client_has_its_share_of_the_turns_at_most() -> None:
    async def run() -> tuple[list[str], list[str]]:
        requests = Requests(FairQueue("search", running=4, waiting=100, share=2))
        await requests.add("aaaa")
        before = list(requests.order)
        await requests.add("bb")
        return before, await requests.all()

    assert asyncio.run(run()) == (list("aa"), list("aabbaa"))


def test_requests_without_an_address_may_take_every_turn() -> None:
    async def run() -> list[str]:
        requests = Requests(FairQueue("search", running=3, waiting=100, share=1))
        await requests.add([ANYBODY] * 3)
        begun = list(requests.order)
        await requests.all()
        return begun

    assert asyncio.run(run()) == [ANYBODY] * 3


def test_a_full_queue_refuses_the_client_that_waits_with_the_most() -> None:
    async def run() -> tuple[list[str], list[bool]]:
        requests = Requests(FairQueue("search", running=1, waiting=3))
        await requests.add("aaaaa")  # one has the turn, three wait, the last is refused
        await requests.add("b")  # takes the place of one that waits
        order = await requests.all()
        return order, [isinstance(task.exception(), Busy) for task in requests.tasks]

    order, refused = asyncio.run(run())
    assert order == list("abaa")
    assert refused == [False, False, False, True, True, False]


def test_a_request_cancelled_while_waiting_leaves_no_state() -> None:
    async def run() -> list[str]:
        turns = FairQueue("search", running=1, waiting=10)
        requests = Requests(turns)
        await requests.add("aab")
        requests.tasks[1].cancel()
        await settled()
        assert turns.waiting == 1
        return await requests.all()

    assert asyncio.run(run()) == list("ab")


def test_a_turn_given_to_a_cancelled_request_passes_to_the_next() -> None:
    async def run() -> list[str]:
        requests = Requests(FairQueue("search", running=1, waiting=10))
        await requests.add("abc")
        requests._ends.pop(0).set()
        await asyncio.sleep(0)  # "a" gives its turn to "b"
        requests.tasks[1].cancel()
        await settled()
        return await requests.all()

    assert "c" in asyncio.run(run())


def test_a_turn_that_becomes_free_while_a_request_is_cancelled_passes_to_the_next() -> None:
    async def run() -> tuple[list[str], list[BaseException | None]]:
        requests = Requests(FairQueue("search", running=1, waiting=10))
        await requests.add("abc")
        requests._ends.pop(0).set()
        requests.tasks[1].cancel()  # "b" will notice it only after "a" has ended
        await settled()
        order = await requests.all()
        return order, [task.exception() for task in requests.tasks if not task.cancelled()]

    assert asyncio.run(run()) == (list("ac"), [None, None])


def test_a_request_that_is_cancelled_while_it_loses_its_place_is_not_an_error() -> None:
    async def run() -> list[str]:
        requests = Requests(FairQueue("search", running=1, waiting=3))
        await requests.add("aaaa")
        requests.tasks.append(asyncio.create_task(requests._request("b")))
        requests.tasks[3].cancel()  # it will notice it only after "b" has taken its place
        await settled()
        return await requests.all()

    assert asyncio.run(run()) == list("abaa")


def test_a_request_that_is_refused_and_cancelled_at_once_gives_nothing_back() -> None:
    async def run() -> list[str]:
        turns = FairQueue("search", running=1, waiting=2)
        requests = Requests(turns)
        await requests.add("aaa")
        requests.tasks.append(asyncio.create_task(requests._request("b")))
        await asyncio.sleep(0)  # the last of "a" is refused, and does not know it yet
        requests.tasks[2].cancel()
        await settled()
        return list(requests.order)

    assert asyncio.run(run()) == ["a"]


def test_a_turn_costs_the_same_however_many_clients_wait() -> None:
    async def lookups_per_turn(clients: int) -> float:
        requests = Requests(FairQueue("search", running=2, waiting=clients))
        await requests.add(counted_names(clients))
        await requests.all()
        return CountedName.lookups / clients

    few, many = (asyncio.run(lookups_per_turn(clients)) for clients in (20, 100))
    assert many < 1.5 * few


def test_callers_for_one_key_share_a_computation_and_its_error() -> None:
    async def run() -> None:
        flights: SingleFlight[int] = SingleFlight()
        go, computed = asyncio.Event(), []

        async def compute() -> int:
            computed.append(1)
            await go.wait()
            if len(computed) > 1:
                raise ValueError
            return 7

        async def asked() -> list[int | BaseException]:
            tasks = [asyncio.create_task(flights.share("key", compute)) for _ in range(5)]
            await settled()
            tasks[0].cancel()
            go.set()
            return await asyncio.gather(*tasks[1:], return_exceptions=True)

        assert await asked() == [7] * 4
        assert len(computed) == 1
        errors = await asked()
        assert len(computed) == 2
        assert all(isinstance(error, ValueError) for error in errors)

    with suppress(asyncio.CancelledError):
        asyncio.run(run())


@pytest.mark.parametrize("kind", ["search", "copy"])
def test_a_refusal_names_its_kind(kind: str) -> None:
    assert kind in str(Busy(kind))
