"""`gossamer`: the everyday commands, and one command per step.

Exit codes: 0 success; 1 a GossamerError, whose message names its subject and the remedy; 2 an
invalid command line; 130 stopped by Ctrl-C; 141 the reader of standard output has closed it, as in
`gossamer … | head`; 143 stopped by SIGTERM before the work was done. `serve`, `node` and a crawl
without end have no such work: SIGTERM ends them with code 0.

Commands import libraries when they run, so `gossamer --help` is instant.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from importlib.util import find_spec

import typer

from gossamer import __version__
from gossamer.cli import (
    changes_command,
    check_command,
    crawl_commands,
    diff_command,
    duplicates_commands,
    explain_command,
    fakeweb_command,
    filter_commands,
    follow_command,
    graph_commands,
    inspect_command,
    mark_command,
    mcp_command,
    pause_commands,
    query_commands,
    sections_command,
    step_commands,
    top_command,
    verify_command,
)
from gossamer.cli.terminal import STOPPED, open_standard_descriptors, printable
from gossamer.engine.address_space import COMMAND_BYTES, require_address_space
from gossamer.errors import GossamerError, Stopped
from gossamer.storage.file_modes import OWNER_ONLY

PIPE_CLOSED = 141
BLAS_THREADS = "OPENBLAS_NUM_THREADS"
"""Limits the threads of numpy's linear algebra, which no command needs. Each of them keeps a core
busy for 40 ms when numpy is imported, before it first sleeps."""

app = typer.Typer(
    name="gossamer",
    help="From a list of seed URLs to a search engine.",
    epilog="Start with: gossamer demo. Every command has --help.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        parser = find_spec("gossamer.parse.html.walk")
        is_source = parser is None or (parser.origin or "").endswith(".py")
        form = "not compiled" if is_source else "compiled"
        typer.echo(f"gossamer {__version__}, parser {form}")
        raise typer.Exit


@app.callback()
def _top(
    version: bool = typer.Option(  # noqa: ARG001  # its callback reads it
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    require_address_space(COMMAND_BYTES)


crawl_commands.register(app)
query_commands.register(app)
changes_command.register(app)
follow_command.register(app)
top_command.register(app)
check_command.register(app)
pause_commands.register(app)
inspect_command.register(app)
explain_command.register(app)
diff_command.register(app)
verify_command.register(app)
sections_command.register(app)
graph_commands.register(app)
duplicates_commands.register(app)
filter_commands.register(app)
mark_command.register(app)
mcp_command.register(app)
fakeweb_command.register(app)
step_commands.register(app)


def main(handed: object = None) -> None:
    """Run the console script. `handed`: an object for the command, in its typer.Context."""
    open_standard_descriptors()
    os.umask(OWNER_ONLY)
    os.environ.setdefault(BLAS_THREADS, "1")
    code = _run(handed)
    gc.freeze()  # or the interpreter searches all modules for cycles before it ends
    sys.exit(code)


def _run(handed: object) -> int:
    """Run the command and return its exit code. Errors are printed to standard error."""
    try:
        code = _command(handed)
        if sys.stdout is not None:
            sys.stdout.flush()  # reports a full disk; the interpreter's own flush at exit would not
    except Stopped as stopped:
        code = _fail(stopped, stopped.exit_code)
    except GossamerError as error:
        code = _fail(error)
    except BrokenPipeError:  # `gossamer … | head`
        _discard_output()
        code = PIPE_CLOSED
    except MemoryError:
        from gossamer.storage.errors import out_of_memory

        code = _fail(out_of_memory("this process"))
    except OSError as error:
        from gossamer.storage.errors import FULL, system_error

        where = "standard output" if error.errno in FULL else "the system"
        code = _fail(system_error(error, where))
        _discard_output()
    return code


def _command(handed: object) -> int:
    try:
        app(obj=handed)
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # typer and rich turn it into exit code 1
            raise end.__context__ from None
        reason = end.__context__ and end.__context__.__cause__
        if isinstance(reason, KeyboardInterrupt):  # typer has turned it into exit code 130
            typer.echo(f"gossamer: {STOPPED}", err=True)
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def _fail(error: GossamerError, code: int = 1) -> int:
    """Print an error, which may quote hostile text from a page or a file name."""
    typer.echo(f"gossamer: {printable(str(error))}", err=True)
    return code


def _discard_output() -> None:
    """Redirect standard output to /dev/null.

    The buffered rest cannot be written; the interpreter would try at exit, and print an error.
    """
    with suppress(OSError, AttributeError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
