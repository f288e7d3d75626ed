"""`gossamer mark`: which pages the owner wants, and which not."""

from __future__ import annotations

from typing import Annotated

import typer

from gossamer.cli.arguments import AsJson, CrawlFolder
from gossamer.cli.terminal import echo_json, printable


def register(app: typer.Typer) -> None:
    app.command()(mark)


def mark(
    crawl: CrawlFolder,
    urls: Annotated[
        list[str] | None, typer.Argument(metavar="[URL]...", help="Pages of the crawl.")
    ] = None,
    fit: Annotated[
        bool | None, typer.Option("--fit/--unfit", help="You want these pages, or do not.")
    ] = None,
    forget: Annotated[bool, typer.Option("--forget", help="Forget that they are marked.")] = False,
    apply: Annotated[
        bool, typer.Option("--apply", help="Judge all known pages again, not only these.")
    ] = False,
    list_: Annotated[
        bool, typer.Option("--list", help="List the marked pages, and change nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Mark pages as wanted or not. From five of each kind, the crawl learns to judge others.

    It judges pages by the words of their titles and main texts, and unfetched ones by the pages
    that link to them and the words of these links; with the factor fit in update.scoring, rounds
    take the best first. update.fit_rules come before what is learned.

    --list shows whether the text of a marked page is known already.

    Example: gossamer mark my-web https://example.org/a https://example.org/b --fit
    """
    from gossamer.api.crawl import Crawl
    from gossamer.cli.step_commands import print_report
    from gossamer.schedule.order import scoring

    if list_:
        _print_marks(crawl, as_json)
        return
    if urls and (fit is None) != forget:
        raise typer.BadParameter("give one of --fit, --unfit and --forget", param_hint="URL")
    if not urls and (not apply or forget or fit is not None):
        raise typer.BadParameter("give the pages to mark, --apply or --list", param_hint="URL")
    with Crawl.open(crawl) as opened:
        done = opened.mark(urls or (), fit=fit, known=apply)
        named = opened.work.config.update.scoring
        if not scoring.load(named).needs_worth:
            hint = f'rounds do not look at it: update.scoring is "{named}", without the factor fit'
            typer.echo(hint, err=True)
    print_report(done, as_json)


def _print_marks(crawl: str, as_json: bool) -> None:
    """Print the marked pages: whether they are wanted, and whether their text is known."""
    from gossamer.api.crawl import Crawl

    with Crawl.open(crawl) as opened:
        found = opened.marks()
    if as_json:
        import msgspec

        echo_json(msgspec.json.encode([each._asdict() for each in found]))
        return
    for each in found:
        kind = "fit" if each.fit else "unfit"
        unread = "" if each.is_read else "  (its text is not known yet)"
        typer.echo(printable(f"{kind:5}  {each.url}{unread}"))
