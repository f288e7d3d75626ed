"""Bodies, read within bounds of size, time and speed.

A body may end before its length or its last chunk does, with the connection or in rubbish.
Browsers show what came, Heritrix stores it (WARC-Truncated: disconnect), Nutch's okhttp plugin
does so if told to, Scrapy drops it unless told not to. Here it is a body with a `flaw`.
"""

from __future__ import annotations

import asyncio
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import aiohttp

if TYPE_CHECKING:
    from aiohttp.streams import StreamReader

    from gossamer.config import FetchConfig

GRACE_S = 5.0
"""Before the speed of a body is judged."""


class Body(NamedTuple):
    content: bytes
    cut: bool = False
    """At the limit."""
    flaw: str | None = None
    """Why it broke off."""
    late: str | None = None
    """Why it was given up."""


async def read(stream: StreamReader, limit: int, deadline_s: float, config: FetchConfig) -> Body:
    """At most `limit` bytes until `deadline_s`, a time of the loop's clock.

    Raises nothing but cancellation.
    """
    if stream.is_eof() and stream.exception() is None:  # as small pages are, once their head is
        content = stream.read_nowait()
        return Body(content[:limit], cut=len(content) > limit)
    loop = asyncio.get_running_loop()
    begun_s = loop.time()
    until_s = 0.0
    min_bytes_per_s = config.min_bytes_per_s
    chunks: list[bytes] = []
    size = 0
    flaw = late = None
    try:
        async with asyncio.timeout_at(None) as clock:
            while size <= limit:
                patience_s = GRACE_S + size / min_bytes_per_s if min_bytes_per_s else inf
                if until_s < (least_s := min(begun_s + patience_s, deadline_s)):
                    until_s = least_s
                    clock.reschedule(until_s)
                if not (chunk := await stream.readany()):
                    break
                chunks.append(chunk)
                size += len(chunk)
    except TimeoutError:
        seconds = loop.time() - begun_s
        if until_s == deadline_s:
            late = f"no whole answer within {config.timeout_s:g} s, {size} bytes came"
        else:
            late = f"{size / seconds:.0f} bytes/s on average, of at least {min_bytes_per_s}"
    except (aiohttp.ClientError, OSError):
        flaw = f"the connection ended after {size} bytes of the body"
    content = chunks[0] if len(chunks) == 1 else b"".join(chunks)
    return Body(content[:limit], size > limit, flaw, late)
