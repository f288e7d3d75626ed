"""Requests and replies as frames: four bytes, big-endian, of how many follow, then MessagePack.

What comes is decoded into the structures of `messages.py` and nothing else, and is of MAX_FRAME
bytes at most. There is no word for who may ask: a node listens for brokers alone, on loopback, on a
socket of its user, or in a network of its own.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import msgspec

from gossamer.serve.messages import Outcome, Request, Whole

if TYPE_CHECKING:
    from asyncio import StreamReader

MAX_FRAME = 16 << 20
_LENGTH = struct.Struct(">I")

_encode = msgspec.msgpack.Encoder().encode
_request = msgspec.msgpack.Decoder(Whole | Request)
_outcome = msgspec.msgpack.Decoder(Outcome)


class BadFrameError(Exception):
    """What came is no message."""


def packed(message: Whole | Request | Outcome) -> bytes:
    body = _encode(message)
    return _LENGTH.pack(len(body)) + body


def request_of(body: bytes) -> Whole | Request:
    """Raises BadFrameError."""
    try:
        request: Whole | Request = _request.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadFrameError(str(error)) from None
    return request


def outcome_of(body: bytes) -> Outcome:
    """Raises BadFrameError."""
    try:
        outcome: Outcome = _outcome.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadFrameError(str(error)) from None
    return outcome


async def next_frame(reader: StreamReader) -> bytes:
    """Raises BadFrameError, and IncompleteReadError at the end."""
    return await reader.readexactly(_length(await reader.readexactly(_LENGTH.size)))


def _length(head: bytes) -> int:
    (length,) = _LENGTH.unpack(head)
    if length > MAX_FRAME:
        raise BadFrameError(f"{length:,} bytes, of at most {MAX_FRAME:,}")
    return int(length)
