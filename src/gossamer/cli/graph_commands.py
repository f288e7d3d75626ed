"""`gossamer graph`: build the link graph of a crawl, and ask who links to whom."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gossamer.cli import graph_analysis_commands
from gossamer.cli.arguments import AsJson, CrawlFolder
from gossamer.cli.terminal import echo_json, printable

if TYPE_CHECKING:
    from gossamer.links.graph.queries import Linked, LinkGraph

PAGE, HOST = "page", "host"
NAMES = 20
"""Names that are printed without --limit."""

NEIGHBOURS: Mapping[str, str] = {
    "outlinks": """Show the pages to which a page links, or the hosts to which a host links.

    Examples: gossamer graph outlinks my-web https://example.org/;
    gossamer graph outlinks my-web example.org --hosts
    """,
    "inlinks": """Show the pages that link to a page, or the hosts that link to a host.

    Of pages, the anchor texts that the last invert recorded are shown, too.

    Examples: gossamer graph inlinks my-web https://example.org/;
    gossamer graph inlinks my-web example.org --hosts
    """,
}
"""The help text of each command that shows the links of a page: methods of LinkGraph."""
_AROUND = "{:>7}  {:>9}  {:>9}  {:>9}  {}"

Names = Annotated[list[str], typer.Argument(metavar="URL...", help="Pages, or with --hosts hosts.")]
Name = Annotated[str, typer.Argument(metavar="URL", help="A page, or with --hosts a host.")]
Around = Annotated[
    int, typer.Option(min=2, max=1000, help="At most so many pages, the nearest and most linked.")
]
OfHosts = Annotated[bool, typer.Option("--hosts", help="Ask the graph of hosts instead of pages.")]
Rebuild = Annotated[bool, typer.Option("--rebuild", help="Build the graphs from all links.")]
Limit = Annotated[int, typer.Option(min=0, help="At most so many; the first by their names.")]


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True,
        help="The link graph: who links to whom.",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    group.command()(build)
    group.command("import")(import_graph)
    for direction, text in NEIGHBOURS.items():
        group.command(direction)(_graph_neighbours(direction, text))
    for command in (common, path, neighbourhood, host, stats, export):
        group.command()(command)
    graph_analysis_commands.register(group)
    app.add_typer(group, name="graph")


def build(crawl: CrawlFolder, rebuild: Rebuild = False, as_json: AsJson = False) -> None:
    """Bring the link graphs of pages and of hosts up to date (links, responses → graph).

    Reads what was crawled since the last time, and keeps the changes beside the graphs. If these
    have grown beyond a tenth of the graphs, or with --rebuild, the graphs are built from all links.

    The files are those of the WebGraph framework, whose programs can read them: page links
    are graph/*/pages.graph in the crawl's folder, the same links backwards pages-t.graph,
    and links between hosts hosts.graph and hosts-t.graph. Build with --rebuild for such programs:
    they do not know the changes.

    Example: gossamer graph build my-web
    """
    from gossamer.api.crawl import Crawl
    from gossamer.cli.step_commands import print_report

    with Crawl.open(crawl) as opened:
        done = opened.build_graph(anew=rebuild)
    print_report(done, as_json)


def import_graph(
    crawl: CrawlFolder,
    graph: Annotated[
        str, typer.Argument(metavar="BASENAME", help="Path of the graph's files without .graph.")
    ],
    urls: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="The URL of each node, one per line; may be compressed with gzip or zstd.",
            show_default="BASENAME.urls, .urls.gz or .urls.zst",
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the link graph that the crawl has.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make a graph of the WebGraph framework the link graph of a crawl.

    Reads BASENAME.graph and BASENAME.properties. URLs are normalised as those of the crawl;
    nodes whose lines become the same URL are merged. The first invalid lines are reported;
    their nodes are left out, with all links from and to them. So are links of a page to itself.

    The graph stays until it is replaced: later crawls rank its pages, and do not add links to it.

    Example: gossamer graph import my-web data/cnr-2000
    """
    from gossamer.api.crawl import Crawl
    from gossamer.cli.step_commands import print_bad_line, print_report

    with Crawl.open(crawl) as opened:
        done = opened.import_graph(graph, urls, print_bad_line, anew=replace)
    if lines := done.counts["bad_lines"]:
        links = done.counts["links_of_bad_lines"]
        what = f"invalid lines: {lines:,}; their nodes are left out, with {links:,} links"
        typer.echo(f"gossamer: {what}", err=True)
    print_report(done, as_json)


def common(
    crawl: CrawlFolder,
    urls: Names,
    linked: Annotated[
        bool, typer.Option("--linked", help="Show the pages to which all of these pages link.")
    ] = False,
    hosts: OfHosts = False,
    limit: Limit = NAMES,
    as_json: AsJson = False,
) -> None:
    """Show the pages that link to all of these pages, or the hosts that link to all of these hosts.

    Example: gossamer graph common my-web https://example.org/a https://example.org/b
    """
    _print_graph(_open_graph_of(crawl, hosts).common(urls, limit, linked=linked), as_json)


def path(
    crawl: CrawlFolder, start: Name, end: Name, hosts: OfHosts = False, as_json: AsJson = False
) -> None:
    """Show a shortest way along links from one page to another, or from host to host.

    The exit code is 1 if there is none.

    Example: gossamer graph path my-web https://example.org/ https://example.org/about
    """
    found = _open_graph_of(crawl, hosts).path(start, end)
    if as_json:
        import msgspec

        echo_json(msgspec.json.encode({"path": found}))
    elif found is None:
        typer.echo("there is no way along links", err=True)
    else:
        typer.echo(printable("\n".join(found)))
    if found is None:
        raise typer.Exit(1)


def neighbourhood(
    crawl: CrawlFolder,
    url: Name,
    depth: Annotated[
        int, typer.Option(min=1, max=8, help="Links from the page, in each direction.")
    ] = 1,
    hosts: OfHosts = False,
    limit: Around = 50,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Draw it in this file instead, as SVG.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the pages around a page: what links to it and what it links to, within --depth links.

    The columns are the number of links from each page to this one and from this one to it, and the
    numbers of all its inlinks and outlinks. --json includes the links between the pages.

    Example: gossamer graph neighbourhood my-web https://example.org/ --depth 2
    """
    found = _open_graph_of(crawl, hosts).neighbourhood(url, depth, limit)
    if output is not None:
        from gossamer.serve.drawing import link_map
        from gossamer.serve.rendering import drawing_styles, link

        _draw_graph(output, link_map.draw_columns(found, link, drawing_styles()))
        return
    if as_json:
        import msgspec

        echo_json(msgspec.json.encode(found))
        return
    typer.echo(_AROUND.format("to here", "from here", "inlinks", "outlinks", ""))
    for page in found.pages:
        far = ("" if steps is None else steps for steps in (page.linking, page.linked))
        counts = (f"{count:,}" for count in (page.inlinks, page.outlinks))
        typer.echo(_AROUND.format(*far, *counts, printable(page.name)))
    for more, what in ((found.more_linking, "link here"), (found.more_linked, "are linked")):
        if more:
            typer.echo(f"and {more:,} more that {what}: --limit", err=True)


def host(
    crawl: CrawlFolder,
    name: Annotated[str, typer.Argument(metavar="HOST", help="A host, such as example.org.")],
    limit: Limit = NAMES,
    as_json: AsJson = False,
) -> None:
    """Show the pages of a host, and the hosts to and from which its pages have the most links.

    Example: gossamer graph host my-web example.org
    """
    found = _open_graph_of(crawl, hosts=False).host(name, limit)
    if as_json:
        import msgspec

        echo_json(msgspec.json.encode(found))
        return
    typer.echo(
        f"{printable(found.name)}: {found.pages:,} pages, {found.links_inside:,} links inside"
    )
    for hosts, of_all, what in (
        (found.linked, found.hosts_linked, "hosts are linked"),
        (found.linking, found.hosts_linking, "hosts link here"),
    ):
        typer.echo(f"\n{of_all:,} {what}")
        for linked in hosts:
            typer.echo(f"{linked.links:>12,}  {printable(linked.name)}")
        if of_all > len(hosts):
            typer.echo(f"and {of_all - len(hosts):,} more: --limit", err=True)


def stats(
    crawl: CrawlFolder,
    hosts: OfHosts = False,
    picture: Annotated[
        Path | None,
        typer.Option(help="Draw the distributions of degrees in this file, too, as SVG."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the size of the graph, its degrees, and what hangs together in it.

    Pages from which others can be reached in both directions are strongly connected. The largest
    such component is the core of the bow tie (Broder et al., 2000): "in" leads to it, "out" can be
    reached from it, and tubes lead past it.

    Example: gossamer graph stats my-web --picture degrees.svg
    """
    graph = _open_graph_of(crawl, hosts)
    degrees, structure = graph.degrees()._asdict(), graph.structure()._asdict()
    bow_tie = structure.pop("bow_tie")
    if picture is not None:
        from gossamer.serve.drawing import charts
        from gossamer.serve.rendering import drawing_styles

        what = "hosts" if hosts else "pages"
        _draw_graph(picture, charts.degrees_picture(graph.spread, what, drawing_styles()))
    if as_json:
        import msgspec

        echo_json(msgspec.json.encode({**degrees, **structure, "bow_tie": bow_tie}))
        return
    parts = {f"bow tie: {name}": count for name, count in bow_tie.items()}
    for name, value in {**degrees, **structure, **parts}.items():
        shown = f"{value:,}" if isinstance(value, int) else f"{value:.2f}"
        typer.echo(f"{name.replace('_', ' '):26}{shown:>16}")


def export(
    crawl: CrawlFolder,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="File to write: .tsv or .txt, .parquet, .graphml."),
    ],
    hosts: OfHosts = False,
) -> None:
    """Write the links as an edge list, as Parquet, or as GraphML for Gephi.

    The ending of the file decides: .tsv and .txt are two URLs per line with a tab between them,
    .parquet has the columns src and dst, and .graphml is for graphs of at most a million nodes and
    links. A .gz or .zst after it compresses text and GraphML.

    Example: gossamer graph export my-web -o links.tsv.zst
    """
    from gossamer.cli.query_commands import output_errors
    from gossamer.links.graph.export import export_graph as write
    from gossamer.state.workspace import Workspace

    work = Workspace.open(crawl)
    with output_errors(output):
        links = write(work, HOST if hosts else PAGE, output)
    typer.echo(f"{links:,} links in {output}", err=True)


def _graph_neighbours(direction: str, text: str) -> Callable[..., None]:
    def neighbours(
        crawl: CrawlFolder,
        url: Name,
        hosts: OfHosts = False,
        limit: Limit = NAMES,
        as_json: AsJson = False,
    ) -> None:
        graph = _open_graph_of(crawl, hosts)
        found = getattr(graph, direction)(url, limit)
        anchors = graph.anchors(url) if direction == "inlinks" and not hosts else None
        _print_graph(found, as_json, anchors)

    neighbours.__doc__ = text
    return neighbours


def _print_graph(found: Linked, as_json: bool, anchors: Mapping[str, str] | None = None) -> None:
    """Print names, with anchor texts if there are any; in JSON, as the API does (serve/web)."""
    if as_json:
        import msgspec

        links = [{"url": name, "anchor": (anchors or {}).get(name)} for name in found.names]
        shown = {"names": found.names} if anchors is None else {"links": links}
        echo_json(msgspec.json.encode({"total": found.total, **shown}))
        return
    for name in found.names:
        anchor = (anchors or {}).get(name)
        typer.echo(printable(f"{name}  “{anchor}”" if anchor else name))
    if not found.total:
        typer.echo("there are none", err=True)
    elif found.total > len(found.names):
        typer.echo(f"and {found.total - len(found.names):,} more: --limit", err=True)


def _draw_graph(path: Path, drawing: str) -> None:
    from gossamer.cli.query_commands import output_errors

    with output_errors(path):
        path.write_text(drawing, "utf-8")
    typer.echo(f"drawn in {path}", err=True)


def _open_graph_of(crawl: str, hosts: bool) -> LinkGraph:
    from gossamer.links.graph.queries import LinkGraph
    from gossamer.state.workspace import Workspace

    return LinkGraph(Workspace.open(crawl), HOST if hosts else PAGE)
