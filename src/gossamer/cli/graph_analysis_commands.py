"""`gossamer graph`: the commands that show or compute what the links say about pages and hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from gossamer.cli.arguments import AsJson, CrawlFolder

if TYPE_CHECKING:
    import pyarrow as pa

    from gossamer.state.workspace import Workspace

SHOWN = 20
"""Hosts and pages that are printed without --limit."""


def register(group: typer.Typer) -> None:
    """Add the commands to `gossamer graph`."""
    for command in (centrality, farms):
        group.command()(command)


def centrality(crawl: CrawlFolder, as_json: AsJson = False) -> None:
    """Compute how near each page and each host is to all others (graph → centrality).

    The harmonic centrality of a page is the sum of 1/d over all pages from which d links lead to
    it. In large graphs it is estimated, with an error that the dataset states. Bring the graph up
    to date first: gossamer graph build.

    Example: gossamer graph centrality my-web && gossamer export my-web centrality -o central.csv
    """
    from gossamer.api.crawl import Crawl
    from gossamer.cli.step_commands import print_report

    with Crawl.open(crawl) as opened:
        done = opened.compute_centrality()
    print_report(done, as_json)


def farms(
    crawl: CrawlFolder,
    limit: Annotated[int, typer.Option(min=0, help="At most so many hosts and pages.")] = SHOWN,
    as_json: AsJson = False,
) -> None:
    """Show the hosts that look like parts of link farms, why, and what their votes count.

    The last `gossamer farms` found them. `rank` multiplies the votes of their pages by the
    factor. Pages that such hosts link to, and hardly anybody else, are shown, too.

    Example: gossamer graph farms my-web
    """
    import msgspec

    from gossamer.cli.terminal import echo_json, printable
    from gossamer.links.farm_signs import FarmSign
    from gossamer.state.workspace import Workspace

    found = _farm_rows(Workspace.open(crawl))
    shown = msgspec.convert(found.slice(0, limit).to_pylist(), list[FarmSign])
    if as_json:
        echo_json(msgspec.json.encode({"total": found.num_rows, "farms": shown}))
        return
    if not found.num_rows:
        typer.echo("no farms were found", err=True)
    for sign in shown:
        typer.echo(f"{sign.factor:4.0%}  {printable(sign.name)}\n      {printable(sign.text)}")
    if found.num_rows > limit:
        typer.echo(f"and {found.num_rows - limit:,} more: --limit", err=True)


def _farm_rows(work: Workspace) -> pa.Table:
    """The rows of the dataset farms; those with the smallest factors are first."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from gossamer.tables import FARMS

    tables = [FARMS.schema.empty_table(), *map(pq.read_table, work.paths(FARMS.name))]
    return pa.concat_tables(tables).sort_by([("factor", "ascending"), ("name", "ascending")])
