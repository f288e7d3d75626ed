"""Commands that read a crawl: search, status, export."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.arguments import AsJson, CrawlFolder


class Form(StrEnum):
    """Must name the keys of gossamer.export.FORMS, which takes long to import."""

    PARQUET = "parquet"
    CSV = "csv"
    JSONL = "jsonl"


def register(app: typer.Typer) -> None:
    for command in (search, status, export):
        app.command()(command)


def search(
    crawl: CrawlFolder,
    query: Annotated[list[str], typer.Argument(help='Words, "phrases", AND, OR, NOT.')],
    limit: Annotated[int, typer.Option("-n", "--limit", min=1, max=1000, help="Answers.")] = 10,
    as_json: AsJson = False,
) -> None:
    """Search a crawl in the terminal.

    Example: gossamer search my-web 'static rank' --json
    """
    from gossamer.errors import UsageError
    from gossamer.serve.search import Searcher
    from gossamer.workspace import Workspace

    work = Workspace.open(crawl)
    if not work.store.manifest.layers("index"):
        raise UsageError(work.root, "nothing is indexed yet", f"gossamer index {work.root}")
    results = Searcher.open(work).search(" ".join(query), limit=limit)
    if as_json:
        import msgspec

        typer.echo(msgspec.json.encode(results))
        return
    from gossamer.cli.answers import print_results

    print_results(results)


def status(crawl: CrawlFolder, as_json: AsJson = False) -> None:
    """Show what a crawl holds and does: pages, steps, tasks at work.

    Example: gossamer status my-web --json
    """
    from gossamer.overview import overview, page_counts
    from gossamer.workspace import Workspace

    work = Workspace.open(crawl)
    try:
        figures = overview(work) | {"pages": page_counts(work)}
    finally:
        work.close()
    if as_json:
        import msgspec

        typer.echo(msgspec.json.encode(figures))
        return
    from gossamer.cli.answers import print_overview

    print_overview(figures)


def export(
    crawl: CrawlFolder,
    dataset: Annotated[str, typer.Argument(help="pages, links, documents … (docs/datasets.md)")],
    to: Annotated[Form, typer.Option(help="The form.")] = Form.PARQUET,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="The file; without it standard output.")
    ] = None,
) -> None:
    """Write a dataset as one Parquet, CSV or JSON-lines file.

    Example: gossamer export my-web pages --to csv -o pages.csv
    """
    from gossamer.api import Crawl
    from gossamer.backends import disk_errors
    from gossamer.errors import UsageError
    from gossamer.export import export as write
    from gossamer.tables import DATASETS

    tables = {name: known for name, known in DATASETS.items() if known.columns}
    if dataset not in tables:
        raise UsageError(dataset, "no such dataset", f"one of: {', '.join(tables)}")
    with Crawl.open(crawl) as opened:
        paths = opened.rows_of(dataset)
        with disk_errors(output or "standard output"):
            if output is None:
                write(paths, tables[dataset].schema, to, sys.stdout.buffer)
            else:
                with output.open("wb") as file:
                    rows = write(paths, tables[dataset].schema, to, file)
                typer.echo(f"{rows:,} rows in {output}", err=True)
