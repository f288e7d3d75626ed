"""`gossamer duplicates`: several URLs of one page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from gossamer.cli.arguments import AsJson, CrawlFolder
from gossamer.cli.terminal import echo_json, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.dedup.dispositions import Copy, Duplicates
    from gossamer.rules.url_rules.rule_listing import UrlRule

SHOWN = 20
"""Rules that are printed without --limit."""

RuleId = Annotated[
    str, typer.Argument(metavar="RULE", help="The rule's id, as `duplicates rules` prints it.")
]


def register(app: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True,
        help="Several URLs of one page: copies, older versions, and rules about URLs.",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for command in (show, rules, disable, enable):
        group.command()(command)
    group.command("test")(try_out)
    app.add_typer(group, name="duplicates")


def show(
    crawl: CrawlFolder,
    url: Annotated[str, typer.Argument(metavar="URL", help="URL of a page.")],
    as_json: AsJson = False,
) -> None:
    """Show where else the content of a page is found, and which page stands for it in the index.

    Of a page in the index: the older versions and the copies for which it stands, why, and
    how similar they are. Of another: the page that is found instead. The last
    `gossamer dedup` decided it.

    Examples: gossamer duplicates show my-web https://example.org/;
    gossamer duplicates show my-web https://example.org/3.9/ --json
    """
    from gossamer.dedup.dispositions import duplicates_of
    from gossamer.errors import UsageError
    from gossamer.rules.absence import Absence
    from gossamer.search.page_info import PageInfo
    from gossamer.state.lookup import Lookup
    from gossamer.state.workspace import Workspace

    work = Workspace.open(crawl)
    lookup = Lookup(work)
    pages = PageInfo(work, lookup)
    normal = pages.normal(url)
    if normal is None:
        raise UsageError(url, "is not a URL that can be crawled", "example: https://example.org/")
    found = duplicates_of(lookup, normal)
    if found.disposition is None:
        state = pages.state(normal)
        if state is None:
            raise UsageError(normal, f"is not in the crawl: {Absence(work, lookup).why(normal)}")
        if state["stored_ms"] is None:
            raise UsageError(
                normal, "no content of it is stored", f"gossamer explain {work.root} {normal}"
            )
        raise UsageError(
            normal, "has no document that dedup has seen", f"gossamer dedup {work.root}"
        )
    redirects = pages.redirects(normal)
    if as_json:
        import msgspec

        named = msgspec.structs.asdict(found)
        echo_json(msgspec.json.encode({"url": normal, **named, "redirects": redirects}))
        return
    for line in _duplicates_lines(normal, found, redirects):
        typer.echo(printable(line))


def _duplicates_lines(url: str, found: Duplicates, redirects: list[str]) -> Iterator[str]:
    left_out = found.left_out
    yield f"{url} is in the index" if left_out is None else f"{url} is not in the index: {left_out}"
    if total := found.versions_total:
        yield f"{total:,} older {'version' if total == 1 else 'versions, the newest first'}"
        yield from _list_copies(total, found.versions)
    if total := found.copies_total:
        yield f"{total:,} other {'address' if total == 1 else 'addresses'}"
        yield from _list_copies(total, found.copies)
    if redirects:
        yield "redirects from"
        yield from (f"  {each}" for each in redirects)


def _list_copies(total: int, copies: list[Copy]) -> Iterator[str]:
    for copy in copies:
        alike = "" if copy.similarity is None else f"{int(100 * copy.similarity)} %"
        yield f"  {alike:>5}  {copy.version or copy.why.label:<20}  {copy.url}"
    if total > len(copies):
        yield f"  and {total - len(copies):,} more, which are not recorded by name"


def rules(
    crawl: CrawlFolder,
    host: Annotated[
        str | None, typer.Argument(metavar="[HOST]", help="Only the rules of this host.")
    ] = None,
    limit: Annotated[int, typer.Option(min=0, help="At most so many; active ones first.")] = SHOWN,
    as_json: AsJson = False,
) -> None:
    """List the learned rules for URLs, with their evidence.

    A rule is active, on trial (pages wait until samples have decided), learning (the evidence is
    not sufficient yet), contradicted (pages differed) or disabled. Examples are pairs of URLs whose
    contents agreed, or differed.

    Example: gossamer duplicates rules my-web example.org
    """
    from gossamer.api.crawl import Crawl

    with Crawl.open(crawl) as opened:
        found = opened.url_rules(host)
    shown = found[:limit]
    if as_json:
        import msgspec

        listed = [
            rule._asdict() | {"title": rule.title, "most_differing": rule.most_differing}
            for rule in shown
        ]
        echo_json(msgspec.json.encode({"total": len(found), "rules": listed}))
        return
    if not found:
        typer.echo("no rules were learned", err=True)
    for rule in shown:
        _print_url_rule(rule)
    if len(found) > len(shown):
        typer.echo(f"and {len(found) - len(shown):,} more: --limit", err=True)


def _print_url_rule(rule: UrlRule) -> None:
    typer.echo(f"{rule.rule}  {rule.state:12}  {printable(rule.title)}")
    most = rule.most_differing
    bound = "" if most is None else f" (at most {most:.1%} do, with 95 % confidence)"
    typer.echo(
        f"    {rule.supports:,} agree, {rule.contradictions:,} differ{bound}, in rounds "
        f"{rule.first_round} to {rule.last_round}; {rule.rewritten:,} URLs rewritten, "
        f"{rule.sampled:,} of them sampled"
    )
    for urls, sign in ((rule.examples, "="), (rule.counterexamples, "≠")):
        if urls:
            typer.echo(printable(f"    {urls[0]}\n  {sign} {urls[1]}"))


def try_out(
    crawl: CrawlFolder,
    url: Annotated[str, typer.Argument(metavar="URL", help="Any URL.")],
    as_json: AsJson = False,
) -> None:
    """Show what a URL becomes if a page links to it, and by which rules.

    Example: gossamer duplicates test my-web "https://example.org/index.html?from=3"
    """
    from gossamer.api.crawl import Crawl

    with Crawl.open(crawl) as opened:
        found = opened.test_url(url)
    if as_json:
        import msgspec

        rules = [rule.rule for rule in found.rules]
        echo_json(msgspec.json.encode({"url": found.url, "target": found.target, "rules": rules}))
        return
    typer.echo(printable(found.target))
    for rule in found.rules:
        typer.echo(printable(f"  {rule.rule}  {rule.title}"))


def disable(crawl: CrawlFolder, rule: RuleId, as_json: AsJson = False) -> None:
    """Disable a rule for good. The URLs that it rewrote become pages, which the next round fetches.

    Example: gossamer duplicates disable my-web 0123456789abcdef
    """
    from gossamer.api.crawl import Crawl
    from gossamer.cli.step_commands import print_report

    with Crawl.open(crawl) as opened:
        done = opened.disable_rule(rule)
    print_report(done, as_json)


def enable(crawl: CrawlFolder, rule: RuleId, as_json: AsJson = False) -> None:
    """Make a rule active that is disabled, contradicted, learning or on trial.

    The evidence against it is forgotten. If pages differ later, it is dropped again.

    Example: gossamer duplicates enable my-web 0123456789abcdef
    """
    from gossamer.api.crawl import Crawl
    from gossamer.cli.step_commands import print_report

    with Crawl.open(crawl) as opened:
        done = opened.enable_rule(rule)
    print_report(done, as_json)
