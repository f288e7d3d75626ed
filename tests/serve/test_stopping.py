"""What clients get, and the log, when the server stops before their requests are answered."""

from __future__ import annotations

import asyncio
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import httpx
import pytest
from starlette.responses import StreamingResponse

from gossamer.serve import web
from gossamer.serve.mcp.tools import Toolbox
from gossamer.serve.web import protocol
from gossamer.serve.web.stopping import Stopping
from tests.support.served_application import PATIENCE_S, get, listening, read
from tests.support.small_index import crawl

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from starlette.types import ASGIApp, Receive, Scope, Send

pytestmark = [pytest.mark.server]


@pytest.fixture(autouse=True)
def no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Running requests are cancelled at once."""
    monkeypatch.setattr(protocol, "SHUTDOWN_S", 0)


def stopped_while(application: Callable[[threading.Event], ASGIApp], path: str) -> bytes:
    """What a request of an application gets whose server stops when it sets the event."""
    begun = threading.Event()
    with listening(Stopping(application(begun))) as running, running.connected() as ours:
        ours.sendall(get(path))
        assert begun.wait(PATIENCE_S)
        running.server.should_exit = True
        return read(ours, b"never")


def waiting(begun: threading.Event) -> ASGIApp:
    async def application(_scope: Scope, _receive: Receive, _send: Send) -> None:
        begun.set()
        await asyncio.Event().wait()

    return application


def test_a_program_gets_problem_details() -> None:
    head, _, body = stopped_while(waiting, "/api/v1/search").partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503 ")
    assert b"content-type: application/problem+json" in head
    assert b"The server is stopping." in body


def test_people_get_a_page() -> None:
    head, _, body = stopped_while(waiting, "/").partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 503 ")
    assert b"The server is stopping." in body
    assert body.startswith(b"<!doctype html>")


def test_a_response_that_has_begun_is_cut_off() -> None:
    """It does not look complete: the last chunk of a body is empty (RFC 9112, section 7.1)."""

    def streaming(begun: threading.Event) -> ASGIApp:
        async def parts() -> AsyncIterator[bytes]:
            yield b"first"
            begun.set()
            await asyncio.Event().wait()

        return StreamingResponse(parts())

    _, _, body = stopped_while(streaming, "/").partition(b"\r\n\r\n")
    assert body == b"5\r\nfirst\r\n"


def test_what_is_sent_after_the_refusal_is_dropped() -> None:
    """uvicorn would raise RuntimeError in the task that sends it."""
    sent: list[str] = []

    def late(begun: threading.Event) -> ASGIApp:
        async def application(_scope: Scope, _receive: Receive, send: Send) -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                asyncio.get_running_loop().call_soon(asyncio.ensure_future, answer(send))

        async def answer(send: Send) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            sent.append("dropped")

        return application

    assert stopped_while(late, "/mcp").startswith(b"HTTP/1.1 503 ")
    assert sent == ["dropped"]


def test_a_request_whose_own_work_was_cancelled_is_no_refusal() -> None:
    async def application(_scope: Scope, _receive: Receive, _send: Send) -> None:
        work = asyncio.ensure_future(asyncio.Event().wait())
        work.cancel()
        await work

    with listening(Stopping(application)) as running, running.connected() as ours:
        ours.sendall(get())
        assert read(ours, b"Error").startswith(b"HTTP/1.1 500 ")


CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {
        "name": "search",
        "arguments": {"query": "pears"},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    },
}
REVISIONS = (
    {"mcp-protocol-version": "2025-06-18"},
    {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "search"},
)


def test_running_calls_of_tools_leave_no_tracebacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("mcp", reason="needs the extra mcp")
    begun = threading.Semaphore(0)

    async def call(*_: object) -> None:
        begun.release()
        await asyncio.Event().wait()

    monkeypatch.setattr(Toolbox, "call", call)
    server = web.server(crawl(tmp_path), log_level="error")
    with socket.create_server(("127.0.0.1", 0)) as listener, ThreadPoolExecutor() as clients:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
        accepted = {"accept": "application/json, text/event-stream"}
        answers = [
            clients.submit(httpx.post, url, json=CALL, headers=accepted | more, timeout=PATIENCE_S)
            for more in REVISIONS
        ]
        thread = threading.Thread(target=server.run, args=([listener],))
        thread.start()
        for _ in answers:
            assert begun.acquire(timeout=PATIENCE_S)
        server.should_exit = True
        assert [answer.result().status_code for answer in answers] == [503, 503]
        thread.join()
    logged = capsys.readouterr().err.splitlines()
    assert [line for line in logged if "Cancel 2 running" not in line] == []
