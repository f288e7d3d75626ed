"""The server on real sockets, its log and its process."""

from __future__ import annotations

import asyncio
import http.client
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import uvloop
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from gossamer.cli import app
from gossamer.cli.fakeweb_command import docs_option
from gossamer.errors import GossamerError, UsageError
from gossamer.fakeweb import FakeWeb, Mix, Server, Web, log_table, read_log, serve
from gossamer.fakeweb.http_request import RefusedRequest, Request, parse_request, take_request
from gossamer.fakeweb.http_server import loopback_addresses

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

pytestmark = pytest.mark.server

WEB = Web(seed=3, hosts=10, pages_per_host=5, page_bytes=3000)
Reading = asyncio.StreamReader
GET = "GET {} HTTP/1.1\r\nHost: site-0.test\r\n\r\n"


async def answer(reader: Reading, *, body: bool = True) -> tuple[int, dict[str, str], bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    line, *lines = head.removesuffix("\r\n\r\n").split("\r\n")
    headers = {name.lower(): value for name, _, value in (text.partition(": ") for text in lines)}
    length = int(headers.get("content-length", "0")) if body else 0
    return int(line.split()[1]), headers, await reader.readexactly(length)


def talk(
    conversation: Callable[[Reading, asyncio.StreamWriter, Server], Awaitable[None]],
    web: Web = WEB,
    log: Path | None = None,
) -> None:
    """Start a server and run one conversation with it, on one connection."""

    async def main() -> None:
        async with asyncio.timeout(20), serve(web, log=log) as server:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            await conversation(reader, writer, server)
            writer.close()

    uvloop.run(main())


def test_keep_alive_head_and_pipelining() -> None:
    async def conversation(reader: Reading, writer: asyncio.StreamWriter, server: Server) -> None:
        writer.write(GET.format("/").encode())
        status, headers, home = await answer(reader)
        assert (status, len(home)) == (200, int(headers["content-length"]))
        assert {"date", "etag", "last-modified", "content-type"} <= set(headers)
        writer.write(GET.format("/").replace("GET", "HEAD").encode())
        assert (await answer(reader, body=False))[:2] == (status, headers)
        targets = ["/gone/1", "/", "/missing/1", "/failing/1", "/robots.txt"]
        writer.write("".join(map(GET.format, targets)).encode())
        assert [(await answer(reader))[0] for _ in targets] == [410, 200, 404, 500, 200]
        assert server.connected == 1
        assert server.served == 7

    talk(conversation)


def test_a_request_in_pieces() -> None:
    async def conversation(reader: Reading, writer: asyncio.StreamWriter, _: Server) -> None:
        for byte in GET.format("/").encode():
            writer.write(bytes([byte]))
            await writer.drain()
            await asyncio.sleep(0)
        assert (await answer(reader))[0] == 200

    talk(conversation)


def test_not_modified_has_no_body() -> None:
    async def conversation(reader: Reading, writer: asyncio.StreamWriter, _: Server) -> None:
        writer.write(GET.format("/").encode())
        headers = (await answer(reader))[1]
        tag = f"If-None-Match: {headers['etag']}\r\n\r\n"
        writer.write(2 * GET.format("/").replace("\r\n\r\n", f"\r\n{tag}").encode())
        for _attempt in range(2):
            status, headers, body = await answer(reader)
            assert (status, body) == (304, b"")

    talk(conversation)


def test_slow_answers_keep_the_order() -> None:
    async def conversation(reader: Reading, writer: asyncio.StreamWriter, _: Server) -> None:
        slow = GET.replace("site-0", "site-3")
        writer.write((slow.format("/missing/1") + GET.format("/gone/1")).encode())
        assert [(await answer(reader))[0] for _ in range(2)] == [404, 410]

    talk(conversation, Web(hosts=10, mix=Mix(slow=1), latency_s=0.01))


def test_a_client_that_leaves_during_a_slow_answer() -> None:
    async def conversation(_: Reading, writer: asyncio.StreamWriter, server: Server) -> None:
        writer.write(GET.replace("site-0", "site-3").format("/").encode())
        await writer.drain()
        writer.close()
        while server.connections or not server.connected:  # noqa: ASYNC110 - no event to wait for
            await asyncio.sleep(0)
        assert server.served == 0

    talk(conversation, Web(hosts=10, mix=Mix(slow=1), latency_s=5))


def test_a_client_that_does_not_read_stops_the_answers() -> None:
    count = 300

    async def conversation(reader: Reading, writer: asyncio.StreamWriter, server: Server) -> None:
        writer.transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(count * GET.format("/").encode())
        await writer.drain()
        for _ in range(50):
            await asyncio.sleep(0)
        assert server.served < count
        writer.transport.resume_reading()  # type: ignore[attr-defined]
        assert [(await answer(reader))[0] for _ in range(count)] == count * [200]

    talk(conversation, Web(hosts=1, page_bytes=200_000))


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"nonsense\r\n\r\n", 400),
        (b"GET / HTTP/2\r\nHost: a\r\n\r\n", 400),
        (b"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\tb\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\n folded: x\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", 400),
        (b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", 405),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX: " + 20_000 * b"x", 431),
        (b"GET / HTTP/1.0\r\n\r\n", 404),
        (b"GET / HTTP/1.1\r\nHost: site-0.test\r\nConnection: close\r\n\r\n", 200),
    ],
)
def test_these_get_an_answer_and_the_connection_closes(sent: bytes, status: int) -> None:
    async def conversation(reader: Reading, writer: asyncio.StreamWriter, _: Server) -> None:
        writer.write(sent)
        assert (await answer(reader))[0] == status
        try:
            assert await reader.read() == b""
        except ConnectionResetError:
            assert status == 431  # closed while bytes were still arriving

    talk(conversation)


def test_a_proxy_request_names_its_host() -> None:
    request = parse_request(b"GET http://site-1.test/a?b HTTP/1.1\r\nHost: ignored")
    assert isinstance(request, Request)
    assert (request.host, request.target) == ("site-1.test", "/a?b")
    bare = parse_request(b"GET http://site-1.test HTTP/1.1\r\nHost: x")
    assert isinstance(bare, Request)
    assert bare.target == "/"


@given(
    st.binary()
    | st.lists(
        st.sampled_from(
            [
                b"GET ",
                b"/",
                b" HTTP/1.1",
                b"\r\n",
                b"Host: a",
                b"\r\n\r\n",
                b":",
                b" ",
                b"\0",
                b"\xff",
            ]
        )
    ).map(b"".join)
)
def test_any_bytes_are_taken_or_refused(sent: bytes) -> None:
    buffer = bytearray(sent)
    for _ in range(len(sent) + 1):
        before = len(buffer)
        request = take_request(buffer)
        if request is None or isinstance(request, RefusedRequest):
            return
        assert len(buffer) < before
        assert "\t" not in request.host + request.target
    pytest.fail("more requests than bytes")


def test_the_log_tells_what_happened(tmp_path: Path) -> None:
    path = tmp_path / "log.tsv"

    async def conversation(reader: Reading, writer: asyncio.StreamWriter, _: Server) -> None:
        writer.write((GET.format("/gone/1") + GET.format("/").replace("GET", "HEAD")).encode())
        await answer(reader)
        await answer(reader, body=False)
        writer.write(b"rubbish\r\n\r\n")
        await answer(reader)

    talk(conversation, log=path)
    entries = read_log(path)
    assert [(e.method, e.host, e.target, e.status) for e in entries] == [
        ("GET", "site-0.test", "/gone/1", 410),
        ("HEAD", "site-0.test", "/", 200),
        ("-", "-", "-", 400),
    ]
    assert entries[0].bytes > 0
    assert entries[1].bytes == 0
    assert {e.connection for e in entries} == {1}
    assert entries[0].monotonic_s <= entries[1].monotonic_s
    assert log_table(path).column("status").to_pylist() == [410, 200, 400]
    with pytest.raises(GossamerError):
        read_log(Path(__file__))


def test_many_addresses_share_a_port_and_hosts() -> None:
    async def main() -> None:
        async with serve(WEB, addresses=3) as server:
            assert server.addresses == ["127.0.0.1", "127.0.0.2", "127.0.0.3"]
            for address in server.addresses:
                reader, writer = await asyncio.open_connection(address, server.port)
                writer.write(GET.format("/").encode())
                assert (await answer(reader))[0] == 200
                writer.close()

    asyncio.run(main())


def test_idle_connections_are_closed() -> None:
    async def conversation(reader: Reading, _: asyncio.StreamWriter, server: Server) -> None:
        while not server.connections:  # noqa: ASYNC110 - no event to wait for
            await asyncio.sleep(0)
        now_s = asyncio.get_running_loop().time()
        server.close_idle(now_s + 1)
        assert server.connections
        server.close_idle(now_s + 100)
        assert await reader.read() == b""

    talk(conversation)


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.1", "8.8.8.8", "::", "::1", "example.com"])
def test_only_loopback_is_served(host: str) -> None:
    with pytest.raises(UsageError):
        FakeWeb(WEB, host)


def test_addresses_stay_in_loopback() -> None:
    assert loopback_addresses("localhost", 1) == ["127.0.0.1"]
    for host, count in (("127.0.0.1", 0), ("127.0.0.1", 1000), ("127.255.255.255", 2)):
        with pytest.raises(UsageError):
            loopback_addresses(host, count)


def test_a_process_of_its_own(tmp_path: Path) -> None:
    with FakeWeb(WEB, addresses=2, warm=3) as fake:
        assert fake.address == f"127.0.0.1:{fake.port}"
        client = http.client.HTTPConnection(fake.address, timeout=20)
        client.request("GET", "/", headers={"Host": "site-0.test"})
        assert client.getresponse().read() == WEB.answer("site-0.test", "/").body
        client.close()
        assert [entry.target for entry in fake.log()] == ["/"]
    assert [entry.target for entry in fake.log()] == ["/"]
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", fake.port), timeout=5)
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_cannot_start_says_why(tmp_path: Path) -> None:
    with FakeWeb(WEB, log_path=tmp_path / "log.tsv") as fake:
        twin = FakeWeb(WEB, port=fake.port, log_path=tmp_path / "other.tsv")
        with pytest.raises(GossamerError, match="cannot be bound"):
            twin.start()
    assert read_log(tmp_path / "log.tsv") == []


def test_the_command_line(tmp_path: Path) -> None:
    shown = CliRunner().invoke(app, ["fakeweb", "--help"])
    assert shown.exit_code == 0
    for option in ("--hosts", "--docs", "--page-bytes", "--log", "--addresses"):
        assert option in shown.output
    (tmp_path / "a=b").mkdir()
    assert docs_option(f"x.test={tmp_path}") == ("x.test", tmp_path)
    assert docs_option(str(tmp_path))[0].endswith("-docs.test")
    with pytest.raises(UsageError):
        docs_option("x.test=/nowhere")


def test_it_serves_in_the_foreground_until_it_is_told_to_end() -> None:
    program = "from gossamer.cli import main; main()"
    command = [sys.executable, "-c", program, "fakeweb", "--hosts", "2", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first = process.stdout.readline()
        process.terminate()
        rest = process.stdout.read()
    assert re.match(r"fakeweb listens on 127\.0\.0\.1:\d+;", first)
    assert rest.splitlines()[-1] == "served 0 requests on 0 connections"
    assert process.returncode == 0
