"""`gossamer explain`: why a URL is fetched, or found, or not."""

from __future__ import annotations

from typing import Annotated

import typer

from gossamer.cli.arguments import AsJson, CrawlFolder
from gossamer.cli.terminal import echo_json, printable


def register(app: typer.Typer) -> None:
    app.command()(explain)


def explain(
    crawl: CrawlFolder,
    url: Annotated[str, typer.Argument(metavar="URL", help="Any URL, known to the crawl or not.")],
    as_json: AsJson = False,
) -> None:
    """Explain why a URL is fetched, or found, or not: all that the crawl knows about it.

    When and how it was found; filters and robots.txt; its host; what its server answered; how
    often it changes, when it is due and why; its score; its duplicates; whether it can be
    found. Of a URL that the crawl does not hold, why it does not.

    Example: gossamer explain my-web https://example.org/
    """
    from gossamer.api.crawl import Crawl

    with Crawl.open(crawl) as opened:
        found = opened.explain(url)
    if as_json:
        import msgspec

        echo_json(msgspec.json.encode(found))
        return
    typer.echo(printable(found.url))
    for fact in found.facts:
        typer.echo(printable(f"  {fact.topic:<10}  {fact.text}"))
