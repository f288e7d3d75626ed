"""The tools as clients of the official SDK see them, over both transports and in both eras."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx
import pytest
from msgspec import structs

from gossamer.serve.mcp.tokens import new_token
from gossamer.serve.mcp.tools import TOOLS
from tests.support.read_web import SITE, store_read_web
from tests.support.search_server import serving

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from gossamer.state.workspace import Workspace

pytestmark = [pytest.mark.server, pytest.mark.folder]
sdk = pytest.importorskip("mcp", reason="needs the extra mcp")

MODES = ("auto", "legacy")
"""The stateless revision 2026-07-28, and the handshake of earlier ones."""
HANDSHAKE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
HEADERS = {"accept": "application/json, text/event-stream", "content-type": "application/json"}


@pytest.fixture(scope="module")
def work(new_work: Callable[[], Workspace]) -> Workspace:
    opened = new_work()
    store_read_web(opened)
    return opened


@pytest.fixture(scope="module")
def address(work: Workspace) -> Iterator[str]:
    with serving(work) as client:
        yield str(client.base_url).rstrip("/") + "/mcp"


def asked(server: Any, use: Callable[[Any], Awaitable[Any]], mode: str) -> Any:
    async def ask() -> Any:
        async with sdk.Client(server, mode=mode) as client:
            return await use(client)

    return asyncio.run(ask())


async def search_and_fetch(client: Any) -> tuple[list[str], Any, Any]:
    listed = await client.list_tools()
    found = await client.call_tool("search", {"query": "water pears", "count": 1})
    page = await client.call_tool("fetch", {"id": found.structured_content["results"][0]["id"]})
    return [tool.name for tool in listed.tools], found, page


def check_answers(names: list[str], found: Any, page: Any) -> None:
    assert names == [tool.name for tool in TOOLS]
    [result] = found.structured_content["results"]
    assert result["url"] == f"{SITE}pears#growing"
    assert json.loads(found.content[0].text) == found.structured_content
    assert page.structured_content["text"].startswith("# About pears")


@pytest.mark.parametrize("mode", MODES)
def test_over_http(address: str, mode: str) -> None:
    check_answers(*asked(address, search_and_fetch, mode))


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES)
def test_over_standard_input_and_output(work: Workspace, mode: str) -> None:
    command = sdk.StdioServerParameters(
        command=sys.executable,
        args=["-m", "gossamer", "mcp", work.root],
        env={"PYTHONPATH": ":".join(sys.path)},
    )
    check_answers(*asked(command, search_and_fetch, mode))


def test_errors_are_told_to_the_model(address: str) -> None:
    async def use(client: Any) -> Any:
        return await client.call_tool("fetch", {"url": f"{SITE}secret"})

    answer = asked(address, use, "auto")
    assert answer.is_error
    assert "noarchive" in answer.content[0].text


@pytest.mark.parametrize("mode", MODES)
def test_a_tool_that_is_not_there_is_an_error_of_the_protocol(address: str, mode: str) -> None:
    async def use(client: Any) -> Any:
        with pytest.raises(sdk.MCPError, match="Unknown tool: 'shell'") as raised:
            await client.call_tool("shell", {})
        return raised.value.code

    assert asked(address, use, mode) == -32602


@pytest.mark.parametrize("around", ["{}", "  {}", "{}  ", "\t{}\t"])
def test_white_space_around_the_value_of_a_header_is_no_part_of_it(
    address: str, around: str
) -> None:
    """RFC 9110, section 5.5. The revision 2026-07-28 compares headers with the body."""
    prefix = "io.modelcontextprotocol/"
    meta: dict[str, object] = {f"{prefix}protocolVersion": "2026-07-28"}
    meta |= {f"{prefix}clientInfo": {"name": "test", "version": "1"}}
    meta |= {f"{prefix}clientCapabilities": {}}
    call = {"name": "sites", "arguments": {}, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    body = json.dumps(message).encode()
    headers = HEADERS | {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call"}
    headers |= {"host": "localhost", "connection": "close", "content-length": str(len(body))}
    lines = ["POST /mcp HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    lines += [f"Mcp-Name:{around.format('sites')}", "\r\n"]
    url = urlsplit(address)
    with socket.create_connection((url.hostname or "", url.port or 0), 60) as connection:
        connection.sendall("\r\n".join(lines).encode() + body)
        answer = connection.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b'"isError":true' not in answer


def post(address: str, **headers: str) -> httpx.Response:
    return httpx.post(address, json=HANDSHAKE, headers=HEADERS | headers, timeout=60)


def test_only_programs_on_this_machine_need_no_token(address: str) -> None:
    assert post(address).status_code == 200
    for name, value in (
        ("x-forwarded-for", "192.0.2.1"),
        ("via", "1.1 proxy"),
        ("origin", "https://evil.example"),
        ("origin", "null"),
    ):
        answer = post(address, **{name: value})
        assert answer.status_code == 403, (name, value)
        assert answer.headers["content-type"] == "application/problem+json"
    assert post(address, origin="http://localhost:3000").status_code == 200


def with_settings(work: Workspace, **settings: Any) -> Workspace:
    serve = structs.replace(work.config.serve, **settings)
    return dataclasses.replace(work, config=structs.replace(work.config, serve=serve))


def test_with_tokens_each_request_needs_one(new_work: Callable[[], Workspace]) -> None:
    work = with_settings(new_work(), mcp_tokens="tokens.txt", mcp_calls_per_minute=4)
    made = new_token("reader")
    Path(work.root, "tokens.txt").write_text(made.line, encoding="utf-8")
    with serving(work) as client:
        address = f"{client.base_url}".rstrip("/") + "/mcp"
        refused = post(address)
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"] == "Bearer"
        assert post(address, authorization="Bearer guessed").status_code == 401
        bearer = f"Bearer {made.token}"
        assert post(address, authorization=bearer).status_code == 200
        assert post(address, authorization=bearer).status_code == 200
        limited = post(address, authorization=bearer)
        assert limited.status_code == 429
        assert int(limited.headers["retry-after"]) in range(1, 61)


def test_nothing_is_there_if_it_is_switched_off(work: Workspace) -> None:
    with serving(with_settings(work, mcp=False)) as client:
        assert post(f"{client.base_url}".rstrip("/") + "/mcp").status_code == 404
