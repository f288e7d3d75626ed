"""The commands that crawl and serve: init, crawl, serve, node, demo."""

from __future__ import annotations

import json
import re
import sys
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gossamer.cli.arguments import CrawlFolder, SeedLists, SeedUrls

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gossamer.api import Crawl
    from gossamer.errors import NotACrawl


def _checked_host(host: str | None) -> str | None:
    if host is not None and not host.strip():  # a socket takes "" for all addresses
        raise typer.BadParameter("give an address; 0.0.0.0 or :: means all of this machine's")
    return host


SETTINGS = """\
# The settings of this crawl that are changed most often; docs/settings.md describes all of them.

[fetch]
contact = "{contact}"   # URL or e-mail address where webmasters can reach you
delay_s = 1.0           # seconds between two requests to a host

[filter]
scope = "domain"        # "domain": stay on the seeds' domains; "host": on their hosts; "any"
"""


def register(app: typer.Typer) -> None:
    for command in (init, crawl, serve, node, demo):
        app.command()(command)


def init(
    crawl: CrawlFolder,
    contact: Annotated[
        str, typer.Option(help="URL or e-mail address where webmasters can reach you.")
    ] = "",
) -> None:
    """Create an empty crawl: a folder with a gossamer.toml, to be edited before crawling.

    The folder must be new or empty, or hold only a gossamer.toml, which is kept.
    `gossamer crawl` creates the folder itself, so `init` is only needed to edit the
    settings first.

    Example: gossamer init my-web --contact bot@example.org
    """
    from gossamer.api import Crawl

    Crawl.create(crawl, settings(contact), keep_settings=not contact)
    typer.echo(f"created {crawl}; next: gossamer crawl {crawl} URL...")


def crawl(
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
        typer.Option("--refresh", help="First make all known pages due now, except gone ones."),
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
            help="The hosts of the given URLs are your own: crawl them over several connections, "
            "without a delay.",
        ),
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

    Example: gossamer crawl my-web https://example.org/ --contact bot@example.org --rounds 3
    """
    from gossamer.lean_imports import without_collections
    from gossamer.preparation import prepare_worker
    from gossamer.worker_start import started_ahead

    if minutes is not None and isnan(minutes):
        raise typer.BadParameter("not a number", param_hint="--minutes")
    if own and not urls:
        raise typer.BadParameter("give the URLs whose hosts are your own", param_hint="--own")
    with started_ahead(prepare_worker):  # it imports its libraries while we import ours
        with without_collections():
            from rich.console import Console

            from gossamer import rounds as _flow  # noqa: F401  # needed later
            from gossamer import unfetched
            from gossamer.api import Crawl
            from gossamer.cli.progress import StepProgress
            from gossamer.cli.steps import print_bad_line, print_report
            from gossamer.engine import import_client
            from gossamer.errors import NotACrawl
            from gossamer.seeds import check
            from gossamer.urls import UrlRules

            import_client()

        console = Console()
        try:
            opened = Crawl.open(crawl)
        except NotACrawl as absent:
            if not urls and not lists:
                raise _seedless(absent, crawl) from None
            # Bad seeds must not leave an empty crawl behind.
            check(urls or (), lists or (), UrlRules())
            opened = Crawl.create(crawl, settings(contact), keep_settings=True)
        with opened, opened.work.errors():
            if contact or own:
                _apply(opened, contact, own_hosts(urls or ()) if own else ())
            if urls or lists:
                opened.inject(urls or (), lists or (), print_bad_line)
            if refresh or refresh_matching:
                print_report(opened.refresh(refresh_matching), as_json=False)
            _require_contact(opened)
            with StepProgress(opened.work, console) as progress:
                reports = opened.run(rounds, minutes, progress.announce, progress.report)
            error = unfetched.why_nothing(opened.work, reports, seeds_given=bool(urls or lists))
            if error is not None:
                raise error
            steps = {report.step for report in reports}
            if "generate" in steps and "fetch" not in steps:
                console.print(_nothing_due(opened), highlight=False, soft_wrap=True)
        console.print(f'next: gossamer search {crawl} "words", or gossamer serve {crawl}')


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
) -> None:
    """Serve a crawl's search page, status page and API, until Ctrl-C.

    Only programs on this machine can reach it unless --host or serve.host is another
    address. A newer index is used within a second of its commit.

    Example: gossamer serve my-web --port 8080
    """
    from msgspec.structs import replace

    from gossamer.serve import serve as listen
    from gossamer.workspace import Workspace

    work = Workspace.open(crawl)
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
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
    shards: Annotated[
        list[int] | None,
        typer.Option(
            "--shard",
            help="Number of a shard to search; 0: the first tier. Repeatable.",
            show_default="all",
        ),
    ] = None,
) -> None:
    """Search shards of an index for a `gossamer serve` on another machine, until Ctrl-C.

    The server's setting serve.nodes names this node's address. Requests are not
    authenticated: listen on loopback or in a private network.

    Example: gossamer node my-web --port 9400 --shard 0 --shard 1
    """
    from gossamer.serve import serve_node
    from gossamer.workspace import Workspace

    serve_node(Workspace.open(crawl), host, port, shards or ())


def demo(
    folder: Annotated[
        Path, typer.Option(help="Folder of the crawl; an earlier demo there is replaced.")
    ] = Path("gossamer-demo"),
    hosts: Annotated[int, typer.Option(min=1, help="Number of synthetic hosts to crawl.")] = 150,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the search page; 0: any free port.")
    ] = 8080,
    leave: Annotated[
        bool, typer.Option("--exit", help="Exit when the crawl is done instead of serving it.")
    ] = False,
) -> None:
    """See everything work: crawl a small web on this machine, rank and index it, and serve it.

    The web is synthetic, plus the HTML manuals in /usr/share/doc. Nothing outside this
    machine is contacted. It takes a few minutes.

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


def _seedless(absent: NotACrawl, crawl: str) -> NotACrawl:
    """Return the error for a path without a crawl: seeds are missing, or the path is a seed."""
    return type(absent)(
        absent.subject,
        "is not a crawl, and no seeds were given to create one",
        f"give the URLs to start with: gossamer crawl {crawl} URL...\n"
        f"  → if {crawl} is a site, put a folder before it: gossamer crawl FOLDER {crawl}",
    )


def _nothing_due(crawl: Crawl) -> str:
    from gossamer import unfetched

    due_ms = unfetched.next_due_ms(crawl.work)
    until = f" before {unfetched.when(due_ms)}" if due_ms else ""
    return f"no page is due{until}; to fetch pages again now: gossamer crawl {crawl.path} --refresh"


def _require_contact(crawl: Crawl) -> None:
    """Prompt for a contact before the first round if seeds are on hosts of other people."""
    from gossamer.fetch import first_stranger, nameless

    fetch = crawl.work.config.fetch
    stranger = None if fetch.contact else first_stranger(crawl.seed_hosts(), fetch)
    if stranger is None:
        return
    if not sys.stdin.isatty():
        raise nameless(crawl.path, stranger)
    typer.echo(f"{stranger} is not your host: its webmaster must be able to reach you.")
    _apply(crawl, typer.prompt("Your URL or e-mail address"))


def own_hosts(urls: Iterable[str]) -> tuple[str, ...]:
    """The host names of these seeds, without ports, for `fetch.own`."""
    from gossamer.seeds import seed
    from gossamer.urls import UrlRules, host_of

    normal = filter(None, (seed(url, UrlRules()) for url in urls))
    names = (re.sub(r":[0-9]+$", "", host_of(url)) for url in normal)
    return tuple(dict.fromkeys(names))


def _apply(crawl: Crawl, contact: str = "", own: tuple[str, ...] = ()) -> None:
    """Use a contact and own hosts in this run, and save them if gossamer.toml is unedited."""
    from msgspec.structs import replace

    from gossamer.backends import rewrite
    from gossamer.filenames import CONFIG_NAME

    config = crawl.work.config
    before = config.fetch
    own = tuple(dict.fromkeys((*before.own, *own)))
    crawl.work.config = replace(
        config, fetch=replace(before, contact=contact or before.contact, own=own)
    )
    after = settings(before.contact or contact, own)
    file = Path(crawl.path, CONFIG_NAME)
    if file.read_text(encoding="utf-8") == settings(before.contact, before.own) != after:
        rewrite(file, after.encode())


def settings(contact: str = "", own: tuple[str, ...] = ()) -> str:
    """The text of gossamer.toml as `init` writes it. Raises ConfigError."""
    text = SETTINGS.format(contact=_toml_safe(contact))
    if not own:
        return text
    line = f"own = {json.dumps(own)}   # your own hosts: several connections, no delay\n"
    return text.replace("\n[filter]", f"{line}\n[filter]")


def _toml_safe(contact: str) -> str:
    """A contact, escaped for the quotes in SETTINGS. Raises ConfigError."""
    from gossamer.config import checked_line

    text = checked_line(contact, "contact")
    return text.replace("\\", "\\\\").replace('"', '\\"')
