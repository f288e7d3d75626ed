"""`gossamer follow`: new pages that match a query are posted to a URL."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gossamer.cli.arguments import CrawlFolder


def register(app: typer.Typer) -> None:
    app.command()(follow)


def follow(
    crawl: CrawlFolder,
    query: Annotated[
        list[str] | None,
        typer.Argument(metavar="QUERY", help="As for search; none: all pages."),
    ] = None,
    to: Annotated[
        str, typer.Option("--to", metavar="URL", help="Where to post each page that matches.")
    ] = "",
    secret: Annotated[
        Path | None,
        typer.Option("--secret", metavar="FILE", help="File with the secret that signs messages."),
    ] = None,
    site: Annotated[
        str, typer.Option("--site", metavar="HOST", help="Only pages of this host or below it.")
    ] = "",
    state: Annotated[
        Path | None,
        typer.Option(
            "--state",
            metavar="FILE",
            help="File that keeps what was sent.",
            show_default="in ~/.local/state/gossamer",
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="At first, send all pages that match now.")
    ] = False,
    once: Annotated[bool, typer.Option("--once", help="End when everything is sent.")] = False,
    new_secret: Annotated[
        bool, typer.Option("--new-secret", help="Print a new secret, and do nothing else.")
    ] = False,
) -> None:
    """Post each page that matches a query to a URL, when a harvest adds or changes it.

    Messages are signed as Standard Webhooks say (docs/following.md). One that fails is sent again,
    after growing waits. Until Ctrl-C; the next call goes on after the last message that was
    delivered. Run it beside `gossamer crawl --forever`, or with --once after each harvest.

    Example: gossamer follow my-web 'event loop' --to https://example.org/hook --secret hook.key
    """
    from gossamer.serve.webhooks.signing import new_secret as make_secret

    if new_secret:
        typer.echo(make_secret())
        return
    if not to or secret is None:
        raise typer.BadParameter("give the URL and the secret: --to URL --secret FILE")
    import time

    from gossamer.cli.terminal import printable
    from gossamer.index.changes.reading import NOW, ChangeLog
    from gossamer.serve.webhooks.delivery import Receiver
    from gossamer.serve.webhooks.follower import Clock, Follower
    from gossamer.serve.webhooks.kept_place import Followed, KeptPlace, usual_path
    from gossamer.serve.webhooks.signing import read_secrets
    from gossamer.state.workspace import Workspace

    work = Workspace.open(crawl)
    receiver = Receiver(to)
    keys = read_secrets(secret.read_text(encoding="utf-8", errors="replace"), str(secret))
    followed = Followed(work.store.manifest.crawl, " ".join(query or ()), site.lower(), to)
    place = KeptPlace(state or usual_path(followed), followed)
    clock = Clock(time.time, time.sleep)

    def report(line: str) -> None:
        typer.echo(printable(line), err=True)

    try:
        with place.opened():
            follower = Follower(work, ChangeLog(work), followed, receiver, keys, clock, report)
            follower.follow(place, since="" if everything else NOW, once=once)
    finally:
        work.close()
