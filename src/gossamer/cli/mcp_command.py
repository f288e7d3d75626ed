"""`gossamer mcp`: a crawl as tools for language models."""

from __future__ import annotations

from typing import Annotated

import typer

from gossamer.cli.arguments import CrawlFolder


def register(app: typer.Typer) -> None:
    app.command()(mcp)


def mcp(
    crawl: CrawlFolder,
    new_token: Annotated[
        str | None,
        typer.Option(
            "--new-token", metavar="NAME", help="Print a token for /mcp, and its line for the file."
        ),
    ] = None,
) -> None:
    """Serve a crawl to one client of the Model Context Protocol, over standard input and output.

    The client starts this command itself; docs/agents.md has settings for several. Needs the SDK:
    pip install 'gossamer[mcp]'. `gossamer serve` does the same over HTTP, at /mcp.

    Example: gossamer mcp my-web
    """
    if new_token is not None:
        from gossamer.serve.mcp.tokens import new_token as make_token

        made = make_token(new_token)
        typer.echo(f"token: {made.token}\nline of serve.mcp_tokens: {made.line}")
        return
    import asyncio

    from gossamer.search.page_info import PageInfo
    from gossamer.serve.dispatch.front import Dispatcher
    from gossamer.serve.dispatch.reloader import OpenIndex
    from gossamer.serve.documents import Documents
    from gossamer.serve.mcp.sdk_server import run_stdio
    from gossamer.serve.mcp.tools import Toolbox
    from gossamer.state.lookup import Lookup
    from gossamer.state.workspace import Workspace

    work = Workspace.open(crawl)
    pages = PageInfo(work, Lookup(work))

    async def serve() -> None:
        front = Dispatcher(OpenIndex(work, crawl=pages))
        await run_stdio(Toolbox(work, pages, Documents(work, pages), front))

    try:
        asyncio.run(serve())
    finally:
        work.close()
