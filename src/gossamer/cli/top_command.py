"""`gossamer top`: a crawl as it goes, in the terminal."""

from __future__ import annotations

import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import typer

from gossamer.cli.arguments import CrawlFolder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.console import RenderableType

    from gossamer.status.overview import CrawlWatch

LOOK_S = 1.0
"""Seconds between two looks."""
QUIT = (b"q", b"Q", b"")
"""The keys that end it, and the end of the input."""


def register(app: typer.Typer) -> None:
    app.command()(top)


def top(crawl: CrawlFolder) -> None:
    """Watch a crawl: speed, rounds, errors, hosts, queue, freshness and disk, each second.

    It shows what runs now, the newest rounds, errors of the last ten rounds by reason, hosts
    that fail and the slowest ones, pages that are due, the share of fetched pages that need not
    be fetched again yet, the last commit, and when the disk will be full. The crawl may be
    running, waiting, paused or idle. q or Ctrl-C ends it. In a pipe or a file, it prints once.

    Example: gossamer top my-web
    """
    from rich.console import Console
    from rich.live import Live

    from gossamer.cli.top_view import draw_top
    from gossamer.state.workspace import Workspace
    from gossamer.status.overview import CrawlWatch

    watch = CrawlWatch(Workspace.open(crawl))
    console = Console()
    if not (console.is_terminal and sys.stdin is not None and sys.stdin.isatty()):
        console.print(draw_top(watch.look(), ()))
        return
    screen = Live(console=console, screen=True, auto_refresh=False)
    with suppress(KeyboardInterrupt), pressed_keys() as pressed, screen:
        while True:
            screen.update(_draw_top(watch, console.height), refresh=True)
            if pressed(LOOK_S) in QUIT:
                break


def _draw_top(watch: CrawlWatch, height: int) -> RenderableType:
    from gossamer.cli.top_view import draw_top, unreadable_view
    from gossamer.errors import GossamerError
    from gossamer.storage.errors import system_error

    try:
        return draw_top(watch.look(), watch.history.rates(), height)
    except GossamerError as error:  # the crawl was deleted, or is damaged
        return unreadable_view(str(error))
    except OSError as error:
        return unreadable_view(str(system_error(error)))


@contextmanager
def pressed_keys() -> Iterator[Callable[[float], bytes | None]]:
    """Read single keys from the terminal; yields a function that waits for one, or returns None.

    SIGTERM raises KeyboardInterrupt, as Ctrl-C does, so that the terminal is left as it was. Ctrl-C
    does even if the shell runs in the background, where programs ignore it at first.
    """
    import os
    import select
    import signal
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    handlers = {
        number: signal.signal(number, signal.default_int_handler)
        for number in (signal.SIGINT, signal.SIGTERM)
    }

    def pressed(seconds: float) -> bytes | None:
        ready, _, _ = select.select([terminal], [], [], seconds)
        return os.read(terminal, 1) if ready else None

    try:
        tty.setcbreak(terminal)
        yield pressed
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
        for number, handler in handlers.items():
            signal.signal(number, handler)
