"""Run commands as a user types them, but in this process, to import the libraries only once."""

from __future__ import annotations

import sys
from typing import NamedTuple

import pytest
from typer.testing import CliRunner

from gossamer.cli import main


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
