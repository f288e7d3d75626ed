"""`gossamer graph`: build the link graph of a crawl, and ask who links to whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated

import typer

from gossamer.cli.arguments import AsJson, CrawlFolder
from gossamer.cli.terminal import echo_json, printable

if TYPE_CHECKING:
    from gossamer.graph.queries import Linked, LinkGraph

PAGE, HOST = "page", "host"
NAMES = 20
"""Names that are printed without --limit."""

NEIGHBOURS: Mapping[str, str] = {
    "outlinks": """Show the pages to which a page links, or the hosts to which a host links.

    Examples: gossamer graph outlinks my-web https://example.org/;
    gossamer graph outlinks my-web example.org --hosts
    """,
    "inlinks": """Show the pages that link to a page, or the hosts that link to a host.

    Examples: gossamer graph inlinks my-web https://example.org/;
    gossamer graph inlinks my-web example.org --hosts
    """,
}
"""The help text of each command that shows the links of a page: methods of LinkGraph."""

Names = Annotated[list[str], typer.Argument(metavar="URL...", help="Pages, or with --hosts hosts.")]
Name = Annotated[str, typer.Argument(metavar="URL", help="A page, or with --hosts a host.")]
OfHosts = Annotated[bool, typer.Option("--hosts", help="Ask the graph of hosts instead of pages.")]
Limit = Annotated[int, typer.Option(min=0, help="At most so many; the first by their names.")]


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True,
        help="The link graph: who links to whom.",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    group.command()(build)
    for direction, text in NEIGHBOURS.items():
        group.command(direction)(_neighbours(direction, text))
    for command in (common, path, stats):
        group.command()(command)
    app.add_typer(group, name="graph")


def build(crawl: CrawlFolder, as_json: AsJson = False) -> None:
    """Build the link graphs of pages and of hosts anew (links → graph).

    The files are those of the WebGraph framework, whose programs can read them: page links
    are graph/*/pages.graph in the crawl's folder, the same links backwards pages-t.graph,
    and links between hosts hosts.graph and hosts-t.graph.

    Example: gossamer graph build my-web
    """
    from gossamer.api import Crawl
    from gossamer.cli.steps import print_report

    with Crawl.open(crawl) as opened:
        done = opened.build_graph()
    print_report(done, as_json)


def common(
    crawl: CrawlFolder,
    urls: Names,
    hosts: OfHosts = False,
    limit: Limit = NAMES,
    as_json: AsJson = False,
) -> None:
    """Show the pages that link to all of these pages, or the hosts that link to all of these hosts.

    Example: gossamer graph common my-web https://example.org/a https://example.org/b
    """
    _print(_graph(crawl, hosts).common(urls, limit), "common", as_json)


def path(
    crawl: CrawlFolder, start: Name, end: Name, hosts: OfHosts = False, as_json: AsJson = False
) -> None:
    """Show a shortest way along links from one page to another, or from host to host.

    The exit code is 1 if there is none.

    Example: gossamer graph path my-web https://example.org/ https://example.org/about
    """
    found = _graph(crawl, hosts).path(start, end)
    if as_json:
        import msgspec

        echo_json(msgspec.json.encode({"path": found}))
    elif found is None:
        typer.echo("there is no way along links", err=True)
    else:
        typer.echo(printable("\n".join(found)))
    if found is None:
        raise typer.Exit(1)


def stats(crawl: CrawlFolder, hosts: OfHosts = False, as_json: AsJson = False) -> None:
    """Show the size of the graph, in links and in bytes.

    Example: gossamer graph stats my-web
    """
    degrees = _graph(crawl, hosts).degrees()
    if as_json:
        import msgspec

        echo_json(msgspec.json.encode(degrees._asdict()))
        return
    for name, value in degrees._asdict().items():
        shown = f"{value:,}" if isinstance(value, int) else f"{value:.2f}"
        typer.echo(f"{name.replace('_', ' '):26}{shown:>16}")


def _neighbours(direction: str, text: str) -> Callable[..., None]:
    def neighbours(
        crawl: CrawlFolder,
        url: Name,
        hosts: OfHosts = False,
        limit: Limit = NAMES,
        as_json: AsJson = False,
    ) -> None:
        find = getattr(_graph(crawl, hosts), direction)
        _print(find(url, limit), direction, as_json)

    neighbours.__doc__ = text
    return neighbours


def _print(found: Linked, relation: str, as_json: bool) -> None:
    if as_json:
        import msgspec

        echo_json(msgspec.json.encode({"total": found.total, relation: found.names}))
        return
    for name in found.names:
        typer.echo(printable(name))
    if found.total > len(found.names):
        typer.echo(f"and {found.total - len(found.names):,} more: --limit", err=True)


def _graph(crawl: str, hosts: bool) -> LinkGraph:
    from gossamer.graph.queries import LinkGraph
    from gossamer.workspace import Workspace

    return LinkGraph(Workspace.open(crawl), HOST if hosts else PAGE)
