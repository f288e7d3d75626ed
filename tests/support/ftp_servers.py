"""FTP servers on loopback: a real one, and one that sends scripted replies."""

from __future__ import annotations

import asyncio
import threading
import warnings
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import uvloop

from gossamer.plugins import FetchConfig, FetchResult, Networks, Request, Resolver, UrlRules
from gossamer_ftp.fetcher import FtpFetcher

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # pyftpdlib imports asyncore if it exists
    from pyftpdlib.authorizers import DummyAuthorizer  # type: ignore[import-untyped]
    from pyftpdlib.handlers import FTPHandler  # type: ignore[import-untyped]
    from pyftpdlib.ioloop import IOLoop  # type: ignore[import-untyped]
    from pyftpdlib.servers import FTPServer  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Iterator
    from pathlib import Path

T = TypeVar("T")
LIMIT = 10_000
RULES = UrlRules(schemes=("ftp",))
USER, PASSWORD = "me", "sécret"


def config(port: int, **settings: Any) -> FetchConfig:
    return FetchConfig(
        **{
            "allow_networks": ("127.0.0.0/8",),
            "host_overrides": {"*.test": f"127.0.0.1:{port}"},
            "contact": "mailto:me@a.test",
            **settings,
        }
    )


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run in the same kind of event loop as a fetch task."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(coroutine)


async def fetch_with(settings: FetchConfig, request: Request | str) -> FetchResult:
    if isinstance(request, str):
        request = Request(request, LIMIT)
    networks = Networks(settings.allow_networks)
    resolver = Resolver(settings, networks)
    try:
        async with FtpFetcher(settings, RULES, networks, resolver) as fetcher:
            return await fetcher.fetch(request)
    finally:
        await resolver.close()


@dataclass
class Real:
    folder: Path
    port: int = 0
    commands: list[str] = field(default_factory=list)
    passwords: list[str] = field(default_factory=list)
    without: frozenset[str] = frozenset()
    """Commands that the server does not support."""

    def fetch(self, request: Request | str, **settings: Any) -> FetchResult:
        return run(fetch_with(config(self.port, **settings), request))


@contextmanager
def serving(real: Real) -> Iterator[None]:
    class Authorizer(DummyAuthorizer):  # type: ignore[misc]  # pyftpdlib has no types
        def validate_authentication(self, user: str, password: str, handler: object) -> None:
            real.passwords.append(password)
            super().validate_authentication(user, password, handler)

    class Handler(FTPHandler):  # type: ignore[misc]  # pyftpdlib has no types
        authorizer = Authorizer()
        auth_failed_timeout = 0

        def pre_process_command(self, line: str, cmd: str, arg: str) -> None:
            real.commands.append(cmd)
            if cmd in real.without:
                self.respond(f'500 Command "{cmd}" not understood.')
            else:
                super().pre_process_command(line, cmd, arg)

    Handler.authorizer.add_anonymous(str(real.folder))
    Handler.authorizer.add_user(USER, PASSWORD, str(real.folder / "mine"))
    loop = IOLoop()
    server = FTPServer(("127.0.0.1", 0), Handler, ioloop=loop)
    real.port = server.socket.getsockname()[1]
    stop = threading.Event()

    def run() -> None:
        while not stop.is_set():
            loop.loop(timeout=0.01, blocking=False)
        server.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


SILENCE = b"silence"
"""Instead of a reply: send nothing until the client disconnects."""
FOREVER = b"forever"
"""A prefix: repeat the rest until the client disconnects."""


@dataclass
class Scripted:
    """A server whose `says` overrides the normal replies by command; transfers send `data`."""

    says: dict[str, bytes] = field(default_factory=dict)
    data: bytes = b"<p>hello"
    commands: list[str] = field(default_factory=list)
    data_port: int = 0
    transfers: int = 0
    silent: asyncio.Event = field(default_factory=asyncio.Event)

    def reply(self, command: str) -> bytes:
        passive = b"229 (|||%d|)\r\n" % self.data_port
        should: dict[str, bytes] = {
            "": b"220 Welcome\r\n",
            "USER": b"331 Password\r\n",
            "PASS": b"230 In\r\n",
            "TYPE": b"200 Binary\r\n",
            "MDTM": b"213 20231114221320.125\r\n",
            "CWD": b"250 There\r\n",
            "EPSV": passive,
            "RETR": b"150 Here\r\n226 Done\r\n",
            "MLSD": b"150 Here\r\n226 Done\r\n",
        }
        said = self.says.get(command, should.get(command, b"502 No\r\n"))
        return said.replace(b"PORT", b"%d,%d" % divmod(self.data_port, 256))

    async def control(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        command = ""
        try:
            while True:
                said = self.reply(command)
                if said == SILENCE:
                    self.silent.set()
                    await reader.read()
                    return
                if said.startswith(FOREVER):
                    while True:
                        writer.write(said.removeprefix(FOREVER) * 100)
                        await writer.drain()
                writer.write(said)
                if not said.endswith(b"\n"):
                    return
                if not (line := await reader.readline()):
                    return
                command = line.split()[0].decode()
                self.commands.append(command)
        except ConnectionError:
            return
        finally:
            writer.close()

    async def transfer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.transfers += 1
        try:
            if self.data == SILENCE:
                await reader.read()
            while self.data.startswith(FOREVER):
                writer.write(self.data.removeprefix(FOREVER) * 1000)
                await writer.drain()
            writer.write(self.data)
        except ConnectionError:
            return
        finally:
            writer.close()

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[int]:
        data = await asyncio.start_server(self.transfer, "127.0.0.1", 0)
        control = await asyncio.start_server(self.control, "127.0.0.1", 0)
        self.data_port = data.sockets[0].getsockname()[1]
        try:
            yield control.sockets[0].getsockname()[1]
        finally:
            for server in (data, control):
                server.close()
            await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})

    def fetch(self, url: str = "ftp://a.test/a.html", **settings: Any) -> FetchResult:
        async def fetch() -> FetchResult:
            async with self.serve() as port:
                return await fetch_with(config(port, **settings), url)

        return run(fetch())
