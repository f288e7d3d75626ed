"""What `gossamer crawl` does. The command imports this while its first worker starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import typer
from rich.console import Console

from gossamer.api.crawl import Crawl
from gossamer.cli.gossamer_toml import apply_contact, hosts_of_seeds, require_contact, toml_text
from gossamer.cli.step_commands import print_bad_line, print_report
from gossamer.cli.step_progress import StepLines, StepProgress
from gossamer.errors import NotACrawl, WorkerDied
from gossamer.flow import rounds as _flow  # noqa: F401  # needed later
from gossamer.schedule.due.round_length import next_due_ms
from gossamer.state.stopping import heed_nobody
from gossamer.state.workspace import Workspace
from gossamer.status import nothing_fetched
from gossamer.status.human_units import moment
from gossamer.status.seed_redirects import refused_seed_redirects
from gossamer.storage.backends import open_backend
from gossamer.storage.store import Store
from gossamer.web.seed_lists import check_seeds
from gossamer.web.urls import UrlRules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gossamer.cli.forever_process import Kept
    from gossamer.cli.supervisor import Line


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
    as_json: bool


def run(path: str, asked: Asked) -> None:
    """Crawl. Raises NothingFetched, and what the steps do."""
    with _open_or_create(path, asked) as crawl, crawl.work.errors():
        _prepare_crawl_run(crawl, asked)
        nothing_fetched.require_seeds(crawl.work)
        _crawl_until_nothing_is_due(crawl, asked)
    if not asked.as_json:
        typer.echo(f'next: gossamer search {path} "words", or gossamer serve {path}')


def run_forever(path: str, asked: Asked, line: Line) -> None:
    """Crawl without end, as the process of supervisor.py that does. Raises Exit to be replaced."""
    from gossamer.cli.forever_process import Kept, crawl_forever
    from gossamer.cli.supervisor import LOST_WORKER  # psutil takes long to import

    kept: Kept | None = line.kept
    with _open_or_create(path, asked) if kept is None else _opened_again(path, kept) as crawl:
        crawl.work.store.holder = line.holder
        with crawl.work.errors():
            if kept is None:
                contact, own = _prepare_crawl_run(crawl, asked)
                kept = Kept(crawl.work.config, contact, own)
            progress = _crawl_progress(crawl, asked)
            try:
                crawl_forever(crawl, progress, kept, line)
            except WorkerDied as error:
                heed_nobody()
                progress.tell("lost", str(error))
                raise typer.Exit(LOST_WORKER) from None


def _prepare_crawl_run(crawl: Crawl, asked: Asked) -> tuple[str, tuple[str, ...]]:
    """Do what comes before the first round; return the contact and own hosts for this run."""
    own = hosts_of_seeds(asked.urls, asked.lists) if asked.own else ()
    if asked.contact or own:
        apply_contact(crawl, asked.contact, own)
    if asked.urls or asked.lists:
        crawl.inject(asked.urls, asked.lists, print_bad_line)
    if asked.refresh or asked.refresh_matching:
        print_report(crawl.refresh(asked.refresh_matching), asked.as_json)
    return require_contact(crawl) or asked.contact, own


def _open_or_create(path: str, asked: Asked) -> Crawl:
    """Open the crawl, or create it if there are seeds."""
    try:
        return Crawl.open(path)
    except NotACrawl as absent:
        if not asked.urls and not asked.lists:
            raise _seedless(absent, path) from None
        # Bad seeds must not leave an empty crawl behind.
        check_seeds(asked.urls, asked.lists, UrlRules())
        return Crawl.create(path, toml_text(asked.contact), keep_settings=True)


def _opened_again(path: str, kept: Kept) -> Crawl:
    """Open the crawl with the settings that counted for the process before this one.

    Those of gossamer.toml count when somebody says so; meanwhile it may be half edited.
    """
    return Crawl(Workspace(Store.open(open_backend(path)), kept.config))


def _crawl_progress(crawl: Crawl, asked: Asked) -> StepLines | StepProgress:
    return StepLines(crawl.work) if asked.as_json else StepProgress(crawl.work, Console())


def _crawl_until_nothing_is_due(crawl: Crawl, asked: Asked) -> None:
    with _crawl_progress(crawl, asked) as progress:
        reports = crawl.run(asked.rounds, asked.minutes, progress.announce, progress.report)
        error = nothing_fetched.why_nothing(
            crawl.work, reports, seeds_given=bool(asked.urls or asked.lists)
        )
        if error is not None:
            raise error
        for line in refused_seed_redirects(crawl.work, reports):
            progress.tell("redirect", line)
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
    until = f" before {moment(due_ms)}" if due_ms else ""
    return f"no page is due{until}; to fetch pages again now: gossamer crawl {crawl.path} --refresh"
