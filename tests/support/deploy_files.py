"""What the tests of the files in deploy/ share: the files, their validators, our command line."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import typer.main

from gossamer import cli
from tests.support.machine_needs import lacking
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

DEPLOY = ROOT / "deploy"
VALIDATORS = ROOT / "build" / "validators"
GUIDE = (ROOT / "docs" / "deployment.md").read_text("utf-8")


def validator(name: str) -> str:
    """The path of a program that `make validators` installs; skips the test without it."""
    program = VALIDATORS / "bin" / name
    if not (VALIDATORS / ".installed").exists():
        lacking(f"this needs {name}: make validators")
    return str(program)


def run(*command: str | Path, given: str | None = None) -> str:
    """Run a program that must succeed; returns what it prints."""
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def refused(*command: str | Path, given: str | None = None) -> str:
    """Run a program that must fail; returns what it prints."""
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    return done.stdout + done.stderr


def parsed(words: Sequence[str]) -> Mapping[str, object]:
    """The arguments of a command line of Gossamer, without its first word; fails if it is wrong."""
    name, *arguments = words
    commands = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]
    with commands[name].make_context(name, arguments) as context:
        values: Mapping[str, object] = context.params
    return values
