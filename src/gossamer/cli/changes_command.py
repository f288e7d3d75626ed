"""`gossamer changes`: what harvests have changed in the index, as JSON lines."""

from __future__ import annotations

from typing import Annotated

import typer

from gossamer.cli.arguments import CrawlFolder


def register(app: typer.Typer) -> None:
    app.command()(changes)


def changes(
    crawl: CrawlFolder,
    since: Annotated[
        str,
        typer.Option(
            "--since", metavar="CURSOR", help="Only later changes than those before this cursor."
        ),
    ] = "",
    site: Annotated[
        str, typer.Option("--site", metavar="HOST", help="Only pages of this host or below it.")
    ] = "",
    texts: Annotated[
        bool, typer.Option("--texts", help="With title, text and dates of each page.")
    ] = False,
) -> None:
    """Print the changes of the index as JSON lines: pages added, changed, moved, duplicate, gone.

    Without a cursor, all pages come first. Each line has the `cursor` after it, for the next call:
    whoever applies all lines in their order has the pages that the index has. `--since now` prints
    only the cursor of the last harvest. The last cursor also goes to standard error. If changes
    after a cursor are not kept any more (`index.changes_days`), the command fails and says so.

    Example: gossamer changes my-web --texts
    """
    import msgspec

    from gossamer.api.crawl import Crawl
    from gossamer.cli.terminal import echo_json
    from gossamer.index.changes.reading import NOW

    with Crawl.open(crawl) as opened:
        cursor = opened.changes.now if since == NOW else since
        for change, following, page in opened.changes.each(cursor, site.lower(), texts=texts):
            cursor = following
            line = msgspec.to_builtins(change)
            if page is not None:
                line |= msgspec.to_builtins(page)
            echo_json(msgspec.json.encode(line | {"cursor": cursor}))
    if cursor:
        typer.echo(f"cursor: {cursor}", err=True)
