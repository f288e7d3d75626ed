"""Bodies, read within bounds of size, time and speed.

A body may end before its length or its last chunk does, with the connection or in rubbish.
Browsers show what came, Heritrix stores it (WARC-Truncated: disconnect), Nutch's okhttp plugin
does so if told to, Scrapy drops it unless told not to. Here it is a body with a `flaw`.

Half a page is a page, but half a PDF file cannot be read at all. So of files more is kept than of
pages (`limit_of`), and a task has room for a few such bodies at a time. A body that outgrows a page
waits for it, its connection at rest; one that gets none in time, or does not come to its end in
time, is cut where it is: no worse than a page would be.
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
"""Before the speed of a body is judged."""
LARGE_AT_ONCE = 4
"""Bodies of a task that are longer than fetch.max_body_bytes."""

_FILES = frozenset(("text/xml", "text/rtf"))
_PAGES = ("xhtml+xml", "json", "javascript", "ecmascript")
"""Subtypes of application that are text, and are read in part."""


def limit_of(request: Request, content_type: str | None) -> int:
    """How many bytes are kept of a body: of XML and of what is no text more than of a page."""
    kind = (content_type or "").partition(";")[0].strip().lower()
    is_file = kind.startswith("application/") and not kind.endswith(_PAGES)
    if is_file or kind in _FILES:
        return max(request.max_body_bytes, request.max_file_bytes)
    return request.max_body_bytes


class Body(NamedTuple):
    content: bytes
    cut: bool = False
    """At the limit, or before it if `hasty`."""
    flaw: str | None = None
    """Why it broke off."""
    late: str | None = None
    """Why it was given up."""
    hasty: bool = False
    """It was cut for want of time or room, and may be whole another time."""

    @classmethod
    def of(cls, content: bytes, limit: int) -> Body:
        return cls(content[:limit], cut=len(content) > limit)

    @property
    def is_partial(self) -> bool:
        return self.cut or self.flaw is not None

    @property
    def is_passing(self) -> bool:
        """Whether to keep no validators: asked for changes only, a server would say "none"."""
        return self.hasty or self.flaw is not None


class Bodies:
    """Reads the bodies of a task.

    Invariant: at most LARGE_AT_ONCE of those that are being read have more than
    `config.max_body_bytes`, but for the piece that told that there is more. The room of a body is
    free again when it is read: it is recorded before another turn of the loop.
    """

    def __init__(self, config: FetchConfig) -> None:
        self._config = config
        self._room = asyncio.Semaphore(LARGE_AT_ONCE)

    async def read(self, receive: Receive, limit: int, deadline_s: float) -> Body:
        """At most `limit` bytes of what `receive` gives, until it gives none, or `deadline_s`.

        That is a time of the loop's clock. Raises nothing but cancellation.
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
        """Room for a large body. Raises TimeoutError. The time until then is not its server's."""
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
    """What has come of a body."""

    def __init__(self, receive: Receive, deadline_s: float, min_bytes_per_s: int) -> None:
        self.size = 0
        self.begun_s = asyncio.get_running_loop().time()
        self._receive = receive
        self._deadline_s = deadline_s
        self._min_bytes_per_s = min_bytes_per_s
        self._until_s = 0.0
        self._chunks: list[bytes] = []

    async def fill(self, limit: int) -> bool:
        """Receive until there are more than `limit` bytes; whether there are.

        Raises TimeoutError at the deadline or when they come too slowly, and what `receive` does.
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
            return f"no whole answer within {timeout_s:g} s, {self.size} bytes came"
        speed = self.size / (asyncio.get_running_loop().time() - self.begun_s)
        return f"{speed:.0f} bytes/s on average, of at least {self._min_bytes_per_s}"

    def content(self, limit: int) -> bytes:
        """At most `limit` bytes. To cut the last piece saves a copy of them all."""
        chunks = self._chunks
        if self.size > limit:
            chunks[-1] = chunks[-1][: limit - self.size]
        return chunks[0] if len(chunks) == 1 else b"".join(chunks)
