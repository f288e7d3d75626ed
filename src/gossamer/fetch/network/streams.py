"""Connections for schemes other than HTTP, to allowed addresses only."""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from aiohttp.abc import AbstractResolver

    from gossamer.fetch.network.allowed_networks import Networks

MAX_LINE_BYTES = 8 << 10
"""The longest line that `reader.readline` accepts; it raises ValueError for a longer one."""


class NoConnection(OSError):
    """The connection was not established in time."""


class Stream(NamedTuple):
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    address: str
    """The peer's IP address."""


@asynccontextmanager
async def connect(
    host: str, port: int, networks: Networks, resolver: AbstractResolver, timeout_s: float
) -> AsyncIterator[Stream]:
    """Connect to a host as written in a URL: a name, or an address (IPv6 in brackets).

    A name's addresses are tried in turn. Raises OSError; ForbiddenAddress if the settings do not
    allow the address.
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
    """Connect to an address. Raises what `connect` does."""
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
        # A fetcher sends little, which fits the kernel's buffer: this does not wait for the peer.
        stream.writer.close()
        with suppress(OSError):
            await stream.writer.wait_closed()
