"""One command per step, for users who run the rounds themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer

from gossamer.cli.arguments import AsJson, CrawlFolder, SeedLists, SeedUrls

if TYPE_CHECKING:
    from gossamer.storage.store import StepReport
    from gossamer.web.seed_lists import BadLine

STEPS: Mapping[str, str] = {
    "generate": """Start a round: select the pages to fetch (pages → fetchlist).

    Selects the best pages that are due, within the limits generate.* of gossamer.toml.
    A round that was not completed is abandoned; its pages are still due.
    """,
    "fetch": """Fetch the pages of the round (fetchlist → responses, WARC files).

    Obeys robots.txt and the delays and limits fetch.* of gossamer.toml.
    """,
    "parse": """Parse the fetched pages (responses → documents, links).

    Settings: parse.* and filter.* in gossamer.toml.
    """,
    "update": """End the round: update the page database (responses, links → pages).

    Records the outcomes, adds newly found URLs, and determines when each page is due again.
    Settings: update.* in gossamer.toml.
    """,
    "invert": """Collect the links to each page, with their anchor texts (links → inlinks).

    Names at most 200 linking pages per page, and counts all of them.
    """,
    "farms": """Find link farms (links, hosts, domains → farms).

    Finds hosts that recommend each other and that hardly anybody else recommends. `rank` gives
    their votes less weight; `gossamer graph farms` shows them and the reasons.
    """,
    "rank": """Compute PageRank of pages and hosts (graph, farms → ranks).

    Build the graph first (gossamer graph build); without one, ranks are computed by joins.

    Settings: rank.* in gossamer.toml.
    """,
    "boilerplate": """Find the lines that many pages of a host repeat (documents → boilerplate).

    They do not make pages similar, and are not shown in snippets while other passages fit.
    """,
    "dedup": """Find pages with the same content (documents, pages, ranks → dispositions).

    Of pages with equal or nearly equal texts, and of the versions of a manual, one is found;
    `gossamer duplicates show` shows which, and why.
    Settings: dedup.* in gossamer.toml.
    """,
    "index": """Update the full-text index (documents, dispositions, inlinks → index).

    Writes only documents that were added, changed or removed since the last run.
    Settings: index.* in gossamer.toml.
    """,
    "embed": """Encode passages by their meaning (documents, indexed → vectors).

    Only with semantic.model, and only passages that are new; others keep their vectors.
    Settings: semantic.* in gossamer.toml.
    """,
    "prune": """Drop what is not kept from the archive (responses, warc → responses, warc).

    Keeps what store.warc_versions and store.warc_days say, and every body that the crawl uses.
    With these settings, crawls do it by themselves when the archive has grown.
    """,
    "postings": """Build an index partitioned by terms (documents, dispositions → postings).

    A separate index for research, rebuilt on every run; `serve` and `search` do not use it.
    Settings: postings.* in gossamer.toml.
    """,
}
"""The help text of each step whose only argument is the crawl."""
MODULES: Mapping[str, str] = {
    "generate": "schedule.generate",
    "fetch": "fetch",
    "parse": "parse",
    "update": "schedule.update",
    "invert": "links.invert",
    "farms": "links.farms",
    "rank": "links.rank",
    "boilerplate": "dedup.boilerplate",
    "dedup": "dedup",
    "index": "index",
    "embed": "semantic.step",
    "prune": "upkeep.prune",
    "postings": "index.postings",
}
"""The module below gossamer that runs each of them."""


def register(app: typer.Typer) -> None:
    app.command(rich_help_panel="Steps")(inject)
    for name, text in STEPS.items():
        app.command(name, rich_help_panel="Steps")(_step_command(name, text))
    app.command(rich_help_panel="Steps")(harvest)
    app.command(rich_help_panel="Steps")(reparse)


def inject(
    crawl: CrawlFolder, urls: SeedUrls = None, lists: SeedLists = None, as_json: AsJson = False
) -> None:
    """Add seeds to a crawl (seeds → pages).

    A URL without a scheme means https; for localhost, IP addresses and most ports it means
    http. Invalid lines of a list are reported with their line numbers and skipped. The exit
    code is 1 if no seed was accepted.

    Example: gossamer inject my-web https://example.org/ --list seeds.txt.gz
    """
    from gossamer.api.crawl import Crawl

    if not urls and not lists:
        raise typer.BadParameter("give a URL or --list FILE", param_hint="URL")
    with Crawl.open(crawl) as opened:
        done = opened.inject(urls or (), lists or (), print_bad_line)
    print_report(done, as_json)
    if not done.counts["seeds"]:
        raise typer.Exit(1)


def harvest(
    crawl: CrawlFolder,
    everything: Annotated[
        bool, typer.Option("--all", help="Begin from nothing, instead of following changes.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make what was crawled searchable: run all steps from `graph` to `index`.

    `gossamer crawl` does this after its rounds. The steps look at what has changed since
    they ran last. With --all they ignore what they have made before, which stays in use
    until it is replaced. The results are the same, but lines that hosts repeat are counted
    anew.

    Example: gossamer harvest my-web --all
    """
    from rich.console import Console

    from gossamer.api.crawl import Crawl
    from gossamer.cli.step_progress import StepLines, StepProgress
    from gossamer.engine.allocators import return_freed_memory

    return_freed_memory()
    with Crawl.open(crawl) as opened:
        work = opened.work
        with StepLines(work) if as_json else StepProgress(work, Console()) as progress:
            opened.harvest(progress.announce, progress.report, everything=everything)


def reparse(crawl: CrawlFolder, as_json: AsJson = False) -> None:
    """Parse all stored pages again, with the current code and settings.

    Replaces the documents and links of all rounds in one commit, and adds newly found URLs
    to pages. Nothing is fetched, and the index does not change. A page whose stored record
    is damaged keeps its document; the exit code is then 1.

    Example: gossamer reparse my-web
    """
    from rich.console import Console

    from gossamer.api.crawl import Crawl
    from gossamer.cli.step_progress import StepProgress
    from gossamer.engine.allocators import return_freed_memory

    return_freed_memory()
    console = Console(stderr=True)  # standard output is for the report
    with Crawl.open(crawl) as opened, StepProgress(opened.work, console) as progress:
        done = opened.reparse(progress.announce)
    print_report(done, as_json)
    _refuse_unreadable(done, crawl)
    typer.echo(f"next, to rank and index: gossamer harvest {crawl}", err=True)


def _step_command(name: str, text: str) -> Callable[..., None]:
    def step(crawl: CrawlFolder, as_json: AsJson = False) -> None:
        _run_step(name, crawl, as_json)

    step.__doc__ = text
    return step


def _run_step(name: str, crawl: str, as_json: bool) -> None:
    from gossamer.engine.allocators import return_freed_memory
    from gossamer.state.workspace import Workspace

    return_freed_memory()
    work = Workspace.open(crawl)
    try:
        with work.store.lock(), work.errors():
            done = import_module(f"gossamer.{MODULES[name]}").run(work)
            work.store.collect_garbage(work.config.store.keep_versions)
    finally:
        work.close()
    print_report(done, as_json)
    _refuse_unreadable(done, crawl)


def _refuse_unreadable(done: StepReport, crawl: str) -> None:
    """Raises StoreError if records in the archive could not be read."""
    from gossamer.errors import StoreError

    if count := done.counts.get("unreadable"):
        raise StoreError(
            crawl,
            f"{count:,} stored pages could not be read: their records in warc/ are damaged. "
            "Their earlier documents were kept",
            f"gossamer check {crawl} names the files; restore them from a copy, then: "
            f"gossamer reparse {crawl}",
        )


def print_bad_line(bad: BadLine) -> None:
    typer.echo(f"gossamer: {bad}", err=True)


def print_report(done: StepReport, as_json: bool) -> None:
    if as_json:
        import msgspec

        from gossamer.cli.terminal import echo_json

        echo_json(msgspec.json.encode(done))
        return
    counts = ", ".join(f"{count:,} {name}" for name, count in sorted(done.counts.items()))
    typer.echo(f"{done.step}: {counts or 'done'} in {done.seconds:.1f} s")
