"""Bodies that outgrow a page: how much is kept of which, and how many at a time."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gossamer.config import FetchConfig
from gossamer.fetch.exchange import Request
from gossamer.fetch.http import body_reader
from gossamer.fetch.http.body_reader import GRACE_S, LARGE_AT_ONCE, Bodies, Body, limit_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

PAGE, FILE = 1_024, 5_000
CONFIG = FetchConfig(max_body_bytes=PAGE, timeout_s=60, min_bytes_per_s=100)


class Clock(asyncio.SelectorEventLoop):
    """A loop whose time goes on when the test says so."""

    now_s = 0.0

    def time(self) -> float:
        return self.now_s

    async def pass_by(self, seconds: float) -> None:
        await settle()
        self.now_s += seconds
        await settle()


async def settle() -> None:
    """Let everybody come to where they wait."""
    for _ in range(20):
        await asyncio.sleep(0)


def on_clock(test: Callable[[Clock], Coroutine[Any, Any, None]]) -> None:
    with asyncio.Runner(loop_factory=Clock) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, Clock)
        runner.run(test(loop))


class Sender:
    """Gives what it is told to give, in its pieces."""

    def __init__(self, *pieces: bytes) -> None:
        self._pieces: asyncio.Queue[bytes] = asyncio.Queue()
        self.given = 0
        self.send(*pieces)

    def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            self._pieces.put_nowait(piece)

    async def __call__(self) -> bytes:
        piece = await self._pieces.get()
        self.given += len(piece)
        return piece


def reading(bodies: Bodies, sender: Sender, deadline_s: float = 60.0) -> asyncio.Task[Body]:
    return asyncio.ensure_future(bodies.read(sender, FILE, deadline_s))


@pytest.mark.parametrize(
    "kind",
    [
        *("application/pdf", "Application/PDF; x=y", "application/octet-stream"),
        *("application/zip", "application/gzip", "application/xml", "text/xml;charset=utf-8"),
        *("application/rss+xml", "application/vnd.oasis.opendocument.text", "text/rtf"),
    ],
)
def test_more_is_kept_of_a_file(kind: str) -> None:
    assert limit_of(Request("", PAGE, max_file_bytes=FILE), kind) == FILE
    assert limit_of(Request("", FILE, max_file_bytes=PAGE), kind) == FILE
    assert limit_of(Request("", PAGE), kind) == PAGE


@pytest.mark.parametrize(
    "kind",
    [
        *(None, "", "text/html", "text/plain", "text/css", "application/xhtml+xml; charset=x"),
        *("application/json", "application/ld+json", "application/x-javascript", "image/png"),
        *("video/mp4", "application", "nonsense"),
    ],
)
def test_than_of_a_page(kind: str | None) -> None:
    assert limit_of(Request("", PAGE, max_file_bytes=FILE), kind) == PAGE


@given(st.lists(st.binary(min_size=1, max_size=900), max_size=10), st.integers(1, FILE))
def test_pieces_become_what_they_are_of(pieces: list[bytes], limit: int) -> None:
    async def read() -> None:
        found = await Bodies(CONFIG).read(Sender(*pieces, b""), limit, 60.0)
        whole = b"".join(pieces)
        assert found == Body(whole[:limit], cut=len(whole) > limit)
        assert found == Body.from_content(whole, limit)

    asyncio.run(read())


def test_a_few_large_bodies_at_a_time() -> None:
    async def test(_: Clock) -> None:
        bodies = Bodies(CONFIG)
        senders = [Sender(b"x" * PAGE, b"y", b"z") for _ in range(LARGE_AT_ONCE + 2)]
        tasks = [reading(bodies, sender) for sender in senders]
        await settle()
        sizes = [PAGE + 2] * LARGE_AT_ONCE + [PAGE + 1] * 2
        assert [sender.given for sender in senders] == sizes
        small = Sender(b"x" * PAGE, b"")
        assert (await reading(bodies, small)).content == b"x" * PAGE, "a page needs no room"
        for count, sender in enumerate(senders, start=1):
            sender.send(b"")
            await settle()
            assert [task.done() for task in tasks].count(True) == count
        assert {task.result() for task in tasks} == {Body(b"x" * PAGE + b"yz")}

    on_clock(test)


def test_waiting_for_room_is_not_slowness(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_reader, "LARGE_AT_ONCE", 1)

    async def test(clock: Clock) -> None:
        bodies = Bodies(CONFIG)
        first, second = Sender(bytes(PAGE + 1)), Sender(bytes(PAGE + 1))
        tasks = [reading(bodies, first), reading(bodies, second)]
        await clock.pass_by(GRACE_S)
        for _ in range(30):
            first.send(bytes(100))
            await clock.pass_by(1)
        first.send(b"")
        await settle()
        assert not tasks[0].result().is_partial
        second.send(bytes(100), b"")
        assert await tasks[1] == Body(bytes(PAGE + 101))

    on_clock(test)


def test_what_gets_no_room_in_time_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_reader, "LARGE_AT_ONCE", 1)

    async def test(clock: Clock) -> None:
        bodies = Bodies(CONFIG)
        keeper = reading(bodies, Sender(bytes(PAGE + 1)), deadline_s=90.0)
        await settle()
        waiting = reading(bodies, Sender(bytes(PAGE + 1), b""), deadline_s=3.0)
        await clock.pass_by(2)
        assert not waiting.done()
        await clock.pass_by(1)
        found = await waiting
        assert found == Body(bytes(PAGE + 1), cut=True, hasty=True)
        assert found.is_passing
        assert not keeper.done()
        keeper.cancel()

    on_clock(test)


@pytest.mark.parametrize("seconds", [GRACE_S + (PAGE + 1) / 100 + 0.01, 60])
def test_a_file_that_does_not_end_in_time_is_cut(seconds: float) -> None:
    """By its speed, and by the time for the whole."""

    async def test(clock: Clock) -> None:
        task = reading(Bodies(CONFIG), Sender(bytes(PAGE + 1)))
        await clock.pass_by(seconds)
        assert await task == Body(bytes(PAGE + 1), cut=True, hasty=True)

    on_clock(test)


def test_a_page_that_does_not_end_in_time_is_given_up() -> None:
    async def test(clock: Clock) -> None:
        whole, slow = Sender(bytes(PAGE)), Sender(bytes(10))
        tasks = [reading(Bodies(CONFIG), whole, 2.0), reading(Bodies(CONFIG), slow)]
        await clock.pass_by(2)
        assert (await tasks[0]).late == f"not complete within 60 s, {PAGE} bytes came"
        await clock.pass_by(8)
        assert (await tasks[1]).late == "1 bytes/s on average, slower than 100"

    on_clock(test)


async def broken() -> bytes:
    raise ConnectionResetError


async def cancelled() -> bytes:
    raise asyncio.CancelledError


@pytest.mark.parametrize("end", [broken, cancelled])
def test_room_is_free_again_however_a_body_ends(end: Callable[[], Awaitable[bytes]]) -> None:
    async def test(_: Clock) -> None:
        bodies = Bodies(CONFIG)
        for _number in range(2 * LARGE_AT_ONCE):
            sender = Sender(bytes(PAGE + 1))

            async def receive(sender: Sender = sender) -> bytes:
                return await (end() if sender.given else sender())

            task = asyncio.ensure_future(bodies.read(receive, FILE, 60.0))
            await asyncio.wait([task])
            assert task.cancelled() or task.result().flaw
        large = Sender(bytes(PAGE + 1), b"x", b"")
        assert len((await reading(bodies, large)).content) == PAGE + 2

    on_clock(test)
