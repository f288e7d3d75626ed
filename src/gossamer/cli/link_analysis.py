"""`gossamer graph centrality`: what the link graph says about pages and hosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gossamer.cli.arguments import AsJson, CrawlFolder

if TYPE_CHECKING:
    import typer


def register(group: typer.Typer) -> None:
    """Add the commands to `gossamer graph`."""
    group.command()(centrality)


def centrality(crawl: CrawlFolder, as_json: AsJson = False) -> None:
    """Compute how near each page and each host is to all others (graph → centrality).

    The harmonic centrality of a page is the sum of 1/d over all pages from which d links lead to
    it. In large graphs it is estimated, with an error that the dataset states. Bring the graph up
    to date first: gossamer graph build.

    Example: gossamer graph centrality my-web && gossamer export my-web centrality -o central.csv
    """
    from gossamer.api import Crawl
    from gossamer.cli.steps import print_report

    with Crawl.open(crawl) as opened:
        done = opened.compute_centrality()
    print_report(done, as_json)
