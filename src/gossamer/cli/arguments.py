"""Arguments that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

from gossamer.storage.objects.bucket import is_object_url


def _folder(context: typer.Context, given: str) -> str:
    """Refuse a URL in place of the folder, which beginners forget."""
    if "://" in given and not given.startswith("file://") and not is_object_url(given):
        right = f"gossamer {context.info_name} FOLDER {given}"
        raise typer.BadParameter(f"this is a URL; the crawl's folder comes first: {right}")
    return given


CrawlFolder = Annotated[
    str, typer.Argument(metavar="CRAWL", help="Folder of the crawl.", callback=_folder)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one line of JSON instead of text.")]
SeedUrls = Annotated[
    list[str] | None,
    typer.Argument(metavar="[URL]...", help="Seeds: URLs at which the crawl starts."),
]
SeedLists = Annotated[
    list[str] | None,
    typer.Option(
        "--list",
        "-l",
        metavar="FILE",
        help="File of seeds, one URL per line, may be gzipped; -: standard input. Repeatable.",
    ),
]
