"""Printing search results and a crawl's status in a terminal."""

from __future__ import annotations

from datetime import UTC, datetime
from html import unescape
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from gossamer.cli.terminal import printable
from gossamer.dedup.dispositions import reason_of
from gossamer.search.results import matches_in_words
from gossamer.status.human_units import duration, percent, size

if TYPE_CHECKING:
    from gossamer.search.results import Hit, Results


def print_results(results: Results) -> None:
    # Lines of a file or a pipe are not wrapped, so that programs find what they look for.
    console = Console()
    console.soft_wrap = not console.is_terminal
    if results.corrected:
        console.print(
            "No page contains all of these words. These are results for "
            f"[bold]{escape(printable(results.corrected))}[/bold]; "
            "--verbatim searches for the words as typed.",
            highlight=False,
        )
    if results.synonyms:
        words = escape(printable(", ".join(results.synonyms)))
        remedy = "--verbatim searches only for the words as typed."
        console.print(f"Also searched: {words}. {remedy}", highlight=False)
    for note in results.notes:
        console.print(escape(printable(note)), highlight=False)
    for number, hit in enumerate(results.hits, start=1):
        marked = " ".join(printable(hit.snippet).split()).replace("<b>", "\0").replace("</b>", "\1")
        snippet = escape(unescape(marked)).replace("\0", "[bold]").replace("\1", "[/bold]")
        title = escape(printable(hit.title or hit.url))
        console.print(f"[bold]{number}. {title}[/bold]", highlight=False)
        console.print(f"   [green]{escape(hit.url)}[/green]", highlight=False, soft_wrap=True)
        if snippet:
            console.print(f"   {snippet}", highlight=False)
        if folded := _folded_pages(hit):
            console.print(f"   {folded}", style="dim", highlight=False)
    if results.relaxed:
        console.print("No page contains all of these words; these pages contain some of them.")
    console.print(f"{matches_in_words(results, 'result')} in {results.took_ms:.1f} ms", style="dim")


def _folded_pages(hit: Hit) -> str:
    """How a hit was found, if not by words, and the pages that it stands for."""
    named = (
        (hit.versions, "{:,} more version", "{:,} more versions"),
        (hit.copies, "also at {:,} other address", "also at {:,} other addresses"),
    )
    parts = [f"found by its meaning, in {hit.language}"] if hit.near and hit.language else []
    parts += [(one if count == 1 else many).format(count) for count, one, many in named if count]
    return ", ".join(parts)


def print_overview(figures: dict[str, Any]) -> None:
    from gossamer.rules.absence import REASONS

    console = Console()
    pages = dict(figures["pages"])
    hosts = pages.pop("hosts")
    console.print(
        f"[bold]{escape(figures['path'])}[/bold]: round {figures['round']}, "
        f"{sum(pages.values()):,} known pages on {hosts:,} hosts",
        highlight=False,
        soft_wrap=True,
    )
    if pages:
        console.print("  " + ", ".join(f"{n:,} {name}" for name, n in sorted(pages.items())))
    _print_crawl_state(console, figures)
    table = Table("dataset", "rows", "MB", "layers", "files", box=None, header_style="dim")
    for name, held in figures["datasets"].items():
        numbers = (held["rows"], held["bytes"] / 1e6, held["layers"], held["files"])
        table.add_row(name, *(f"{n:,.1f}" if isinstance(n, float) else f"{n:,}" for n in numbers))
    console.print(table)
    if figures["refused"]:
        table = Table("refused", "URLs", "because", box=None, header_style="dim")
        for reason, count in figures["refused"].items():
            table.add_row(escape(reason), f"{count:,}", REASONS.get(reason, ""))
        console.print(table)
    if figures["duplicates"]:
        table = Table("duplicates", "pages", box=None, header_style="dim")
        for reason, count in figures["duplicates"].items():
            table.add_row(reason_of(reason).label, f"{count:,}")
        console.print(table)
    if figures["truncated"]:
        console.print(
            f"{figures['truncated']:,} pages are truncated: some of their text is missing"
        )
    for step in figures["steps"][-8:]:
        when = datetime.fromtimestamp(step["started_ms"] / 1000, UTC)
        counts = ", ".join(f"{n:,} {name}" for name, n in sorted(step["counts"].items()) if n)
        console.print(
            f"  {when:%Y-%m-%d %H:%M:%S}Z round {step['round']:>3} {step['step']:<11}"
            f"{step['seconds']:>8.1f} s  {escape(counts)}",
            highlight=False,
            soft_wrap=True,
        )


def _print_crawl_state(console: Console, figures: dict[str, Any]) -> None:
    for state in ("paused", "waiting"):
        if figures[state]:
            console.print(
                f"  {state}: {figures[state]}", markup=False, highlight=False, soft_wrap=True
            )
    if figures["queue"]:
        queue, fresh = figures["queue"], figures["freshness"]
        console.print(
            f"  {queue.due:,} due now, {queue.within_hour:,} within an hour, "
            f"{queue.within_day:,} within a day; {percent(fresh.share)} of {fresh.fetched:,} "
            "fetched pages are fresh",
            highlight=False,
            soft_wrap=True,
        )
    disk = figures["disk"]
    if disk.free_bytes is None:
        return
    full = "" if disk.full_in_s is None else f", used up in {duration(disk.full_in_s)}"
    console.print(f"  {size(disk.free_bytes)} of disk space free{full}", highlight=False)
