"""Requests and replies as frames: the length as four big-endian bytes, then MessagePack.

A frame has at most MAX_FRAME bytes and is decoded into the structures of `messages.py` only. Who
may connect is not decided here: on other machines, those with a certificate (`tls.py`); else, those
who can reach a Unix socket of this user, or loopback.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

import msgspec

from gossamer.search.messages import AnyReply, AnyRequest

if TYPE_CHECKING:
    from asyncio import StreamReader

MAX_FRAME = 16 << 20
_LENGTH = struct.Struct(">I")

_encode = msgspec.msgpack.Encoder().encode
_request = msgspec.msgpack.Decoder(AnyRequest)
_outcome = msgspec.msgpack.Decoder(AnyReply)


class BadFrameError(Exception):
    """The bytes received are not a valid message."""


def pack(message: AnyRequest | AnyReply) -> bytes:
    body = _encode(message)
    return _LENGTH.pack(len(body)) + body


def request_of(body: bytes) -> AnyRequest:
    """Raises BadFrameError."""
    try:
        request: AnyRequest = _request.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadFrameError(str(error)) from None
    return request


def outcome_of(body: bytes) -> AnyReply:
    """Raises BadFrameError."""
    try:
        outcome: AnyReply = _outcome.decode(body)
    except (msgspec.DecodeError, RecursionError) as error:
        raise BadFrameError(str(error)) from None
    return outcome


async def next_frame(reader: StreamReader) -> bytes:
    """Read the body of the next frame. Raises BadFrameError; IncompleteReadError at the end."""
    return await reader.readexactly(_frame_length(await reader.readexactly(_LENGTH.size)))


def _frame_length(head: bytes) -> int:
    (length,) = _LENGTH.unpack(head)
    if length > MAX_FRAME:
        raise BadFrameError(f"a frame of {length:,} bytes; at most {MAX_FRAME:,} are allowed")
    return int(length)
