"""Bodies that are too slow or too long, or whose length differs from the one in their head."""

from __future__ import annotations

from itertools import chain, repeat
from typing import TYPE_CHECKING

from gossamer.fakeweb.hostile.act import Act, End
from gossamer.fakeweb.hostile.case import Case, good_html
from gossamer.fakeweb.hostile.heads import HTML, drip, flood, head, raw_act
from gossamer.fakeweb.seeded_random import stream

if TYPE_CHECKING:
    from gossamer.fakeweb.hostile.case import Ask, Reply

PDF = "Content-Type: application/pdf"
CHUNKED = "Transfer-Encoding: chunked"
BLOCK_BYTES = 64 << 10
TEN_GB = 10 * 10**9
TINY_CHUNKS = 50_000


def block(ask: Ask) -> bytes:
    """Return 64 KiB of random hex digits that depend on the URL."""
    return stream(ask.seed, ask.host + ask.target).getrandbits(4 * BLOCK_BYTES).to_bytes(
        BLOCK_BYTES // 2, "big"
    ).hex().encode()  # fmt: skip


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def _slow(ask: Ask) -> Act:
    body = good_html(ask) + 10_000 * b"<p>slow"
    opening = head(HTML, f"Content-Length: {len(body)}")
    return Act(200, lambda: chain([opening], drip(body, ask.drip_s)))


def _stall(ask: Ask) -> Act:
    body = good_html(ask)
    return raw_act(200, head(HTML, "Content-Length: 100000") + body, End.HANG)


def _endless(kind: str) -> Reply:
    opening = head(kind, "Connection: close")
    return lambda ask: Act(200, lambda: chain([opening], repeat(block(ask))))


def _endless_chunks(ask: Ask) -> Act:
    return Act(200, lambda: chain([head(HTML, CHUNKED)], repeat(chunk(block(ask)))))


def _tiny_chunks(ask: Ask) -> Act:
    body = good_html(ask).ljust(TINY_CHUNKS)
    raw = b"".join(b"1\r\n%c\r\n" % byte for byte in body)
    return raw_act(200, head(HTML, CHUNKED) + raw + b"0\r\n\r\n", End.KEEP)


def _endless_extension(_: Ask) -> Act:
    return Act(200, lambda: chain([head(HTML, CHUNKED), b"5;x="], repeat(flood(b"x"))))


def _endless_trailers(ask: Ask) -> Act:
    opening = head(HTML, CHUNKED) + chunk(good_html(ask)) + b"0\r\n"
    return Act(200, lambda: chain([opening], repeat(flood(b"X-Trailer: rain\r\n"))))


def _ten_gb(*lines: str) -> Reply:
    def reply(ask: Ask) -> Act:
        piece = block(ask)
        whole, rest = divmod(TEN_GB, len(piece))
        opening = head(HTML, f"Content-Length: {TEN_GB}", *lines)
        return Act(200, lambda: chain([opening], repeat(piece, whole), [piece[:rest]]), End.KEEP)

    return reply


def _page_with(*lines: str, end: End = End.CLOSE) -> Reply:
    """A page whose head has these lines, and otherwise no Content-Length."""
    return lambda ask: raw_act(200, head(HTML, *lines) + good_html(ask), end)


def _chunks(before: bytes, after: bytes = b"") -> Reply:
    """A page whose chunk framing consists of the bytes `before` and `after`."""
    return lambda ask: raw_act(200, head(HTML, CHUNKED) + before + good_html(ask) + after)


def _too_short(ask: Ask) -> Act:
    body = good_html(ask)
    raw = head(HTML, f"Content-Length: {len(body)}") + body + 1_000 * b"<p>more"
    return raw_act(200, raw, End.KEEP)


def _both(ask: Ask) -> Act:
    raw = chunk(good_html(ask)) + b"0\r\n\r\n"
    return raw_act(200, head(HTML, CHUNKED, "Content-Length: 7") + raw, End.KEEP)


CUT = ("ok", "broken")
"""A client may keep the first part of a body that breaks off, marked as cut, or drop it."""

CASES = (
    Case("slow-body", "sends its body byte by byte, with pauses", ("timeout",), _slow),
    Case("stalled-body", "stops sending in the middle of its body", ("timeout",), _stall),
    Case("endless-body", "an endless body without Content-Length", ("ok",), _endless(HTML)),
    Case("endless-file", "the same for a PDF file", ("ok",), _endless(PDF)),
    Case("endless-chunks", "an endless sequence of chunks", ("ok",), _endless_chunks),
    Case("tiny-chunks", f"{TINY_CHUNKS:,} chunks of one byte", ("ok",), _tiny_chunks),
    Case(
        "endless-extension",
        "an endless chunk extension (RFC 9112 §7.1.1)",
        ("broken", "timeout"),
        _endless_extension,
    ),
    Case(
        "endless-trailers",
        "a page in chunks, then endless trailer lines",
        ("broken", "ok", "timeout"),
        _endless_trailers,
    ),
    Case("ten-gigabytes", "a page of 10 GB with a correct length", ("ok",), _ten_gb()),
    Case(
        "ten-gigabytes-ranges",
        "the same; offers ranges, but always sends everything",
        ("ok",),
        _ten_gb("Accept-Ranges: bytes"),
    ),
    Case(
        "length-too-long",
        "Content-Length is 100,000, but the connection closes early (RFC 9112 §8)",
        CUT,
        _page_with("Content-Length: 100000"),
    ),
    Case("length-too-short", "sends more bytes than Content-Length", ("ok",), _too_short),
    Case(
        "length-twice",
        "two different Content-Lengths (RFC 9112 §6.3)",
        ("broken",),
        _page_with("Content-Length: 50", "Content-Length: 51"),
    ),
    Case(
        "length-negative",
        "Content-Length: -5, then closes",
        ("ok", "broken"),
        _page_with("Content-Length: -5"),
    ),
    Case(
        "length-garbage",
        "Content-Length: many, then closes",
        ("ok", "broken"),
        _page_with("Content-Length: many"),
    ),
    Case(
        "length-overflow",
        "Content-Length of 30 digits, then closes",
        ("broken", "ok"),
        _page_with(f"Content-Length: 1{29 * '0'}"),
    ),
    Case(
        "length-and-chunks",
        "both Content-Length and chunks; chunks take precedence, or it is an error (RFC 9112 §6.3)",
        ("broken", "ok"),
        _both,
    ),
    Case("chunk-not-hex", "a chunk size that is not a number", ("broken",), _chunks(b"zz\r\n")),
    Case("chunk-overflow", "a chunk size of 20 digits", ("broken",), _chunks(20 * b"F" + b"\r\n")),
    Case("chunk-negative", "a negative chunk size", ("broken",), _chunks(b"-10\r\n")),
    Case(
        "chunk-unframed",
        "a chunk that is longer than its declared size",
        CUT,
        _chunks(b"10\r\n", b"\r\n0\r\n\r\n"),
    ),
    Case(
        "chunk-cut",
        "closes before the last chunk (RFC 9112 §8)",
        CUT,
        lambda ask: raw_act(200, head(HTML, CHUNKED) + chunk(good_html(ask))),
    ),
)
