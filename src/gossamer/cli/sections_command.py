"""`gossamer sections`: what the parts of a site hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated
from urllib.parse import unquote

import typer

from gossamer.cli.arguments import AsJson, CrawlFolder
from gossamer.cli.terminal import echo_json
from gossamer.serve.drawing.labels import visible

if TYPE_CHECKING:
    from gossamer.schedule.order.sections.step import Section

DEPTH = 3
WIDTH = 44
"""Characters of a section's name; longer ones push their counts to the right."""
COLUMNS = ("known", "fetched", "fit", "changed", "worth")


def register(app: typer.Typer) -> None:
    app.command()(sections)


def sections(
    crawl: CrawlFolder,
    domain: Annotated[
        str | None,
        typer.Argument(metavar="[DOMAIN]", help="A host, or a domain with all of its hosts."),
    ] = None,
    depth: Annotated[int, typer.Option(min=1, help="Levels of the tree; a host is 1.")] = DEPTH,
    as_json: AsJson = False,
) -> None:
    """Show the sections of a site as a tree: how many pages are known, fetched, fit, changed.

    A section is a folder, or a path with the name of its first parameter, of ten known pages or
    more. Fit pages have a text of 100 words (or see update.fit_rules). The worth of a section is
    how many fit pages a visit brings, at once or by its links. Without DOMAIN, sections of the same
    path on all hosts are one, with a star for the host.

    The page /sections of `gossamer serve` draws the same counts, and names filter rules.

    Example: gossamer sections my-web example.org
    """
    from gossamer.api.crawl import Crawl

    with Crawl.open(crawl) as opened:
        found = [each for each in opened.sections(domain) if each.level <= depth]
    if as_json:
        import msgspec

        echo_json(msgspec.json.encode([each._asdict() for each in found]))
        return
    if not found:
        typer.echo("no section has ten pages, or the domain is not known", err=True)
        return
    typer.echo(" " * WIDTH + "".join(f"{name:>9}" for name in COLUMNS))
    for each in found:
        typer.echo(section_line(each))


def section_line(section: Section) -> str:
    """A section and its counts, in which %XX are characters."""
    from rich.cells import cell_len

    above, _, name = section.section.removesuffix("/").rpartition("/")
    ending = "/" if section.section.endswith("/") else ""
    shown = visible(unquote(name + ending if above else section.section))
    title = "  " * (section.level - 1) + shown
    counts = "".join(f"{getattr(section, column):9,}" for column in COLUMNS[:-1])
    return f"{title}{' ' * (WIDTH - cell_len(title))}{counts}{section.worth:9.2f}"
