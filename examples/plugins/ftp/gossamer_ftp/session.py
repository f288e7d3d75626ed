"""An FTP session (RFC 959; EPSV: RFC 2428): login, commands, replies and downloads.

Facts
  * The control connection carries lines of text. The data of each transfer come on a connection of
    their own, to a port that the server names. PASV also names an address, and could point us at
    a third machine. So we use only its port, with the address of the control connection.
  * A transfer ends twice: the data connection closes, and a reply reports whether that was all.

Every wait, line, number of lines and download is bounded. We speak FTP ourselves: ftplib needs
threads, which no time limit can end, and aioftp 0.28 collects the lines of a reply without a limit:
a server that never ended its greeting still held `connect` after 14 s, in spite of a timeout of
4 s, and its memory grew.
"""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from gossamer.plugins import connect, connect_address

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from gossamer.plugins import Body, FetchConfig, Networks, Resolver, Stream

    Receive = Callable[[], Awaitable[bytes]]
    Read = Callable[[Receive, int], Awaitable[Body]]

MAX_LINES = 1_000
"""Lines of all replies in a session. Welcome messages have a few dozen."""
READ_BYTES = 64 << 10

READY = 220
EXTENDED_PASSIVE = 229
NEEDS_PASSWORD = 331
CLOSING = 421
PRELIMINARY, COMPLETED = 1, 2
"""First digits of replies (RFC 959 §4.2.1)."""

_REPLY = re.compile(rb"([1-5][0-9]{2})(?:[ -]|\Z)")
_EPSV = re.compile(r"\(([!-~])\1\1([0-9]{1,5})\1\)")  # RFC 2428 §3
_PASV = re.compile(r"[0-9]{1,3}(?:,[0-9]{1,3}){3},([0-9]{1,3}),([0-9]{1,3})")  # RFC 959 §4.1.2
_UNSENDABLE = re.compile(rb"[\0\r\n]")


class Reply(NamedTuple):
    code: int
    text: str
    """The text of its first line."""

    @property
    def kind(self) -> int:
        return self.code // 100


class CommandRefused(Exception):
    """The server refused a command."""

    def __init__(self, reply: Reply) -> None:
        super().__init__(f"FTP {reply.code} {reply.text}")
        self.code = reply.code


class NotFtp(Exception):
    """The server sent something that is not an FTP reply."""


class Unsendable(Exception):
    """A command's argument contains a line break or NUL, so it would not be one command."""


class Session:
    """A control connection and the downloads that it starts.

    Invariant: no command is sent before the whole reply to the last one was read.
    All methods raise CommandRefused, NotFtp, Unsendable and OSError (which includes TimeoutError).
    """

    def __init__(
        self, control: Stream, networks: Networks, config: FetchConfig, read: Read
    ) -> None:
        self.address = control.address
        self._control = control
        self._networks = networks
        self._config = config
        self._read = read
        self._lines_left = MAX_LINES

    async def ask(self, command: bytes) -> Reply:
        """Send a command and return any reply; CommandRefused if the server ends the session."""
        if _UNSENDABLE.search(command):
            raise Unsendable("a line break or NUL in a name, which FTP cannot carry")
        self._control.writer.write(command + b"\r\n")
        return await self.reply()

    async def demand(self, command: bytes) -> Reply:
        """Send a command and return its reply; raise CommandRefused unless it reports success."""
        reply = await self.ask(command)
        if reply.kind != COMPLETED:
            raise CommandRefused(reply)
        return reply

    async def reply(self) -> Reply:
        limit_s = self._config.head_timeout_s
        try:
            async with asyncio.timeout(limit_s):
                first = line = await self._line()
                if _REPLY.match(first) is None:
                    raise NotFtp(f"not FTP: {first[:40]!r}")
                if first[3:4] == b"-":  # several lines, up to one with the code and a blank
                    while line[:4].rstrip() != first[:3]:
                        line = await self._line()
        except TimeoutError:
            raise TimeoutError(f"no reply within {limit_s:g} s") from None
        reply = Reply(int(first[:3]), first[4:].decode("utf-8", "replace").strip())
        if reply.code == CLOSING:
            raise CommandRefused(reply)
        return reply

    async def login(self, user: bytes, password: bytes) -> None:
        greeting = await self.reply()
        if greeting.code != READY:
            raise CommandRefused(greeting)
        reply = await self.ask(b"USER " + user)
        if reply.code == NEEDS_PASSWORD:
            reply = await self.ask(b"PASS " + password)
        if reply.kind != COMPLETED:
            raise CommandRefused(reply)
        await self.demand(b"TYPE I")

    async def download(self, command: bytes, limit: int) -> Body:
        """Download what a command transfers, at most `limit` bytes.

        If the body was truncated, the session can only be left.
        """
        port = await self._passive_port()
        timeout_s = self._config.connect_timeout_s
        async with connect_address(self.address, port, self._networks, timeout_s) as data:
            reply = await self.ask(command)
            if reply.kind not in {PRELIMINARY, COMPLETED}:
                raise CommandRefused(reply)
            found = await self._read(partial(data.reader.read, READ_BYTES), limit)
        if found.late is not None:
            raise TimeoutError(found.late)
        if found.is_partial or reply.kind == COMPLETED:
            return found
        try:
            reply = await self.reply()
        except (CommandRefused, NotFtp, OSError, ValueError) as error:
            return found._replace(flaw=str(error))
        return found if reply.kind == COMPLETED else found._replace(flaw=str(CommandRefused(reply)))

    def leave(self) -> None:
        self._control.writer.write(b"QUIT\r\n")

    async def _passive_port(self) -> int:
        reply = await self.ask(b"EPSV")
        if reply.code == EXTENDED_PASSIVE and (match := _EPSV.search(reply.text)):
            port = int(match[2])
        else:
            reply = await self.demand(b"PASV")
            match = _PASV.search(reply.text)
            if match is None:
                raise NotFtp(f"no port: {reply.text[:40]!r}")
            port = int(match[1]) * 256 + int(match[2])
        if not 0 < port < 1 << 16:
            raise NotFtp(f"no port: {reply.text[:40]!r}")
        return port

    async def _line(self) -> bytes:
        self._lines_left -= 1
        if self._lines_left < 0:
            raise NotFtp(f"replies of more than {MAX_LINES} lines")
        try:
            line = await self._control.reader.readline()
        except ValueError:
            raise NotFtp("a reply with an endless line") from None
        if not line.endswith(b"\n"):
            raise NotFtp("closed within a reply" if line else "closed without a reply")
        return line.rstrip(b"\r\n")


@asynccontextmanager
async def session(
    host: str, port: int, networks: Networks, resolver: Resolver, config: FetchConfig, read: Read
) -> AsyncIterator[Session]:
    """Connect to a server, without logging in; `read` reads the bodies that are downloaded."""
    timeout_s = config.connect_timeout_s
    async with connect(host, port, networks, resolver, timeout_s) as control:
        yield Session(control, networks, config, read)
