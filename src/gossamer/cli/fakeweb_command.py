"""`gossamer fakeweb`: serves the deterministic web in the foreground until Ctrl-C."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from gossamer.fakeweb.web import Web

SHOWN_HOSTS = 10


def register(app: typer.Typer) -> None:
    app.command("fakeweb")(fakeweb_command)


def fakeweb_command(
    hosts: Annotated[int, typer.Option(min=0, help="Number of synthetic hosts.")] = 200,
    seed: Annotated[int, typer.Option(help="Each seed gives a different web.")] = 7,
    docs: Annotated[
        list[str] | None,
        typer.Option(help="Serve a folder as a host: FOLDER or NAME=FOLDER. Repeatable."),
    ] = None,
    find_docs: Annotated[
        bool, typer.Option(help="Serve the HTML manuals below /usr/share/doc.")
    ] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 chooses a free one.")
    ] = 8081,
    pages_per_host: Annotated[
        float,
        typer.Option(
            min=1, max=1e9, help="Mean number of pages per host; sizes follow Zipf's law."
        ),
    ] = 60,
    page_bytes: Annotated[int, typer.Option(min=1, help="Mean size of a page, in bytes.")] = 12_000,
    links: Annotated[
        int | None,
        typer.Option(min=0, help="Mean number of links per page; by default 1 per 300 bytes."),
    ] = None,
    latency_s: Annotated[
        float, typer.Option(min=0, max=3600, help="Seconds that slow hosts take to answer.")
    ] = 0.0,
    addresses: Annotated[
        int, typer.Option(min=1, max=254, help="Listen on 127.0.0.1 … 127.0.0.N.")
    ] = 1,
    hostile: Annotated[
        bool, typer.Option("--hostile", help="Add hosts that misbehave, listed at hostile.test.")
    ] = False,
    tls: Annotated[
        bool, typer.Option("--tls", help="Also serve https; requires the package trustme.")
    ] = False,
    log: Annotated[
        Path | None, typer.Option(help="Write one line per request to this file.")
    ] = None,
) -> None:
    """Serve a deterministic web on loopback for a crawler, until Ctrl-C.

    Example: gossamer fakeweb --hosts 50 --port 8081
    """
    import uvloop

    from gossamer.fakeweb.folders import doc_folders
    from gossamer.fakeweb.web import Web

    folders = doc_folders() if find_docs else {}
    folders |= dict(docs_option(text) for text in docs or [])
    web = Web(
        seed,
        hosts,
        folders,
        pages_per_host=pages_per_host,
        page_bytes=page_bytes,
        links_per_page=links,
        latency_s=latency_s,
        hostile=hostile,
        tls=tls,
    )
    uvloop.run(_serve_fakeweb(web, port, addresses, log))


def docs_option(text: str) -> tuple[str, Path]:
    """Parse `NAME=FOLDER` or `FOLDER` into host name and folder."""
    from gossamer.errors import UsageError
    from gossamer.fakeweb.folders import folder_host

    name, equals, folder = text.rpartition("=")
    path = Path(folder)
    if not path.is_dir():
        raise UsageError(path, "is not a folder", "use --docs FOLDER or --docs NAME=FOLDER")
    return (name if equals else folder_host(path)), path


async def _serve_fakeweb(web: Web, port: int, addresses: int, log: Path | None) -> None:
    import asyncio
    import signal

    from gossamer.fakeweb.http_server import serve

    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    async with serve(web, port=port, log=log, addresses=addresses) as server:
        typer.echo(f"fakeweb listens on {server.address}; send Host headers, or use it as a proxy:")
        for url in web.seeds()[-SHOWN_HOSTS:]:
            typer.echo(f"  curl -x {server.address} {url}")
        for name in sorted(server.routes.keys() - {"*.test"}):
            typer.echo(f"  {name} has its own port: {server.routes[name]}")
        if server.tls is not None:
            typer.echo(f"  CA certificate to trust: {server.tls.ca_file}")
        await stop.wait()
    typer.echo(f"served {server.served} requests on {server.connected} connections")
