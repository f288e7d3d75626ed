"""`gossamer filter`: rules for URLs, types and languages, and what they say about known pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gossamer.api.filters import LEAST_FIT
from gossamer.cli.arguments import AsJson, CrawlFolder
from gossamer.cli.terminal import echo_json, printable

if TYPE_CHECKING:
    from gossamer.rules.filter_rules.rule_syntax import PlacedRule
    from gossamer.rules.filter_rules.stored_rules import Evidence
    from gossamer.schedule.refilter import AppliedFilters
    from gossamer.storage.store import StepReport

RuleTexts = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[RULE]...", help='Rules, each in quotes: "deny prefix https://example.org/tags/".'
    ),
]
RuleText = Annotated[
    str, typer.Argument(metavar="RULE", help="The rule, as `filter list` prints it.")
]


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True,
        help="Filter rules: which URLs, types and languages belong to the crawl.",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for command in (add, remove, disable, enable, apply, generate):
        group.command()(command)
    group.command("list")(list_rules)
    group.command("test")(try_out)
    app.add_typer(group, name="filter")


def list_rules(crawl: CrawlFolder, as_json: AsJson = False) -> None:
    """List all filter rules in the order in which they are tried, and where each is written.

    The first rule that matches a URL decides. Rules of the settings come first, then those of
    files, then those that `filter add` has stored.

    Example: gossamer filter list my-web
    """
    from gossamer.api.crawl import Crawl

    with Crawl.open(crawl) as opened:
        found = opened.filters.rules()
    if as_json:
        import msgspec

        listed = [
            each._asdict()
            | {"rule": each.rule.text, "evidence": each.evidence and each.evidence.proof()}
            for each in found
        ]
        echo_json(msgspec.json.encode(listed))
        return
    if not found:
        typer.echo("there are no filter rules; to add one: gossamer filter add", err=True)
    for each in found:
        off = "" if each.enabled else ", disabled"
        typer.echo(printable(f"{each.rule.text}  ({each.place}{off})"))
        if each.evidence is not None:
            typer.echo(f"    {_rule_evidence(each.evidence)}")


def try_out(
    crawl: CrawlFolder,
    urls: Annotated[list[str], typer.Argument(metavar="URL...", help="Any URLs.")],
    as_json: AsJson = False,
) -> None:
    """Show what the filters say about links to URLs, and which rule decides.

    Rules for types and languages decide later, when the page was asked for.

    Example: gossamer filter test my-web https://example.org/tags/a
    """
    from gossamer.api.crawl import Crawl

    with Crawl.open(crawl) as opened:
        found = [opened.filters.test(url) for url in urls]
    if as_json:
        import msgspec

        tested = [
            {"url": each.url, "reason": each.reason, "rule": _filter_rule_name(each.rule)}
            for each in found
        ]
        echo_json(msgspec.json.encode(tested))
        return
    for each in found:
        rule = _filter_rule_name(each.rule)
        decides = "no rule matches" if rule is None else rule
        if each.words is None:
            verdict = f"let in: {decides}"
        elif (each.reason or "").startswith("rule_"):
            verdict = f"refused: {decides}"
        else:
            verdict = f"refused before any rule: {each.words}"
        typer.echo(printable(f"{each.url}\n  {verdict}"))


def add(
    crawl: CrawlFolder,
    rules: RuleTexts = None,
    file: Annotated[
        Path | None, typer.Option("--file", metavar="FILE", help="A file with one rule per line.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Add rules to the crawl, after all others. They apply to links that are found from then on.

    For known pages, see `gossamer filter apply`. Rules that the crawl has already stay as
    they are.

    Example: gossamer filter add my-web "deny prefix https://example.org/tags/"
    """
    from gossamer.api.crawl import Crawl
    from gossamer.rules.filter_rules.rule_syntax import read_rule_lines

    if not rules and file is None:
        raise typer.BadParameter("give a rule or --file FILE", param_hint="RULE")
    with Crawl.open(crawl) as opened:
        if file is not None:
            lines = read_rule_lines(file, "give a UTF-8 file with one rule per line")
            _print_done(opened.filters.add(lines, f"{file}, line"), as_json)
        if rules:
            _print_done(opened.filters.add(rules), as_json)


def remove(
    crawl: CrawlFolder,
    rules: Annotated[
        list[str], typer.Argument(metavar="RULE...", help="Rules, as `filter list` prints them.")
    ],
    as_json: AsJson = False,
) -> None:
    """Remove rules that `filter add` has added.

    Example: gossamer filter remove my-web "deny prefix https://example.org/tags/"
    """
    from gossamer.api.crawl import Crawl

    with Crawl.open(crawl) as opened:
        done = opened.filters.remove(rules)
    _print_done(done, as_json)


def disable(crawl: CrawlFolder, rule: RuleText, as_json: AsJson = False) -> None:
    """Keep a rule of the store, but do not apply it.

    Example: gossamer filter disable my-web "deny suffix .ics"
    """
    from gossamer.api.crawl import Crawl

    with Crawl.open(crawl) as opened:
        done = opened.filters.disable(rule)
    _print_done(done, as_json)


def enable(crawl: CrawlFolder, rule: RuleText, as_json: AsJson = False) -> None:
    """Apply a rule of the store again.

    Example: gossamer filter enable my-web "deny suffix .ics"
    """
    from gossamer.api.crawl import Crawl

    with Crawl.open(crawl) as opened:
        done = opened.filters.enable(rule)
    _print_done(done, as_json)


def apply(
    crawl: CrawlFolder,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print what would change, and change nothing.")
    ] = False,
    samples: Annotated[
        int, typer.Option(min=0, max=100, help="URLs to print for each reason and rule.")
    ] = 3,
    as_json: AsJson = False,
) -> None:
    """Apply all filters of now to all known pages.

    Pages that they refuse are not fetched again and leave the index with the next harvest.
    Pages that were excluded so before, and are let in now, are due at once. Seeds are kept.

    Example: gossamer filter apply my-web --dry-run
    """
    from gossamer.api.crawl import Crawl

    with Crawl.open(crawl) as opened:
        found = opened.filters.apply(dry_run=dry_run, samples=samples)
    if as_json:
        import msgspec

        refused = [
            each._asdict() | {"rule": _filter_rule_name(each.rule)} for each in found.refused
        ]
        echo_json(msgspec.json.encode(found._asdict() | {"refused": refused}))
        return
    _print_applied_filters(found)


def generate(
    crawl: CrawlFolder,
    min_fit: Annotated[
        int, typer.Option(min=1, help="Domains with fewer fit pages have no rules.")
    ] = LEAST_FIT,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the rules, and store none.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make rules that refuse the parts of sites that hold no fit page, with a proof for each.

    A page is fit if its main text has 100 words, or by update.fit_rules. A folder is refused if 50
    of its pages or more were asked for, none was fit, and it has more pages than its domain has fit
    ones. The proof is that all fit pages that links lead to are still reached. Rounds keep drawing
    refused pages, and drop a rule if one is fit. A rule that is disabled is not made again. For
    known pages, see `gossamer filter apply`.

    Example: gossamer filter generate my-web --dry-run
    """
    from gossamer.api.crawl import Crawl

    with Crawl.open(crawl) as opened:
        found = opened.filters.generate(min_fit, dry_run=dry_run)
    if as_json:
        import msgspec

        judged = [
            {"rules": each.rules, "lost": each.lost, **each.evidence.proof()}
            for each in found.judged
        ]
        echo_json(msgspec.json.encode(found._asdict() | {"judged": judged}))
        return
    for each in found.judged:
        for rule in each.rules:
            typer.echo(printable(rule if not each.lost else f"not made: {rule}"))
        cut_off = f"; {each.lost:,} of them would be cut off" if each.lost else ""
        typer.echo(f"    {_rule_evidence(each.evidence)}{cut_off}")
    for domain in found.unproved:
        typer.echo(printable(f"{domain}: no rules, as no links lead from a seed to fit pages"))
    if found.report is None:
        typer.echo("no rule was stored")
    else:
        _print_done(found.report, as_json)


def _rule_evidence(evidence: Evidence) -> str:
    drawn = f" and {evidence.drawn:,} drawn since" if evidence.drawn else ""
    return (
        f"{evidence.pages:,} pages, none fit of {evidence.asked:,} asked for{drawn}: "
        f"at most {evidence.most_fit:.1%} are, with 95 % confidence; "
        f"{evidence.domain_fit:,} fit in the domain, {evidence.reached:,} to be reached"
    )


def _print_applied_filters(found: AppliedFilters) -> None:
    for each in found.refused:
        rule = _filter_rule_name(each.rule)
        typer.echo(printable(f"{each.pages:>10,}  {each.reason if rule is None else rule}"))
        for url in each.samples:
            typer.echo(printable(f"{'':12}{url}"))
    counts = found.counts
    would = "would be " if found.report is None else ""
    typer.echo(
        f"{counts['refused']:,} pages {would}excluded, {counts['still_refused']:,} were already; "
        f"{counts['restored']:,} {would}let in again"
    )
    if counts["seeds_kept"]:
        typer.echo(f"{counts['seeds_kept']:,} refused pages are seeds, and are kept")


def _filter_rule_name(rule: PlacedRule | None) -> str | None:
    return None if rule is None else f"{rule.rule.text} ({rule.place})"


def _print_done(done: StepReport, as_json: bool) -> None:
    from gossamer.cli.step_commands import print_report

    print_report(done, as_json)
