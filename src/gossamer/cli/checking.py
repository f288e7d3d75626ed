"""`gossamer check`: are the files of a crawl undamaged?"""

from __future__ import annotations

import typer

from gossamer.cli.arguments import CrawlFolder


def register(app: typer.Typer) -> None:
    app.command()(check)


def check(crawl: CrawlFolder) -> None:
    """Compare every file of a crawl with its checksum, and list damaged and missing files.

    Reads all files of the current state and changes nothing. The exit code is 1 if a file
    is damaged or missing.

    Example: gossamer check my-web
    """
    from rich.console import Console
    from rich.progress import Progress

    from gossamer.backends import open_backend
    from gossamer.store import Damage, Store

    store = Store.open(open_backend(crawl))
    files = [file for name in store.manifest.datasets for file in store.listed(name)]
    size = sum(file.bytes for file in files)
    damaged, console = 0, Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("checking", total=size)
        for file, wrong in store.verify(files):
            progress.advance(task, file.bytes)
            if wrong is not None:
                damaged += 1
                error = store.error(Damage(file, wrong))
                console.print(f"gossamer: {error}", markup=False, highlight=False, soft_wrap=True)
    state = f"{len(files):,} files ({size / 1e6:,.1f} MB, state {store.manifest.version})"
    if damaged:
        typer.echo(f"gossamer: {damaged:,} of {state} are damaged or missing", err=True)
        raise typer.Exit(1)
    typer.echo(f"{state}: no file is damaged or missing")
