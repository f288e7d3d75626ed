"""`gossamer check`: is a crawl whole, and what can be mended?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from gossamer.cli.arguments import CrawlFolder

if TYPE_CHECKING:
    from rich.console import Console

    from gossamer.state.workspace import Workspace


def register(app: typer.Typer) -> None:
    app.command()(check)


def check(
    crawl: CrawlFolder,
    repair: Annotated[
        bool, typer.Option("--repair", help="Mend what can be mended, and check again.")
    ] = False,
) -> None:
    """Check that the files of a crawl are whole, and that its datasets agree.

    Compares every file with its checksum. If all are whole, reads every body in the archive, and
    compares datasets and index with each other. The exit code is 1 if anything is wrong.

    With --repair, lost rows are computed again or dropped, lost bodies are fetched again in the
    next round, and counts say how many.

    Example: gossamer check my-web --repair
    """
    from rich.console import Console

    from gossamer.api.crawl import Crawl
    from gossamer.cli.step_progress import StepProgress

    console = Console(stderr=True)
    with Crawl.open(crawl) as opened:
        whole = _print_check(opened.work, console)
        if repair and not whole:
            with StepProgress(opened.work, console) as progress:
                opened.repair(progress.announce, progress.report)
            whole = _print_check(opened.work, console)
    if not whole:
        raise typer.Exit(1)


def _print_check(work: Workspace, console: Console) -> bool:
    """Print what is wrong with a crawl, and return whether nothing is."""
    from rich.progress import Progress

    from gossamer.errors import CorruptManifest, MissingFile
    from gossamer.flow.check import checks

    manifest = work.store.manifest
    count, size = sum(manifest.totals(name).files for name in manifest.datasets), manifest.bytes
    state = f"{count:,} files ({size / 1e6:,.1f} MB, state {manifest.version})"
    damaged = unread = 0
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("checking", total=size)
        for file, error in checks.check_files(work):
            progress.advance(task, file.bytes)
            if error is not None:
                is_damage = isinstance(error, (CorruptManifest, MissingFile))
                damaged, unread = damaged + is_damage, unread + (not is_damage)
                _print_finding(console, error)
    if unread:
        text = f"{unread:,} of {state} could not be read, so it is not known whether they are whole"
        typer.echo(f"gossamer: {text}", err=True)
    if damaged:
        typer.echo(f"gossamer: {damaged:,} of {state} are damaged or missing", err=True)
    if damaged or unread:
        return False
    with work.errors():
        wrong = list(checks.check_contents(work))
    for sentence in wrong:
        _print_finding(console, sentence)
    if wrong:
        typer.echo(f"gossamer: {state} are whole, but their contents do not agree", err=True)
        return False
    typer.echo(f"{state}: all are whole, and their contents agree")
    return True


def _print_finding(console: Console, what: object) -> None:
    console.print(f"gossamer: {what}", markup=False, highlight=False, soft_wrap=True)
