"""`gossamer`: a command per step, and init, crawl, search, serve, status, export, demo, fakeweb.

Exit codes: 0 done; 1 a GossamerError, whose message names what it is about and the remedy;
2 a command line that makes no sense; 130 stopped by Ctrl-C or SIGTERM.

Commands import what they need when they run, so that `gossamer --help` is instant.
"""

from __future__ import annotations

import sys

import typer

from gossamer import __version__
from gossamer.cli import crawling, fakeweb, reading, steps
from gossamer.errors import GossamerError, Stopped

CTRL_C = 130

app = typer.Typer(
    name="gossamer",
    help="From a list of seed URLs to a search engine.",
    epilog="Begin with: gossamer demo",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"gossamer {__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Say the version."
    ),
) -> None:
    pass


crawling.register(app)
reading.register(app)
fakeweb.register(app)
steps.register(app)


def main() -> None:
    """The console script."""
    try:
        app()
    except Stopped as stopped:
        typer.echo(f"gossamer: {stopped}", err=True)
        sys.exit(CTRL_C)
    except GossamerError as error:
        typer.echo(f"gossamer: {error}", err=True)
        sys.exit(1)
    except SystemExit as end:
        if end.code == CTRL_C:  # typer's word for KeyboardInterrupt
            message = "stopped; what was committed is kept, run it again to go on"
            typer.echo(f"gossamer: {message}", err=True)
        raise
    except BrokenPipeError:  # `gossamer … | head`
        sys.stderr.close()
        sys.exit(0)
