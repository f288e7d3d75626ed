"""Requests and replies as frames: the length as four big-endian bytes, then MessagePack.

A frame has at most MAX_FRAME bytes, or MAX_REQUEST, and is decoded into the structures of
`messages.py` only. Who may connect is not decided here: on other machines, those with a certificate
(`tls.py`); else, those who can reach a Unix socket of this user, or loopback. So a process does not
wait for ever for whoever has connected.
"""

from __future__ import annotations

import asyncio
import struct
from typing import TYPE_CHECKING

import msgspec

from gossamer.search.messages import AnyReply, AnyRequest

if TYPE_CHECKING:
    from asyncio import StreamReader

MAX_FRAME = 16 << 20
MAX_REQUEST = 4 << 20
"""The largest contain the frequencies of all terms of a long query in all languages: about 1 MB."""
IDLE_S = 60.0
"""A connection without requests is closed; a server then opens another one for its next request."""
REQUEST_S = 10.0
"""A request must be complete this long after its first byte."""
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
    head = await reader.readexactly(_LENGTH.size)
    return await reader.readexactly(_frame_length(head, MAX_FRAME))


async def next_request(reader: StreamReader) -> bytes:
    """As `next_frame`, with the limits for clients. Raises TimeoutError, too."""
    async with asyncio.timeout(IDLE_S):
        first = await reader.readexactly(1)
    async with asyncio.timeout(REQUEST_S):
        head = first + await reader.readexactly(_LENGTH.size - 1)
        return await reader.readexactly(_frame_length(head, MAX_REQUEST))


def _frame_length(head: bytes, most: int) -> int:
    (length,) = _LENGTH.unpack(head)
    if length > most:
        raise BadFrameError(f"a frame of {length:,} bytes; at most {most:,} are allowed")
    return int(length)
