"""The commands that crawl and serve: init, crawl, serve, node, demo."""

from __future__ import annotations

import sys
from math import isnan
from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.arguments import CrawlFolder, SeedLists, SeedUrls
from gossamer.cli.gossamer_toml import install_gossamer_toml, toml_text


def _checked_host(host: str | None) -> str | None:
    if host is not None and not host.strip():  # a socket takes "" for all addresses
        raise typer.BadParameter("give an address; 0.0.0.0 or :: means all of this machine's")
    return host


def register(app: typer.Typer) -> None:
    for command in (init, crawl, serve, node, demo):
        app.command()(command)


def init(
    crawl: CrawlFolder,
    contact: Annotated[
        str, typer.Option(help="URL or e-mail address where webmasters can reach you.")
    ] = "",
    settings: Annotated[
        Path | None,
        typer.Option(
            help="A file that becomes the gossamer.toml; that of an existing crawl is replaced."
        ),
    ] = None,
) -> None:
    """Create an empty crawl: a folder with a gossamer.toml, to be edited before crawling.

    The folder must be new or empty, or hold only a gossamer.toml, which is kept.
    `gossamer crawl` creates the folder itself, so `init` is only needed to edit the
    settings first.

    Example: gossamer init my-web --contact bot@example.org
    """
    from gossamer.api.crawl import Crawl

    if settings is not None:
        if contact:
            raise typer.BadParameter("with --settings, it belongs there", param_hint="--contact")
        install_gossamer_toml(crawl, settings)
        return
    Crawl.create(crawl, toml_text(contact), keep_settings=not contact)
    typer.echo(f"created {crawl}; next: gossamer crawl {crawl} URL...")


def crawl(
    context: typer.Context,
    crawl: CrawlFolder,
    urls: SeedUrls = None,
    lists: SeedLists = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            min=1, help="Stop after this many rounds.", show_default="until nothing is due"
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            min=0, help="Start no round after this many minutes.", show_default="no limit"
        ),
    ] = None,
    contact: Annotated[
        str,
        typer.Option(
            envvar="GOSSAMER_CONTACT",
            help="URL or e-mail address where webmasters can reach you; sent with every request.",
        ),
    ] = "",
    refresh: Annotated[
        bool,
        typer.Option("--refresh", help="First make all known pages due now."),
    ] = False,
    refresh_matching: Annotated[
        str,
        typer.Option(
            metavar="PATTERN",
            help="First make due the known pages whose URL contains this pattern (RE2).",
        ),
    ] = "",
    own: Annotated[
        bool,
        typer.Option(
            "--own",
            help="The hosts of the given seeds are your own: crawl them over several connections, "
            "without a delay.",
        ),
    ] = False,
    forever: Annotated[
        bool,
        typer.Option("--forever", help="Never end: wait until pages are due again, and go on."),
    ] = False,
    with_page: Annotated[
        bool,
        typer.Option("--serve", help="With --forever: serve the search page, too (see `serve`)."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what happens as lines of JSON.")
    ] = False,
) -> None:
    """Crawl from seeds until nothing is due, then rank and index. Creates the crawl if necessary.

    Without seeds it continues with the pages it knows. After an interruption, even a
    power failure, run it again: it resumes with the first step that was not committed.

    By default it stays on the seeds' domains and sends each host one request per second;
    gossamer.toml in the crawl's folder holds the settings. --contact and --own apply to
    this run. They are also saved in a gossamer.toml that is unchanged since `init`, except
    a contact that differs from a saved one.

    If no page could be fetched, the reasons are printed and the exit code is 1.

    With --forever it fetches pages again when they are due (update.interval_days), and makes
    those of a round searchable while the next ones are fetched. While no page is due, other
    commands may change the crawl. SIGHUP reads gossamer.toml anew.

    Example: gossamer crawl my-web https://example.org/ --contact bot@example.org --rounds 3
    """
    from gossamer.engine.allocators import return_freed_memory
    from gossamer.engine.fork_server import is_single
    from gossamer.engine.lean_imports import pause_collections, postpone_pandas
    from gossamer.engine.worker_start import started_ahead
    from gossamer.flow.worker_preparation import prepare_worker

    _check_limits(rounds, minutes, forever=forever, with_page=with_page)
    if own and not urls and not lists:
        raise typer.BadParameter("give the URLs whose hosts are your own", param_hint="--own")
    if own and "-" in (lists or ()):
        what = "standard input can be read only once: write the seeds to a file"
        raise typer.BadParameter(what, param_hint="--own")
    if forever and context.obj is None:
        from gossamer.cli.supervisor import keep_crawling

        page = ["serve", crawl] if with_page else []
        raise typer.Exit(keep_crawling(sys.argv[1:], page, as_json=as_json))
    return_freed_memory()
    alone = is_single()
    with pause_collections():  # what its workers need, too
        postpone_pandas()
        from gossamer.cli import crawl_run
        from gossamer.engine import worker  # noqa: F401
    with started_ahead(prepare_worker, by_fork=alone):  # they import the rest while we import ours
        with pause_collections():
            from gossamer.engine.spark_client import import_client

            import_client()
        asked = crawl_run.Asked(
            urls=urls or (),
            lists=lists or (),
            rounds=rounds,
            minutes=minutes,
            contact=contact,
            refresh=refresh,
            refresh_matching=refresh_matching,
            own=own,
            as_json=as_json,
        )
        if forever:
            crawl_run.run_forever(crawl, asked, context.obj)
        else:
            crawl_run.run(crawl, asked)


def _check_limits(
    rounds: int | None, minutes: float | None, *, forever: bool, with_page: bool
) -> None:
    if minutes is not None and isnan(minutes):
        raise typer.BadParameter("not a number", param_hint="--minutes")
    if forever and (rounds is not None or minutes is not None):
        what = "it has no end: drop --rounds and --minutes"
        raise typer.BadParameter(what, param_hint="--forever")
    if with_page and not forever:
        raise typer.BadParameter("only with --forever", param_hint="--serve")


def serve(
    crawl: CrawlFolder,
    host: Annotated[
        str | None,
        typer.Option(
            help="Address to listen on.",
            callback=_checked_host,
            show_default="serve.host of gossamer.toml, or 127.0.0.1",
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="Port of the search page; 0: any free port.",
            show_default="serve.port of gossamer.toml, or 8080",
        ),
    ] = None,
    unix_socket: Annotated[
        str | None,
        typer.Option(
            "--socket",
            metavar="FILE",
            help="Unix socket to listen on instead of an address.",
            show_default="serve.socket of gossamer.toml, or none",
        ),
    ] = None,
) -> None:
    """Serve a crawl's search page, status page and API, until Ctrl-C.

    Only programs on this machine can reach it unless --host or serve.host is another
    address. A newer index is used within a second of its commit. A socket that systemd has opened
    is used before any other.

    Example: gossamer serve my-web --port 8080
    """
    from msgspec.structs import replace

    from gossamer.serve.step import serve as listen
    from gossamer.state.workspace import Workspace

    work = Workspace.open(crawl)
    if unix_socket is None and (host is not None or port is not None):
        unix_socket = ""  # the address counts, not the setting
    options = {"host": host, "port": port, "socket": unix_socket}
    given = {name: value for name, value in options.items() if value is not None}
    settings = replace(work.config.serve, **given)
    work.config = replace(work.config, serve=settings)  # the host's name is also an accepted Host
    listen(work, settings.host, settings.port)


def node(
    crawl: CrawlFolder,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0: any free port.")
    ],
    host: Annotated[
        str, typer.Option(help="Address to listen on.", callback=_checked_host)
    ] = "127.0.0.1",
) -> None:
    """Search a part of an index for a `gossamer serve` on another machine, until Ctrl-C.

    The setting serve.nodes lists all nodes. They divide the shards among themselves, and take up
    a newer index one after another. Beyond loopback, servers and nodes need certificates:
    serve.node_certificate, node_key and node_authority.

    Example: gossamer node my-web --port 9400
    """
    from gossamer.serve.step import serve_node
    from gossamer.state.workspace import Workspace

    serve_node(Workspace.open(crawl), host, port)


def demo(
    folder: Annotated[Path, typer.Option(help="Folder of the crawl.")] = Path("gossamer-demo"),
    hosts: Annotated[int, typer.Option(min=1, help="Number of synthetic hosts to crawl.")] = 150,
    port: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=65535,
            help="Port of the search page.",
            show_default="8080, or the next one that is free",
        ),
    ] = None,
    browser: Annotated[
        bool, typer.Option(help="Open the search page in a browser if there is a screen.")
    ] = True,
) -> None:
    """See everything work: crawl a small web on this machine without end, and search it meanwhile.

    The web is synthetic, with newspapers that publish an article every few seconds, plus the
    HTML manuals in /usr/share/doc. Nothing outside this machine is contacted. Ctrl-C ends the
    demo, and the same command continues it.

    Example: gossamer demo --port 8080
    """
    from gossamer.cli.demo import run_demo

    raise typer.Exit(run_demo(folder, hosts, port, browser=browser))
