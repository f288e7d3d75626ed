"""A command per step, for those who run the rounds themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING

import typer

from gossamer.cli.arguments import AsJson, CrawlFolder, SeedLists, SeedUrls
from gossamer.cli.parsing import parse

if TYPE_CHECKING:
    from gossamer.seeds import BadLine
    from gossamer.store import StepReport

STEPS: Mapping[str, str | Callable[..., None]] = {
    "generate": "Choose what the next round fetches: pages → fetchlist.",
    "fetch": "Fetch a round's pages: fetchlist → responses, WARC files.",
    "parse": parse,
    "update": "Take a round into the page database: responses, links → pages.",
    "invert": "Gather who links to a page: links → inlinks.",
    "rank": "Compute PageRank: links → ranks.",
    "index": "Build the full-text index: documents, inlinks, ranks → index.",
    "postings": "Build an index partitioned by terms: documents → postings, numbered.",
}
"""What each does; of one that does more than run, its command."""


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel="Steps")(inject)
    for name, step in STEPS.items():
        command = _command(name, step) if isinstance(step, str) else step
        app.command(name, rich_help_panel="Steps")(command)


def inject(
    crawl: CrawlFolder, urls: SeedUrls = None, lists: SeedLists = None, as_json: AsJson = False
) -> None:
    """Add seeds to a crawl: seeds → pages.

    A bad line is told with its number, and the rest goes in. Exits with 1 if nothing did.

    Example: gossamer inject my-web https://example.org/ --list seeds.txt.gz
    """
    from gossamer.api import Crawl

    if not urls and not lists:
        raise typer.BadParameter("give a URL or --list FILE", param_hint="URL")
    with Crawl.open(crawl) as opened:
        done = opened.inject(urls or (), lists or (), complain)
    tell(done, as_json)
    if not done.counts["seeds"]:
        raise typer.Exit(1)


def _command(name: str, text: str) -> Callable[..., None]:
    def step(crawl: CrawlFolder, as_json: AsJson = False) -> None:
        run_step(name, crawl, as_json)

    step.__doc__ = text
    return step


def run_step(name: str, crawl: str, as_json: bool) -> None:
    """Run a step of a crawl, and say what it did."""
    from gossamer.workspace import Workspace

    work = Workspace.open(crawl)
    try:
        with work.store.lock():
            done = import_module(f"gossamer.{name}").run(work)
            work.store.collect_garbage(work.config.store.keep_versions)
    finally:
        work.close()
    tell(done, as_json)


def complain(bad: BadLine) -> None:
    typer.echo(f"gossamer: {bad}", err=True)


def tell(done: StepReport, as_json: bool) -> None:
    if as_json:
        import msgspec

        typer.echo(msgspec.json.encode(done))
        return
    counts = ", ".join(f"{count:,} {name}" for name, count in sorted(done.counts.items()))
    typer.echo(f"{done.step}: {counts or 'done'} in {done.seconds:.1f} s")
