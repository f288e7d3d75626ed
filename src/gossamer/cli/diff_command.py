"""`gossamer diff`: what changed on a page between two versions, or on a site since a day."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from gossamer.cli.arguments import AsJson, CrawlFolder
from gossamer.cli.terminal import echo_json, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.api.crawl import Crawl
    from gossamer.serve.differences import Difference
    from gossamer.serve.text_diff import Row


def register(app: typer.Typer) -> None:
    app.command()(diff)


def diff(
    crawl: CrawlFolder,
    url: Annotated[str | None, typer.Argument(metavar="[URL]", help="A page.")] = None,
    since: Annotated[
        str | None,
        typer.Option("--from", metavar="TIME", help="Compare with the version at that time."),
    ] = None,
    until: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="Not the newest version.")
    ] = None,
    site: Annotated[
        str | None, typer.Option("--site", metavar="HOST", help="List the changed pages of a host.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what changed on a page, by words of its title and main text, or on a site.

    Compares the newest version that the archive holds with the one before it, or with the one at a
    time: a day such as 2026-01-31 (its beginning for --from, its end for --to), a time in ISO 8601,
    or 14 digits. With --site and --from, lists the pages whose text is another one than at that
    time, with the numbers of words that were removed and added.

    Examples: gossamer diff my-web https://example.org/ --from 2026-01-31

    gossamer diff my-web --site example.org --from 2026-01-31
    """
    if (url is None) == (site is None) or (site is not None and (since is None or until)):
        raise typer.BadParameter("give a URL, or --site HOST with --from TIME")
    from gossamer.api.crawl import Crawl

    with Crawl.open(crawl) as opened:
        if site is not None and since is not None:
            _print_site(opened, site, since, as_json=as_json)
            return
        found = opened.versions.diff(url or "", since, until)
    if as_json:
        import msgspec

        echo_json(msgspec.json.encode(found))
    else:
        _print_difference(found)


def _print_site(opened: Crawl, host: str, since: str, *, as_json: bool) -> None:
    for change in opened.versions.changed(host, since):
        if as_json:
            import msgspec

            echo_json(msgspec.json.encode(change))
            continue
        words = f"-{change.removed:,} +{change.added:,}"
        typer.echo(f"{_moment(change.fetched_ms)}  {change.kind:<7}  {words:>15}  ", nl=False)
        typer.echo(printable(change.url))


def _print_difference(found: Difference) -> None:
    typer.echo(printable(found.url))
    if found.old == found.new:
        number = len(found.versions)
        kept = "one version is kept" if number == 1 else f"{number:,} versions are kept"
        times = f"{_moment(found.old.fetched_ms)}, last seen {_moment(found.old.seen_ms)}"
        typer.echo(f"the same version at both times, fetched {times}; {kept}")
        return
    times = f"{_moment(found.old.fetched_ms)} → {_moment(found.new.fetched_ms)}"
    words = "word" if found.removed == 1 else "words"
    typer.echo(f"{times}: {found.removed:,} {words} removed, {found.added:,} added")
    for row in found.rows:
        _print_row(row)
    if found.truncated:
        typer.echo("… the texts are too long: not all differences are listed")


def _print_row(row: Row) -> None:
    if row.kind == "skipped":
        typer.secho(
            f"  … {row.skipped:,} equal {'line' if row.skipped == 1 else 'lines'}", dim=True
        )
    elif row.kind == "same":
        typer.echo(f"  {printable(row.new[0])}")
    else:
        for sign, pieces, colour in (("-", row.old, "red"), ("+", row.new, "green")):
            if pieces:
                typer.echo(f"{typer.style(sign, fg=colour)} {_styled(pieces, colour)}")


def _styled(pieces: Sequence[str], colour: str) -> str:
    """A line whose every second piece is different. Colours are dropped beside a terminal."""
    return "".join(
        typer.style(printable(piece), fg=colour, bold=True) if number % 2 else printable(piece)
        for number, piece in enumerate(pieces)
    )


def _moment(time_ms: int) -> str:
    return f"{datetime.fromtimestamp(time_ms / 1000, UTC):%Y-%m-%d %H:%M:%S}"
