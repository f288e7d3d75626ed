"""Arguments that several commands share."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from gossamer import object_support
from gossamer.buckets import is_object_url


def _folder(context: typer.Context, given: str) -> str:
    """Refuse a URL in place of the folder, which beginners forget, and what cannot be done."""
    if is_object_url(given):
        object_support.check(given, _name(context))
    elif "://" in given and not given.startswith("file://"):
        right = f"gossamer {context.info_name} FOLDER {given}"
        raise typer.BadParameter(f"this is a URL; the crawl's folder comes first: {right}")
    return given


def _name(context: typer.Context) -> str:
    """The name of a command, after those of its groups."""
    names: list[str] = []
    at: Any = context  # typer's class, or its parent
    while at.parent is not None:
        names.insert(0, at.info_name)
        at = at.parent
    return " ".join(names)


CrawlFolder = Annotated[
    str,
    typer.Argument(metavar="CRAWL", help="Folder of the crawl.", callback=_folder),
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
