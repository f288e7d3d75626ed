"""Arguments that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

CrawlFolder = Annotated[str, typer.Argument(metavar="CRAWL", help="The crawl's folder.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
SeedUrls = Annotated[list[str] | None, typer.Argument(metavar="[URL]...", help="Seeds.")]
SeedLists = Annotated[
    list[str] | None,
    typer.Option(
        "--list",
        "-l",
        metavar="FILE",
        help="A file of seeds, a URL a line; gzip is read too, - is the standard input.",
    ),
]
