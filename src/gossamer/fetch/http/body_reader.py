"""Reading bodies within limits on size, time and speed.

A body may end too early: the connection closes, or garbage follows. Browsers show what arrived,
Heritrix stores it (WARC-Truncated: disconnect), Nutch's okhttp plugin can be configured to, Scrapy
drops it unless configured otherwise. Here it is a body with a `flaw`.

Half a page is a page, but half a PDF file cannot be read at all. So files may be larger than pages
(`limit_of`), and a task reads a few such bodies at once. A body that outgrows the limit of a page
waits for a free place while its connection is paused. If it gets no place in time, or is not
complete in time, it is truncated at what has arrived, which is at least as much as of a page.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import aiohttp

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from gossamer.config import FetchConfig
    from gossamer.fetch.exchange import Request

    Receive = Callable[[], Awaitable[bytes]]

GRACE_S = 5.0
"""Seconds before a body that arrives too slowly is given up."""
LARGE_AT_ONCE = 4
"""How many bodies longer than fetch.max_body_bytes a task reads concurrently."""

_FILES = frozenset(("text/xml", "text/rtf"))
_PAGES = ("xhtml+xml", "json", "javascript", "ecmascript")
"""Endings of `application/` types that are text, so that a part of one is still useful."""


def limit_of(request: Request, content_type: str | None) -> int:
    """How many bytes of a body to keep: more of XML and of binary files than of pages."""
    kind = (content_type or "").partition(";")[0].strip().lower()
    is_file = kind.startswith("application/") and not kind.endswith(_PAGES)
    if is_file or kind in _FILES:
        return max(request.max_body_bytes, request.max_file_bytes)
    return request.max_body_bytes


class Body(NamedTuple):
    content: bytes
    cut: bool = False
    """It was truncated at the limit, or earlier if `hasty`."""
    flaw: str | None = None
    """Why it ended early, if it did."""
    late: str | None = None
    """Why it was given up as too slow, if it was."""
    hasty: bool = False
    """It was truncated for lack of time or of a free place: another fetch may get all of it."""

    @classmethod
    def from_content(cls, content: bytes, limit: int) -> Body:
        return cls(content[:limit], cut=len(content) > limit)

    @property
    def is_partial(self) -> bool:
        return self.cut or self.flaw is not None

    @property
    def is_passing(self) -> bool:
        """Whether to store no validators: a later request with them would only get a 304."""
        return self.hasty or self.flaw is not None


class Bodies:
    """Reads the bodies of a task.

    Invariant: at most LARGE_AT_ONCE of the bodies being read hold more than `max_body_bytes`,
    apart from the chunk that crossed this limit. A body gives up its place as soon as it is read:
    the caller records it before the event loop runs anything else.
    """

    def __init__(self, config: FetchConfig) -> None:
        self._config = config
        self._room = asyncio.Semaphore(LARGE_AT_ONCE)

    async def read(self, receive: Receive, limit: int, deadline_s: float) -> Body:
        """Read until `receive` returns nothing, `limit` bytes have come or `deadline_s` is reached.

        `deadline_s` is on the event loop's clock. Never raises, except CancelledError.
        """
        page_limit = min(limit, self._config.max_body_bytes)
        intake = _Intake(receive, deadline_s, self._config.min_bytes_per_s)
        flaw = late = None
        hasty = False
        try:
            if await intake.fill(page_limit) and page_limit < limit:
                async with self._place(intake, deadline_s):
                    await intake.fill(limit)
        except TimeoutError:
            hasty = intake.size > page_limit
            late = None if hasty else intake.lateness(self._config.timeout_s)
        except (aiohttp.ClientError, OSError):
            flaw = f"the connection ended after {intake.size} bytes of the body"
        return Body(intake.content(limit), hasty or intake.size > limit, flaw, late, hasty)

    @asynccontextmanager
    async def _place(self, intake: _Intake, deadline_s: float) -> AsyncIterator[None]:
        """Hold one of the places for large bodies. Raises TimeoutError.

        The time spent waiting for a place does not count against the server's speed.
        """
        loop = asyncio.get_running_loop()
        waits_from_s = loop.time()
        async with asyncio.timeout_at(deadline_s):
            await self._room.acquire()
        try:
            intake.begun_s += loop.time() - waits_from_s
            yield
        finally:
            self._room.release()


class _Intake:
    """The part of a body that has arrived."""

    def __init__(self, receive: Receive, deadline_s: float, min_bytes_per_s: int) -> None:
        self.size = 0
        self.begun_s = asyncio.get_running_loop().time()
        self._receive = receive
        self._deadline_s = deadline_s
        self._min_bytes_per_s = min_bytes_per_s
        self._until_s = 0.0
        self._chunks: list[bytes] = []

    async def fill(self, limit: int) -> bool:
        """Receive until the body ends or is longer than `limit`; return whether it is longer.

        Raises TimeoutError at the deadline or if the body is too slow, and whatever `receive` does.
        """
        self._until_s = 0.0
        async with asyncio.timeout_at(None) as clock:
            while self.size <= limit:
                patience_s = inf
                if self._min_bytes_per_s:
                    patience_s = GRACE_S + self.size / self._min_bytes_per_s
                if self._until_s < (least_s := min(self.begun_s + patience_s, self._deadline_s)):
                    self._until_s = least_s
                    clock.reschedule(least_s)
                if not (chunk := await self._receive()):
                    return False
                self._chunks.append(chunk)
                self.size += len(chunk)
        return True

    def lateness(self, timeout_s: float) -> str:
        if self._until_s == self._deadline_s:
            return f"not complete within {timeout_s:g} s, {self.size} bytes came"
        speed = self.size / (asyncio.get_running_loop().time() - self.begun_s)
        return f"{speed:.0f} bytes/s on average, slower than {self._min_bytes_per_s}"

    def content(self, limit: int) -> bytes:
        """At most `limit` bytes. Truncating the last chunk avoids a copy of all of them."""
        chunks = self._chunks
        if self.size > limit:
            chunks[-1] = chunks[-1][: limit - self.size]
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)
