"""Run commands as a user types them, but in this process, to import the libraries only once."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager, nullcontext
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import typer.main
import typer.testing
from typer.testing import CliRunner

from gossamer.cli import main
from gossamer.engine import engine as engines
from gossamer.parse.process import guarded_parser

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from gossamer.engine.engine import Engine
    from gossamer.parse.parsed_page import Rules

# Typer makes all commands whenever one is called, which takes longer than most of them. Tests call
# hundreds, also by its CliRunner.
typer.main.get_command = cache(typer.main.get_command)
vars(typer.testing)["_get_command"] = typer.main.get_command


class Said(NamedTuple):
    stdout: str
    stderr: str


def gossamer(*words: object, stdin: str = "", code: int = 0) -> Said:
    """Run a command and return its output; it must exit with `code`."""
    with CliRunner().isolation(stdin) as (out, err, _), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["gossamer", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        sys.stdout.flush()
        sys.stderr.flush()
        said = Said(out.getvalue().decode(), err.getvalue().decode())
    assert (ended.value.code or 0) == code, said.stderr
    assert "Traceback" not in said.stderr
    return said


class _Lent:
    """An engine that commands cannot stop."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)

    def stop(self) -> None:
        pass


@contextmanager
def lent(engine: Engine) -> Iterator[None]:
    """Let commands use this engine instead of starting their own, which takes a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engines, "Engine", lambda *_, **_options: _Lent(engine))
        yield


@contextmanager
def standing_parsers() -> Iterator[None]:
    """Let commands that parse use one process per set of rules, as tasks do.

    To start one takes as long as a hundred pages.
    """
    begin = guarded_parser.GuardedParser
    with ExitStack() as standing, pytest.MonkeyPatch.context() as patch:

        @cache
        def stay(rules: Rules) -> AbstractContextManager[guarded_parser.GuardedParser]:
            return nullcontext(standing.enter_context(begin(rules)))

        patch.setattr(guarded_parser, "GuardedParser", stay)
        yield
