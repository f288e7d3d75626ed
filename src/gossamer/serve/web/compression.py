"""Compresses responses with brotli or gzip, as the client accepts (RFC 9110, section 12.5.3).

Facts
  * BREACH and HEIST guess a secret in a page letter by letter: a foreign page makes the victim's
    browser request our page with a guess that our page repeats, and the size of the compressed
    response says whether the guess was right.
  * No page of ours has a token or a cookie, but a page of results repeats the query beside texts
    that may be confidential. Browsers mark requests that other sites cause (Sec-Fetch-Site).
  * The same text compressed in two ways has different bytes, so one strong ETag cannot stand for
    both; a weak one can (section 8.8.1).
  * Compressing holds the interpreter for about 10 ms per MB.

So requests that other sites cause get uncompressed responses, ETags of texts are weak, long bodies
are compressed in pieces, between which other requests get on, and the longest ones not at all.
"""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Protocol

import brotli
from isal import isal_zlib
from starlette.datastructures import Headers, MutableHeaders

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LEAST_BYTES = 600
"""A shorter response fits into one packet anyway."""
MOST_BYTES = 1 << 20
PIECE_BYTES = 65_536
GZIP_LEVEL = 3
BROTLI_QUALITY = 3
"""A page of results of 30 kB takes 0.2 ms with gzip and 0.4 ms with brotli, which makes it 2 %
smaller; the next better qualities take twice as long for another 2 %."""
NOT_MODIFIED = 304
_TEXT = re.compile(
    r"text/|image/svg\+xml|application/(?:(?:[\w.-]+\+)?(?:json|xml)|javascript)(?:;|\Z)"
)
_WEIGHT = re.compile(r"q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)")


class _Compressor(Protocol):
    def process(self, data: bytes) -> bytes: ...
    def finish(self) -> bytes: ...


class _Gzip:
    def __init__(self) -> None:
        gzip_header = 16
        inner = isal_zlib.compressobj(GZIP_LEVEL, wbits=gzip_header + isal_zlib.MAX_WBITS)
        self.process: Callable[[bytes], bytes] = inner.compress
        self.finish: Callable[[], bytes] = inner.flush


def _brotli() -> _Compressor:
    made: _Compressor = brotli.Compressor(mode=brotli.MODE_TEXT, quality=BROTLI_QUALITY)
    return made


CODINGS: dict[str, Callable[[], _Compressor]] = {"br": _brotli, "gzip": _Gzip}
"""The best first."""


def choose_coding(accepted: str) -> str | None:
    """The content coding that an Accept-Encoding prefers; None for none of ours."""
    weights = {}
    for member in accepted.lower().split(","):
        name, *parameters = (part.strip() for part in member.split(";"))
        weights[name] = _weight(parameters)
    others = weights.get("*", 0.0)
    best = max(CODINGS, key=lambda coding: weights.get(coding, others))
    weight = weights.get(best, others)
    return best if weight > 0 and weight >= weights.get("identity", 0.0) else None


def _weight(parameters: list[str]) -> float:
    if not parameters:
        return 1.0
    match = _WEIGHT.fullmatch(parameters[0])
    return float(match[1]) if match and len(parameters) == 1 else 0.0


class Compression:
    """Compresses texts that come in one piece; what comes in several passes as it is."""

    def __init__(self, inner: ASGIApp) -> None:
        self._inner = inner

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            send = _Answer(send, _coding_for(Headers(scope=scope))).send
        await self._inner(scope, receive, send)


def _coding_for(request: Headers) -> str | None:
    if request.get("sec-fetch-site", "none") not in ("none", "same-origin"):
        return None
    return choose_coding(",".join(request.getlist("accept-encoding")))


class _Answer:
    """A response on its way: its start is held until the first piece of its body is there."""

    def __init__(self, send: Send, coding: str | None) -> None:
        self._send = send
        self._coding = coding
        self._start: Message | None = None

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        if self._start is not None:
            # A response that is reused (expensive_responses.py) sends the same list each time.
            start = {**self._start, "headers": [*self._start["headers"]]}
            self._start = None
            message = await self._prepared(start, message)
            await self._send(start)
        await self._send(message)

    async def _prepared(self, start: Message, body: Message) -> Message:
        """Compress a body if that is allowed and worth it, and adapt the headers in `start`."""
        headers = MutableHeaders(raw=start["headers"])
        is_variable = _is_text(headers) and not body.get("more_body", False)
        if start["status"] == NOT_MODIFIED or is_variable:
            headers.add_vary_header("Accept-Encoding")
            if headers.get("etag", "").startswith('"'):
                headers["etag"] = f"W/{headers['etag']}"
        data: bytes = body.get("body", b"")
        if not is_variable or self._coding is None or not LEAST_BYTES <= len(data) <= MOST_BYTES:
            return body
        compressed = await _compress(data, self._coding)
        headers["content-encoding"] = self._coding
        headers["content-length"] = str(len(compressed))
        del headers["accept-ranges"]
        return {**body, "body": compressed}


def _is_text(headers: MutableHeaders) -> bool:
    """Whether a response has a text, which is whole and not compressed, and may be."""
    return (
        _TEXT.match(headers.get("content-type", "")) is not None
        and not {"content-encoding", "content-range"} & set(headers)
        and "no-transform" not in headers.get("cache-control", "")
    )


async def _compress(data: bytes, coding: str) -> bytes:
    compressor = CODINGS[coding]()
    pieces = []
    for at in range(0, len(data), PIECE_BYTES):
        if at:
            await asyncio.sleep(0)
        pieces.append(compressor.process(data[at : at + PIECE_BYTES]))
    return b"".join([*pieces, compressor.finish()])
