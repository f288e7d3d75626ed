"""`gossamer duplicates show`: where else the content of a page is found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from gossamer.cli.arguments import AsJson, CrawlFolder
from gossamer.cli.terminal import echo_json, printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.dedup.dispositions import Copy, Duplicates


def register(group: typer.Typer) -> None:
    """Add the command to `gossamer duplicates`."""
    group.command()(show)


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
    for line in _lines(normal, found, redirects):
        typer.echo(printable(line))


def _lines(url: str, found: Duplicates, redirects: list[str]) -> Iterator[str]:
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
