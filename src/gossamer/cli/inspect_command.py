"""`gossamer inspect`: show what the parser extracts from one page, and change nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from gossamer.cli.arguments import AsJson
from gossamer.cli.terminal import echo_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.dedup.dispositions import Duplicates
    from gossamer.links.farm_signs import FarmSign
    from gossamer.parse.parsed_page import Page, ParsedPage, Rules
    from gossamer.state.workspace import Workspace

UNREAD = ("failed", "interrupted", "unsupported")
"""Outcomes that end with exit code 1."""


def register(app: typer.Typer) -> None:
    app.command()(inspect)


def inspect(
    source: Annotated[
        str, typer.Argument(metavar="FILE|URL", help="A file, - for standard input, or a URL.")
    ],
    crawl: Annotated[
        str | None,
        typer.Option(
            metavar="CRAWL", help="Use the settings of this crawl.", show_default="default settings"
        ),
    ] = None,
    stored: Annotated[
        bool,
        typer.Option("--stored", help="Show the page as --crawl has stored it; fetch nothing."),
    ] = False,
    url: Annotated[
        str | None,
        typer.Option(
            help="URL of a FILE, against which its links are resolved.",
            show_default="http://localhost/FILE",
        ),
    ] = None,
    rules: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Use these rules for sites instead of the crawl's."),
    ] = None,
    text: Annotated[
        bool, typer.Option("--text", help="Print only the main text, in full.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show what the parser extracts from one page: title, dates, language, links, main text.

    A URL is fetched once, as a browser would fetch it: robots.txt is not consulted,
    because a person asks for one page. Private addresses are refused unless the settings
    of --crawl allow them. The exit code is 1 if the page cannot be fetched or parsed.

    Examples: gossamer inspect https://example.org/; gossamer inspect page.html --json;
    gossamer inspect https://example.org/ --crawl my-web --stored
    """
    is_url = "://" in source
    if url is not None and is_url:
        raise typer.BadParameter("--url is for a FILE, and this is a URL")
    if stored and (crawl is None or not is_url):
        raise typer.BadParameter("--stored needs a URL and --crawl")
    if text and as_json:
        raise typer.BadParameter("give --text or --json, not both")
    from gossamer.state.workspace import Workspace

    work = None if crawl is None else Workspace.open(crawl)
    page = _inspected_page(source, url, work, stored)
    known = _known_about_inspected(work, page.url) if work is not None and stored else Known()
    _show_page(source, page, _rules_for_inspection(work, rules), known, as_json, text)


def _inspected_page(source: str, url: str | None, work: Workspace | None, stored: bool) -> Page:
    from gossamer.cli import inspected_sources
    from gossamer.config import Config

    if work is not None and stored:
        return inspected_sources.page_of_crawl(work, source)
    config = Config() if work is None else work.config
    if "://" in source:
        return inspected_sources.page_of_server(source, config, "" if work is None else work.root)
    return inspected_sources.page_of_file(source, url, config)


def _rules_for_inspection(work: Workspace | None, file: str | None) -> Rules:
    """The rules of a crawl, or the defaults without one. Raises ConfigError."""
    from gossamer.config import Config
    from gossamer.parse.html.site_rules import read_site_rules
    from gossamer.parse.page_rules import rules_of

    sites = None if file is None else read_site_rules(Path(file))
    return (
        rules_of(Config(), "", sites) if work is None else rules_of(work.config, work.root, sites)
    )


class Known(NamedTuple):
    """What a crawl knows about the page beside its content."""

    signs: Sequence[FarmSign] = ()
    duplicates: Duplicates | None = None


def _known_about_inspected(work: Workspace, url: str) -> Known:
    from gossamer.dedup.dispositions import duplicates_of
    from gossamer.links.farm_signs import signs_of
    from gossamer.state.lookup import Lookup

    lookup = Lookup(work)
    return Known(signs_of(lookup, url), duplicates_of(lookup, url))


def _show_page(
    source: str, page: Page, rules: Rules, known: Known, as_json: bool, text: bool
) -> None:
    from gossamer.parse.process.guarded_parser import GuardedParser

    with GuardedParser(rules) as parser:
        parsed = parser.parse(page)
    unread = parsed.outcome in UNREAD
    if as_json:
        echo_json(_page_json(page.url, parsed, known))
    elif text and not unread:
        from gossamer.cli.terminal import printable

        typer.echo(printable(parsed.main_text or parsed.text or ""))
    elif not unread:
        from gossamer.cli.page_printing import print_page

        print_page(page.url, parsed, rules, known.signs, known.duplicates)
    if unread:
        from gossamer.errors import UsageError

        raise UsageError(source, f"{parsed.outcome}: {parsed.detail}")


def _page_json(url: str, parsed: ParsedPage, known: Known) -> bytes:
    """Encode a ParsedPage, its URL and what is known about it; named tuples become objects."""
    import msgspec

    named = {
        "robots": parsed.robots._asdict(),
        "links": [link._asdict() for link in parsed.links],
        "farms": known.signs,
        "duplicates": known.duplicates,
    }
    return msgspec.json.encode({"url": url, **msgspec.structs.asdict(parsed), **named})
