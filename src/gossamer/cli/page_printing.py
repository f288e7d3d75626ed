"""Printing a parsed page in a terminal."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from gossamer.cli.terminal import printable
from gossamer.parse.html.site_rules import rule_for
from gossamer.web.urls import origin_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from gossamer.dedup.dispositions import Duplicates
    from gossamer.links.farm_signs import FarmSign
    from gossamer.parse import Link, ParsedPage, Rules

SHOWN_HEADINGS = 8
SHOWN_LINKS = 10
SHOWN_COPIES = 5
SHOWN_CHARS = 1_200
"""Characters of the main text that are printed without --text."""
ANCHOR_CHARS = 26
COLOURS: Mapping[str, str] = {
    "parsed": "green",
    "listing": "cyan",
    "empty": "yellow",
    "unsupported": "red",
    "failed": "red",
}


def print_page(
    url: str,
    page: ParsedPage,
    rules: Rules,
    signs: Iterable[FarmSign] = (),
    duplicates: Duplicates | None = None,
) -> None:
    """Print a parsed page, and which site rule applied if `rules` contains any.

    `signs`: why the votes of its host, or for the page, weigh less. `duplicates`: where else its
    content is found.
    """
    console = Console(highlight=False)
    if page.title:
        console.print(_plain_text(page.title, "bold"))
    console.print(_plain_text(url, "green"), soft_wrap=True)
    console.print()
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column(overflow="fold")
    for name, value in _page_facts(page):
        facts.add_row(name, value)
    if rules.sites:
        rule = rule_for(url, rules)
        facts.add_row("rule", _plain_text("none matches this URL" if rule is None else rule.name))
    if page.unmatched:
        facts.add_row("unmatched", _plain_text(_join(page.unmatched), "yellow"))
    for sign in signs:
        facts.add_row("link farm", _plain_text(f"{sign.name}: {sign.text}", "yellow"))
    for name, lines in _duplicates_facts(duplicates):
        facts.add_row(name, _plain_text(lines))
    console.print(facts)
    if page.links:
        _print_links(console, page.links, origin_of(url))
    if text := page.main_text or page.text:
        _print_text(console, page, text)


def _page_facts(page: ParsedPage) -> Iterator[tuple[str, Text]]:
    """Yield the label and value of each property of the page that is not empty."""
    yield "outcome", _plain_text(page.outcome, COLOURS.get(page.outcome, ""))
    hint = page.language_hint
    language = page.language or ("unknown" if hint else None)
    directives = (name for name, value in page.robots._asdict().items() if value is True)
    until = _date(page.robots.unavailable_after)
    values = {
        "detail": page.detail,
        "truncated": "text beyond a limit was left out" if page.truncated else None,
        "type": _join((page.content_type, page.charset)),
        "language": language and language + (f" (declared: {hint})" if hint else ""),
        "headline": page.headline if page.headline != page.title else None,
        "description": page.description,
        "authors": _join(page.authors),
        "published": _date(page.published),
        "modified": _date(page.modified),
        "site": _join((page.site_name, page.page_type)),
        "image": page.image,
        "canonical": page.canonical,
        "alternates": "\n".join(f"{name} {url}" for name, url in page.alternates),
        "robots": _join((*directives, until and f"unavailable after {until}")),
        "headings": _first_lines(page.headings, SHOWN_HEADINGS),
        "links": _list_counts(Counter(link.relation for link in page.links)),
        "refused": _list_counts(page.refused),
    }
    yield from ((name, _plain_text(value)) for name, value in values.items() if value)


def _duplicates_facts(duplicates: Duplicates | None) -> Iterator[tuple[str, str]]:
    """Yield the rows about the page's duplicates."""
    if duplicates is None:
        return
    if duplicates.left_out:
        yield "not indexed", duplicates.left_out
    for name, total, copies in (
        ("versions", duplicates.versions_total, duplicates.versions),
        ("also at", duplicates.copies_total, duplicates.copies),
    ):
        if total:
            shown = [f"{copy.url} ({copy.version or copy.why.label})" for copy in copies]
            more = [f"… and {total - SHOWN_COPIES:,} more: gossamer duplicates show"]
            yield name, "\n".join(shown[:SHOWN_COPIES] + (more if total > SHOWN_COPIES else []))


def _print_links(console: Console, links: tuple[Link, ...], origin: str) -> None:
    """Print the first links; targets on `origin` are shown as paths."""
    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("link")
    table.add_column("anchor text", max_width=ANCHOR_CHARS, no_wrap=True, overflow="ellipsis")
    table.add_column("target", overflow="fold")
    for link in links[:SHOWN_LINKS]:
        relation = link.relation + (" nofollow" if link.nofollow else "")
        words = _join((_date(link.dated), link.anchor))
        table.add_row(
            relation, _plain_text(words), _plain_text(link.dst.removeprefix(origin), "green")
        )
    console.print()
    console.print(table)
    if len(links) > SHOWN_LINKS:
        console.print(f"… and {len(links) - SHOWN_LINKS:,} more: see --json", style="dim")


def _print_text(console: Console, page: ParsedPage, text: str) -> None:
    console.print()
    name = "text" if page.main_text is None else "main text"
    of_all = "" if page.main_text is None else f" of {len(page.text or ''):,}"
    console.rule(f"{name}, {len(text):,}{of_all} characters", style="dim", align="left")
    console.print(_plain_text(text[:SHOWN_CHARS]))
    if len(text) > SHOWN_CHARS:
        console.print(f"… and {len(text) - SHOWN_CHARS:,} more characters: see --text", style="dim")


def _plain_text(text: str, style: str = "") -> Text:
    return Text(printable(text), style)


def _first_lines(lines: tuple[str, ...], limit: int) -> str:
    more = (f"… and {len(lines) - limit:,} more",) if len(lines) > limit else ()
    return "\n".join((*lines[:limit], *more))


def _join(words: tuple[str | None, ...]) -> str:
    return ", ".join(word for word in words if word)


def _list_counts(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{count:,} {name}" for name, count in ordered)


def _date(when: datetime | None) -> str | None:
    """Format a date in UTC, without the time if it is midnight, which most often means unknown."""
    return None if when is None else f"{when:%Y-%m-%d %H:%M}Z".replace(" 00:00Z", "")
