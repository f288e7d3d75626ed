"""`gossamer parse`: the step, the step for all rounds anew, and a look at what one page gives."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gossamer.cli.arguments import AsJson

if TYPE_CHECKING:
    from gossamer.parse.page import Page, ParsedPage, Rules
    from gossamer.workspace import Workspace

TAKES: Mapping[str, frozenset[str]] = {
    "a crawl": frozenset(("--again", "--json")),
    "a page of a crawl": frozenset(("--rules", "--text", "--json")),
    "a file": frozenset(("--url", "--crawl", "--rules", "--text", "--json")),
    "a URL": frozenset(("--crawl", "--rules", "--text", "--json")),
}
UNREAD = ("failed", "unsupported")
"""Outcomes that end with exit code 1."""


def parse(
    what: Annotated[
        str, typer.Argument(metavar="CRAWL|FILE|URL", help="A crawl's folder; a file or -; a URL.")
    ],
    of_crawl: Annotated[
        str | None, typer.Argument(metavar="[URL]", help="A page that the crawl has stored.")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Parse all that the crawl has parsed before.")
    ] = False,
    as_json: AsJson = False,
    text: Annotated[bool, typer.Option("--text", help="Print the main text alone, whole.")] = False,
    url: Annotated[str | None, typer.Option(help="The URL of a FILE, for its links.")] = None,
    crawl: Annotated[
        str | None,
        typer.Option(metavar="CRAWL", help="A crawl whose settings hold for a FILE or URL."),
    ] = None,
    rules: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Rules for sites, in place of the crawl's."),
    ] = None,
) -> None:
    """Read what was fetched: responses → documents, links. Or show what one page gives.

    A URL is asked for once, as a browser would: robots.txt is not asked, for
    this is a person's request and no crawl. Private addresses are refused unless
    the settings of --crawl allow them. A page that is not read ends with exit
    code 1.

    Examples: gossamer parse my-web; gossamer parse my-web --again;
    gossamer parse https://example.org/; gossamer parse page.html --json
    """
    folder = Path(what).is_dir()
    kind = "a URL" if "://" in what else "a file"
    if folder:
        kind = "a crawl" if of_crawl is None else "a page of a crawl"
    given: dict[str, bool | str | None] = {"--again": again, "--text": text, "--json": as_json}
    given |= {"--url": url, "--crawl": crawl, "--rules": rules}
    wrong = [name for name, value in given.items() if value and name not in TAKES[kind]]
    if wrong:
        raise typer.BadParameter(f"{what} is {kind}, which takes no {wrong[0]}")
    if of_crawl is not None and not folder:
        raise typer.BadParameter(f"{what} is {kind}; only a crawl takes a URL behind it")
    if text and as_json:
        raise typer.BadParameter("--text and --json are two forms; choose one")
    if kind == "a crawl":
        _step(what, again, as_json)
        return
    from gossamer.workspace import Workspace

    settings = what if of_crawl is not None else crawl
    work = None if settings is None else Workspace.open(settings)
    page = _page(what, of_crawl, url, work)
    _show(of_crawl or what, page, _rules(work, rules), as_json, text)


def _step(crawl: str, again: bool, as_json: bool) -> None:
    from gossamer.cli.steps import run_step, tell

    if not again:
        run_step("parse", crawl, as_json)
        return
    from rich.console import Console

    from gossamer.api import Crawl
    from gossamer.cli.progress import StepProgress

    console = Console(stderr=True)  # the report is what is printed
    with Crawl.open(crawl) as opened, StepProgress(opened.path, console) as progress:
        done = opened.parse_again(progress.announce)
    tell(done, as_json)
    typer.echo(f"next: gossamer crawl {crawl} --minutes 0, to rank and index it", err=True)


def _page(what: str, of_crawl: str | None, url: str | None, work: Workspace | None) -> Page:
    from gossamer.cli import sources
    from gossamer.config import Config

    if work is not None and of_crawl is not None:
        return sources.from_crawl(work, of_crawl)
    config = Config() if work is None else work.config
    if "://" in what:
        return sources.from_server(what, config)
    return sources.from_file(what, url, config)


def _rules(work: Workspace | None, file: str | None) -> Rules:
    """What to parse by: the settings of a crawl, else the defaults. Raises ConfigError."""
    from gossamer.config import Config
    from gossamer.parse.html.site_rules import read_site_rules
    from gossamer.parse.parsers import rules_of

    sites = None if file is None else read_site_rules(Path(file))
    return (
        rules_of(Config(), "", sites) if work is None else rules_of(work.config, work.root, sites)
    )


def _show(what: str, page: Page, rules: Rules, as_json: bool, text: bool) -> None:
    from gossamer.parse.guard import GuardedParser

    with GuardedParser(rules) as parser:
        parsed = parser.parse(page)
    unread = parsed.outcome in UNREAD
    if as_json:
        typer.echo(_json(page.url, parsed))
    elif text and not unread:
        from gossamer.cli.answers import printable

        typer.echo(printable(parsed.main_text or parsed.text or ""))
    elif not unread:
        from gossamer.cli.page_view import print_page

        print_page(page.url, parsed, rules)
    if unread:
        from gossamer.errors import UsageError

        raise UsageError(what, f"{parsed.outcome}: {parsed.detail}")


def _json(url: str, parsed: ParsedPage) -> bytes:
    """A ParsedPage and its URL. What is a tuple with names is an object here."""
    import msgspec

    named = {
        "robots": parsed.robots._asdict(),
        "links": [link._asdict() for link in parsed.links],
    }
    return msgspec.json.encode({"url": url, **msgspec.structs.asdict(parsed), **named})
