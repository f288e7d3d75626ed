"""`gossamer pause` and `gossamer resume`: a crawl that waits, without ending."""

from __future__ import annotations

import typer

from gossamer.cli.arguments import CrawlFolder


def register(app: typer.Typer) -> None:
    for command in (pause, resume):
        app.command()(command)


def pause(crawl: CrawlFolder) -> None:
    """Let a crawl wait: it sends no further requests and begins no step, until `resume`.

    Open requests are completed. A crawl that is not running waits when it is started. Search
    goes on.

    Example: gossamer pause my-web
    """
    from gossamer.state import pausing

    pausing.pause(_root_to_pause(crawl))
    typer.echo(f"paused; to go on: gossamer resume {crawl}")


def resume(crawl: CrawlFolder) -> None:
    """Let a crawl go on that `pause` has paused.

    Example: gossamer resume my-web
    """
    from gossamer.state import pausing

    pausing.resume(_root_to_pause(crawl))
    typer.echo("not paused any more")


def _root_to_pause(crawl: str) -> str:
    """The folder of an existing crawl. Raises NotACrawl."""
    from gossamer.storage.backends import open_backend
    from gossamer.storage.store import Store

    return Store.open(open_backend(crawl)).url
