"""The commands most people need: init, crawl, serve, demo."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gossamer.cli.arguments import CrawlFolder, SeedLists, SeedUrls

if TYPE_CHECKING:
    from gossamer.api import Crawl

Port = Annotated[int | None, typer.Option(help="Where the search page listens; 0: any free one.")]

SETTINGS = """\
# Settings of this crawl; docs/settings.md explains them all. These are the ones most change.

[fetch]
contact = "{contact}"   # a URL or e-mail address where webmasters reach you
delay_s = 1.0           # between two requests to a host

[filter]
scope = "domain"        # stay on the seeds' domains; or "host", or "any"
"""


def register(app: typer.Typer) -> None:
    for command in (init, crawl, serve, node, demo):
        app.command()(command)


def init(
    crawl: CrawlFolder,
    contact: Annotated[str, typer.Option(help="URL or e-mail address for webmasters.")] = "",
) -> None:
    """Make an empty crawl: a folder with its gossamer.toml.

    Example: gossamer init my-web --contact bot@example.org
    """
    from gossamer.api import Crawl

    Crawl.create(crawl, SETTINGS.format(contact=_toml_safe(contact)))
    typer.echo(f"made {crawl}; next: gossamer crawl {crawl} URL...")


def crawl(
    crawl: CrawlFolder,
    urls: SeedUrls = None,
    lists: SeedLists = None,
    rounds: Annotated[int | None, typer.Option(min=1, help="Stop after so many rounds.")] = None,
    minutes: Annotated[
        float | None, typer.Option(min=0, help="Begin no round after so many minutes.")
    ] = None,
    contact: Annotated[
        str, typer.Option(envvar="GOSSAMER_CONTACT", help="URL or e-mail address for webmasters.")
    ] = "",
) -> None:
    """Crawl from seeds until nothing is due, then rank and index. Makes the crawl if need be.

    Cut off at any moment, it goes on from its last committed step when called
    again. A contact is for this run; a gossamer.toml that is as `init` writes it
    and has none keeps it.

    Example: gossamer crawl my-web https://example.org/ --contact bot@example.org --rounds 3
    """
    from rich.console import Console

    from gossamer.api import Crawl
    from gossamer.cli.progress import StepProgress
    from gossamer.cli.steps import complain
    from gossamer.errors import NotACrawl

    console = Console()
    try:
        opened = Crawl.open(crawl)
    except NotACrawl:
        if not urls and not lists:
            raise
        opened = Crawl.create(crawl, SETTINGS.format(contact=_toml_safe(contact)))
    with opened:
        if contact:
            _set_contact(opened, contact)
        if urls or lists:
            opened.inject(urls or (), lists or (), complain)
        _need_contact(opened)
        with StepProgress(opened.path, console) as progress:
            opened.run(rounds, minutes, progress.announce, progress.report)
    console.print(f'next: gossamer search {crawl} "words", or gossamer serve {crawl}')


def serve(
    crawl: CrawlFolder,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Port = None,
) -> None:
    """Serve a crawl's search page and API on this machine, until Ctrl-C.

    Example: gossamer serve my-web --port 8080
    """
    from msgspec.structs import replace

    from gossamer.serve import serve as listen
    from gossamer.workspace import Workspace

    work = Workspace.open(crawl)
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = replace(work.config.serve, **given)
    work.config = replace(work.config, serve=settings)  # it answers to the host's name, too
    listen(work, settings.host, settings.port)


def node(
    crawl: CrawlFolder,
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any free port.")],
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    shards: Annotated[
        list[int] | None, typer.Option("--shard", help="Only this shard; repeat it for more.")
    ] = None,
) -> None:
    """Search some shards of a crawl's index for a server elsewhere (serve.nodes), until Ctrl-C.

    Whoever reaches the port may ask: listen on loopback, or in a network of your own.

    Example: gossamer node my-web --port 9400 --shard 0 --shard 1
    """
    from gossamer.serve import serve_node
    from gossamer.workspace import Workspace

    serve_node(Workspace.open(crawl), host, port, shards or ())


def demo(
    folder: Annotated[Path, typer.Option(help="Where; an earlier demo there is replaced.")] = Path(
        "gossamer-demo"
    ),
    hosts: Annotated[int, typer.Option(min=1, help="Synthetic hosts of its web.")] = 150,
    port: Port = None,
    leave: Annotated[bool, typer.Option("--exit", help="Do all but stay up.")] = False,
) -> None:
    """See it all work: crawl a web on loopback, rank it, index it, and serve the search page.

    Example: gossamer demo --port 8080
    """
    from rich.console import Console

    from gossamer.cli import demo as show

    console, path = Console(), str(folder)
    show.run(folder, console, hosts)
    console.print(
        f'\nnext: gossamer search {path} "words"\n      gossamer status {path}\n'
        f"      gossamer serve {path}",
        highlight=False,
        soft_wrap=True,
    )
    if not leave:
        serve(path, None, port)


def _need_contact(crawl: Crawl) -> None:
    """Ask for a contact, before the crawl begins, where strangers' hosts will be visited."""
    from gossamer.fetch import first_stranger, nameless

    fetch = crawl.work.config.fetch
    stranger = None if fetch.contact else first_stranger(crawl.seed_hosts(), fetch)
    if stranger is None:
        return
    if not sys.stdin.isatty():
        raise nameless(crawl.path, stranger)
    typer.echo(f"{stranger} belongs to somebody else: tell its webmaster who crawls it.")
    _set_contact(crawl, typer.prompt("URL or e-mail address where they reach you"))


def _set_contact(crawl: Crawl, contact: str) -> None:
    """Use it from now on; write it to a gossamer.toml that nobody has touched yet."""
    from msgspec.structs import replace

    from gossamer.workspace import CONFIG_NAME

    config = crawl.work.config
    crawl.work.config = replace(config, fetch=replace(config.fetch, contact=contact))
    file = Path(crawl.path, CONFIG_NAME)
    if file.exists() and file.read_text(encoding="utf-8") == SETTINGS.format(contact=""):
        file.write_text(SETTINGS.format(contact=_toml_safe(contact)), encoding="utf-8")


def _toml_safe(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
