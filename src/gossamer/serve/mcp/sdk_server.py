"""The tools as a server of the official SDK (package `mcp`, the extra of the same name).

The SDK speaks the stateless revision 2026-07-28 and, with older clients, the handshake of those
since 2024-11-05.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

import gossamer
from gossamer.errors import UsageError
from gossamer.serve.dispatch.fair_queue import ANYBODY
from gossamer.serve.mcp.tools import INSTRUCTIONS, TOOLS, ToolError

if TYPE_CHECKING:
    from collections.abc import Callable

    from mcp.server import Server
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from gossamer.serve.mcp.tools import Toolbox

REMEDY = "install it: pip install 'gossamer[mcp]'"
MAX_BODY_BYTES = 1 << 20


def make_server(toolbox: Toolbox, client: Callable[[Any], str] = lambda _: ANYBODY) -> Server[Any]:
    """A server of the tools. `client` names who sent a request, by its context.

    Raises UsageError if the SDK is not installed.
    """
    try:
        import mcp_types as types
        from mcp.server import Server
        from mcp.shared.exceptions import MCPError
    except ImportError:
        raise UsageError(
            "mcp", "the SDK of the Model Context Protocol is missing", REMEDY
        ) from None

    listed = [
        types.Tool(
            name=tool.name,
            title=tool.title,
            description=tool.about,
            input_schema=tool.schema,
            annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
        )
        for tool in TOOLS
    ]

    async def list_tools(_context: Any, _params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed)

    names = {tool.name for tool in TOOLS}

    async def call_tool(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in names:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name[:100]!r}")
        try:
            answer = await toolbox.call(params.name, params.arguments, client(context))
        except ToolError as error:
            told = types.TextContent(text=str(error))
            return types.CallToolResult(content=[told], is_error=True)
        text = types.TextContent(text=msgspec.json.encode(answer).decode())
        return types.CallToolResult(content=[text], structured_content=answer)

    return Server(
        "gossamer",
        version=gossamer.__version__,
        title="Gossamer",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def run_stdio(toolbox: Toolbox) -> None:
    """Serve one client over standard input and output, until it closes them. Raises UsageError."""
    server = make_server(toolbox)
    from mcp.server.stdio import stdio_server

    async with stdio_server() as (source, target):
        await server.run(source, target, server.create_initialization_options())


def http_manager(toolbox: Toolbox, client: Callable[[Any], str]) -> StreamableHTTPSessionManager:
    """What answers requests of Streamable HTTP, without sessions. Raises UsageError."""
    server = make_server(toolbox, client)
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    return StreamableHTTPSessionManager(
        server, json_response=True, stateless=True, max_request_body_size=MAX_BODY_BYTES
    )
