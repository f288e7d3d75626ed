"""Connections for schemes that are not HTTP: to addresses that may be used, and to no others."""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from aiohttp.abc import AbstractResolver

    from gossamer.fetch.networks import Networks

MAX_LINE_BYTES = 8 << 10
"""What `reader.readline` takes, at most; of a longer line it raises ValueError."""


class NoConnection(OSError):
    """Nobody took the connection in time."""


class Stream(NamedTuple):
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    address: str
    """Of the peer."""


@asynccontextmanager
async def connect(
    host: str, port: int, networks: Networks, resolver: AbstractResolver, timeout_s: float
) -> AsyncIterator[Stream]:
    """A connection to a host, as in a URL: a name, or an address (of IPv6 in brackets).

    The addresses of a name are tried in turn. Raises OSError; ForbiddenAddress for one that the
    config does not allow.
    """
    found = await resolver.resolve(host.strip("[]"), port)
    failure = OSError(f"{host}: no address")
    for result in found:
        try:
            stream = await _dial(result["host"], result["port"], networks, timeout_s)
        except OSError as error:
            failure = error
            continue
        async with _closing(stream):
            yield stream
        return
    raise failure


@asynccontextmanager
async def connect_address(
    address: str, port: int, networks: Networks, timeout_s: float
) -> AsyncIterator[Stream]:
    """A connection to an address. Raises as `connect` does."""
    async with _closing(await _dial(address, port, networks, timeout_s)) as stream:
        yield stream


async def _dial(address: str, port: int, networks: Networks, timeout_s: float) -> Stream:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    target = (address, port)
    opened = networks.socket((family, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", target))
    try:
        opened.setblocking(False)
        async with asyncio.timeout(timeout_s):
            await asyncio.get_running_loop().sock_connect(opened, target)
        reader, writer = await asyncio.open_connection(sock=opened, limit=MAX_LINE_BYTES)
    except BaseException as error:
        opened.close()
        if isinstance(error, TimeoutError):
            raise NoConnection(f"no connection within {timeout_s:g} s") from None
        raise
    return Stream(reader, writer, address)


@asynccontextmanager
async def _closing(stream: Stream) -> AsyncIterator[Stream]:
    try:
        yield stream
    finally:
        # A fetcher's few words fit the kernel's buffer: this does not wait for the peer.
        stream.writer.close()
        with suppress(OSError):
            await stream.writer.wait_closed()
