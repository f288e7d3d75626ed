"""Hostile answers take bounded memory and time, do not delay good answers, and are logged."""

from __future__ import annotations

import asyncio
import re
import select
import socket
import ssl
import subprocess
import sys
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import uvloop

from gossamer.fakeweb import FakeWeb, Server, Web, serve
from gossamer.fakeweb.hostile import CATALOGUE, Act, End
from gossamer.fakeweb.hostile.act import TURN_BYTES, Player
from tests.support.hostile_client import (
    LAST,
    LAST_ANSWER,
    PATIENCE_S,
    WEB,
    answered,
    ask,
    assert_silent,
    endpoint,
    get,
    secure,
    through_the_door,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

pytestmark = pytest.mark.server

Reading = asyncio.StreamReader
Writing = asyncio.StreamWriter


@pytest.fixture(scope="module")
def fake() -> Iterator[FakeWeb]:
    with FakeWeb(WEB) as running:
        yield running


def test_doors(fake: FakeWeb) -> None:
    for name, data, end in (
        ("reset-accept", b"", "reset"),
        ("close-accept", b"", "closed"),
        ("talks-first", b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", "closed"),
    ):
        assert through_the_door(fake, name) == (data, end)
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(endpoint(fake, CATALOGUE["refuse-connect"]), PATIENCE_S)


def test_a_silent_door(fake: FakeWeb) -> None:
    where = endpoint(fake, CATALOGUE["silent-accept"])
    with socket.create_connection(where, PATIENCE_S) as client:
        client.sendall(get("silent-accept.hostile.test").encode())
        assert_silent(client, fake)


def test_a_door_that_never_opens(fake: FakeWeb) -> None:
    with socket.socket() as client:
        client.setblocking(False)
        client.connect_ex(endpoint(fake, CATALOGUE["silent-connect"]))
        answered(fake)
        assert select.select([], [client], [], 0) == ([], [], [])


def test_a_web_without_hostile_hosts_has_one_port() -> None:
    with FakeWeb(Web(hosts=1)) as fake:
        assert fake.routes == {"*.test": fake.address}
        assert fake.ca_file is None


def resident_bytes(pid: int) -> int:
    pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    return int(pages) * 4096


def test_ten_gigabytes_take_no_memory(fake: FakeWeb) -> None:
    before = resident_bytes(fake.pid)
    seen = 0
    with socket.create_connection(("127.0.0.1", fake.port), PATIENCE_S) as client:
        client.sendall(get("ten-gigabytes.hostile.test", "/", "Range: bytes=0-9").encode())
        while seen < 50 << 20:
            seen += len(client.recv(1 << 20))
        assert resident_bytes(fake.pid) < before + (20 << 20)
    answered(fake)


def talk(
    conversation: Callable[[Reading, Writing, Server], Awaitable[None]], web: Web = WEB
) -> None:
    """Start a server and run one conversation with it, on one connection."""

    async def main() -> None:
        async with asyncio.timeout(PATIENCE_S), serve(web) as server:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            await conversation(reader, writer, server)
            writer.close()

    uvloop.run(main())


ENDLESS = Web(hosts=1, hostile=True)


@pytest.mark.parametrize("name", ["endless-body", "slow-body", "silent-request", "stalled-body"])
def test_nothing_goes_on_when_the_client_has_gone(name: str) -> None:
    async def conversation(reader: Reading, writer: Writing, server: Server) -> None:
        writer.write(get(CATALOGUE[name].host).encode())
        if name != "silent-request":
            await reader.read(1)
        while not server.served:  # noqa: ASYNC110 - no event to wait for
            await asyncio.sleep(0)
        (connection,) = server.connections
        player = connection._pending
        writer.transport.abort()
        while server.connections:  # noqa: ASYNC110 - no event to wait for
            await asyncio.sleep(0)
        assert next(player._steps, None) is None  # type: ignore[union-attr]

    talk(conversation, ENDLESS)


def test_a_client_that_does_not_read_stops_the_flood() -> None:
    async def conversation(_: Reading, writer: Writing, server: Server) -> None:
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(get("endless-body.hostile.test").encode())
        while not server.connections:  # noqa: ASYNC110 - no event to wait for
            await asyncio.sleep(0)
        (connection,) = server.connections
        while not connection._paused:  # noqa: ASYNC110 - no event to wait for
            await asyncio.sleep(0)
        waiting = connection._transport.get_write_buffer_size()
        for _turn in range(50):
            await asyncio.sleep(0)
        assert 0 < connection._transport.get_write_buffer_size() <= waiting
        assert waiting < 1 << 20

    talk(conversation, ENDLESS)


def test_a_flood_leaves_others_their_turn() -> None:
    async def conversation(reader: Reading, writer: Writing, server: Server) -> None:
        async def drink(flood: Reading) -> None:
            while await flood.read(1 << 20):
                pass

        floods = [await asyncio.open_connection("127.0.0.1", server.port) for _ in range(5)]
        for _, to in floods:
            to.write(get("continue-flood.hostile.test").encode())
        drinkers = [asyncio.create_task(drink(flood)) for flood, _ in floods]
        for _ in range(20):
            writer.write(get("site-0.test").encode())
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"Content-Length: (\d+)", head)
            assert length
            await reader.readexactly(int(length[1]))
        for drinker, (_, to) in zip(drinkers, floods, strict=True):
            drinker.cancel()
            to.transport.abort()

    talk(conversation, ENDLESS)


def test_many_kept_answers_in_a_row() -> None:
    count = 5_000

    async def conversation(reader: Reading, writer: Writing, _: Server) -> None:
        writer.write(count * get("redirect-empty.hostile.test").encode() + LAST.encode())
        data = await reader.read(-1)
        assert data.count(b"HTTP/1.1 302 Found\r\n") == count
        assert data.endswith(LAST_ANSWER)

    talk(conversation, ENDLESS)


def test_an_act_has_an_end_of_its_own() -> None:
    async def conversation(reader: Reading, writer: Writing, server: Server) -> None:
        writer.write(get("silent-request.hostile.test").encode())
        while not server.served:  # noqa: ASYNC110 - no event to wait for
            await asyncio.sleep(0)
        now_s = asyncio.get_running_loop().time()
        server.close_idle(now_s + 100)
        assert server.connections
        assert not next(iter(server.connections))._transport.is_closing()
        server.close_idle(now_s + 1_000)
        assert await reader.read() == b""

    talk(conversation, ENDLESS)


def test_the_log_shows_them_all(tmp_path: Path) -> None:
    with FakeWeb(WEB, log_path=tmp_path / "log.tsv") as fake:
        for name in ("reset-request", "status-999", "redirect-self", "endless-body"):
            ask(fake, CATALOGUE[name].host)
        for name in ("talks-first", "reset-accept"):
            through_the_door(fake, name)
        secure(fake, CATALOGUE["tls-valid"])
        for name in ("tls-expired", "tls-plain"):
            with pytest.raises(ssl.SSLError):
                secure(fake, CATALOGUE[name])
        answered(fake)
        entries = [entry for entry in fake.log() if entry.target != "/robots.txt"]
    assert [(e.method, e.host, e.target, e.status) for e in entries[:-1]] == [
        ("GET", "reset-request.hostile.test", "/", 0),
        ("GET", "status-999.hostile.test", "/", 999),
        ("GET", "redirect-self.hostile.test", "/", 302),
        ("GET", "endless-body.hostile.test", "/", 200),
        ("-", "talks-first.hostile.test", "-", 0),
        ("-", "reset-accept.hostile.test", "-", 0),
        ("GET", "tls-valid.hostile.test", "/", 200),
        ("-", "tls-expired.hostile.test", "-", 0),
        ("-", "tls-plain.hostile.test", "-", 400),
    ]
    assert len({entry.connection for entry in entries}) == len(entries)


def test_the_command_line_tells_the_ports() -> None:
    program = "from gossamer.cli import main; main()"
    command = [sys.executable, "-c", program, "fakeweb", "--hosts=1", "--port=0", "--hostile"]
    with subprocess.Popen([*command, "--tls"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines: list[str] = []
        while not (lines and lines[-1].startswith("  CA certificate to trust: ")):
            lines.append(process.stdout.readline())
        ca_file = Path(lines[-1].split()[-1])
        assert ca_file.read_text().startswith("-----BEGIN CERTIFICATE-----")
        process.terminate()
    said = "".join(lines)
    assert "http://hostile.test/" in said
    for name in ("reset-accept.hostile.test", "tls-*.hostile.test"):
        assert re.search(rf"{re.escape(name)} has its own port: 127\.0\.0\.1:\d+", said)
    assert not ca_file.exists()


class Recorder:
    """A transport and an event loop that only record calls."""

    def __init__(self) -> None:
        self.written: list[bytes] = []
        self.later: list[tuple[float, Callable[[], None]]] = []
        self.unsent = 0
        self.calls: list[str] = []

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def call_soon(self, call: Callable[[], None]) -> Recorder:
        return self.call_later(0, call)

    def call_later(self, seconds: float, call: Callable[[], None]) -> Recorder:
        self.later.append((seconds, call))
        return self

    def cancel(self) -> None:
        self.later.clear()

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def get_extra_info(self, _: str) -> Recorder:
        return self

    def setsockopt(self, *_: object) -> None:
        self.calls.append("linger")

    def abort(self) -> None:
        self.calls.append("abort")


def player(*steps: bytes | float) -> tuple[Player, Recorder]:
    notes = Recorder()
    act = Act(200, lambda: cycle(steps))
    return Player(act, notes, notes, notes.cancel), notes  # type: ignore[arg-type]


def test_a_turn_has_an_end() -> None:
    playing, notes = player(bytes(TURN_BYTES // 4))
    playing.play()
    assert len(notes.written) == 4
    ((seconds, again),) = notes.later
    assert seconds == 0
    again()
    assert len(notes.written) == 8


def test_pauses_are_the_loop_s() -> None:
    playing, notes = player(b"a", 0.5)
    playing.play()
    assert notes.written == [b"a"]
    assert notes.later == [(0.5, playing.play)]
    playing.pause()
    playing.resume()  # does not play before the pause is over
    assert notes.written == [b"a"]


def test_nothing_is_written_to_who_does_not_read() -> None:
    playing, notes = player(b"a", 0.5)
    playing.play()
    playing.pause()
    notes.later.pop()[1]()
    assert notes.written == [b"a"]
    playing.resume()
    assert notes.written == [b"a", b"a"]


def test_a_cancelled_act_says_nothing_more() -> None:
    playing, notes = player(b"a", 0.5)
    playing.play()
    playing.cancel()
    playing.play()
    assert (notes.written, notes.later) == ([b"a"], [])


def test_a_reset_waits_until_all_is_sent() -> None:
    notes = Recorder()
    act = Act(200, lambda: [b"a"], End.RESET)
    notes.unsent = 1
    Player(act, notes, notes, notes.cancel).play()  # type: ignore[arg-type]
    assert notes.calls == []
    notes.unsent = 0
    notes.later.pop()[1]()
    assert notes.calls == ["linger", "abort"]
