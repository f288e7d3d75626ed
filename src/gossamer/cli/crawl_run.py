"""What `gossamer crawl` does. The command imports this while its first worker starts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from rich.console import Console

from gossamer import rounds as _flow  # noqa: F401  # needed later
from gossamer import unfetched
from gossamer.api import Crawl
from gossamer.cli.progress import StepLines, StepProgress
from gossamer.cli.settings import apply, new_settings, overridden, own_hosts, require_contact
from gossamer.cli.steps import print_bad_line, print_report
from gossamer.due import next_due_ms
from gossamer.errors import NotACrawl
from gossamer.seeds import check
from gossamer.urls import UrlRules

if TYPE_CHECKING:
    from collections.abc import Sequence


class Asked(NamedTuple):
    """What the command line asks for; its help describes it."""

    urls: Sequence[str]
    lists: Sequence[str]
    rounds: int | None
    minutes: float | None
    contact: str
    refresh: bool
    refresh_matching: str
    own: bool
    forever: bool
    with_page: bool
    as_json: bool


def run(path: str, asked: Asked) -> None:
    """Crawl. Raises NothingFetched, and what the steps do."""
    own = own_hosts(asked.urls) if asked.own else ()
    with _opened(path, asked) as crawl, crawl.work.errors():
        if asked.contact or own:
            apply(crawl, asked.contact, own)
        if asked.urls or asked.lists:
            crawl.inject(asked.urls, asked.lists, print_bad_line)
        if asked.refresh or asked.refresh_matching:
            print_report(crawl.refresh(asked.refresh_matching), asked.as_json)
        contact = require_contact(crawl) or asked.contact
        if asked.forever:
            from gossamer.cli.standing import crawl_forever  # psutil takes long to import

            settings = partial(overridden, contact, own)
            crawl_forever(crawl, _progress(crawl, asked), settings, serve=asked.with_page)
        else:
            _until_nothing_is_due(crawl, asked)
    if not asked.as_json:
        Console().print(f'next: gossamer search {path} "words", or gossamer serve {path}')


def _opened(path: str, asked: Asked) -> Crawl:
    """Open the crawl, or create it if there are seeds."""
    try:
        return Crawl.open(path)
    except NotACrawl as absent:
        if not asked.urls and not asked.lists:
            raise _seedless(absent, path) from None
        # Bad seeds must not leave an empty crawl behind.
        check(asked.urls, asked.lists, UrlRules())
        return Crawl.create(path, new_settings(asked.contact), keep_settings=True)


def _progress(crawl: Crawl, asked: Asked) -> StepLines | StepProgress:
    return StepLines(crawl.work) if asked.as_json else StepProgress(crawl.work, Console())


def _until_nothing_is_due(crawl: Crawl, asked: Asked) -> None:
    with _progress(crawl, asked) as progress:
        reports = crawl.run(asked.rounds, asked.minutes, progress.announce, progress.report)
        error = unfetched.why_nothing(
            crawl.work, reports, seeds_given=bool(asked.urls or asked.lists)
        )
        if error is not None:
            raise error
        steps = {report.step for report in reports}
        if "generate" in steps and "fetch" not in steps:
            progress.tell("wait", _nothing_due(crawl))


def _seedless(absent: NotACrawl, crawl: str) -> NotACrawl:
    """Return the error for a path without a crawl: seeds are missing, or the path is a seed."""
    return type(absent)(
        absent.subject,
        "is not a crawl, and no seeds were given to create one",
        f"give the URLs to start with: gossamer crawl {crawl} URL...\n"
        f"  → if {crawl} is a site, put a folder before it: gossamer crawl FOLDER {crawl}",
    )


def _nothing_due(crawl: Crawl) -> str:
    due_ms = next_due_ms(crawl.work)
    until = f" before {unfetched.when(due_ms)}" if due_ms else ""
    return f"no page is due{until}; to fetch pages again now: gossamer crawl {crawl.path} --refresh"
