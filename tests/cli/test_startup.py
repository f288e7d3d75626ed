"""Programs that start often, or that users see first, import no heavy libraries needlessly."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import typer.main
from typer import rich_utils
from typer.testing import CliRunner

from gossamer import __version__
from gossamer.cli import BLAS_THREADS, app

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typer._click import Command

HEAVY = {"pyspark", "pyarrow", "numpy", "tantivy", "aiohttp", "uvloop", "pandas"}


@pytest.mark.server
@pytest.mark.parametrize(
    ("statement", "heavy", "says"),
    [
        # The first command that users run.
        ("main()", HEAVY | {"selectolax", "msgspec"}, "fakeweb"),
        # The process that stays while others crawl, without end.
        ("import gossamer.cli.supervisor", HEAVY, ""),
        # The parser's process, of each task and each `gossamer parse`.
        ("import gossamer.parse.process.guarded_parser", HEAVY, ""),
    ],
)
def test_none_of_the_heavy_libraries_is_imported(
    statement: str, heavy: set[str], says: str
) -> None:
    program = (
        "import sys; sys.argv[1:] = ['--help']\n"
        "from gossamer.cli import main\n"
        f"try: {statement}\n"
        f"finally: print(sorted({heavy!r} & sys.modules.keys()), file=sys.stderr)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert says in ended.stdout
    assert ended.stderr.strip() == "[]"


@pytest.mark.server
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted by proc(5)")
def test_numpy_starts_no_threads_in_a_command() -> None:
    program = (
        "import os, sys; sys.argv[1:] = ['--version']\n"
        "from gossamer.cli import main\n"
        "try: main()\n"
        "finally: import numpy; print(len(os.listdir('/proc/self/task')), file=sys.stderr)"
    )
    kept = {name: each for name, each in os.environ.items() if name != BLAS_THREADS}
    ended = subprocess.run(
        [sys.executable, "-c", program], env=kept, capture_output=True, text=True, check=True
    )
    assert ended.stderr == "1\n"


@pytest.mark.server
def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "gossamer", "--version"]
    assert subprocess.check_output(command, text=True).startswith(f"gossamer {__version__}, ")


def helped(command: Command) -> Iterator[tuple[str, str]]:
    """The words that lead to each command, and its help text."""
    for name, inner in getattr(command, "commands", {}).items():
        yield from ((f"{name} {path}".strip(), text) for path, text in helped(inner))
    yield "", command.help or ""


def test_help_texts_are_whole_and_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with characters that could be markup, and where a docstring has other line breaks."""
    monkeypatch.setattr(rich_utils, "MAX_WIDTH", 80)
    for path, text in helped(typer.main.get_command(app)):
        shown = CliRunner().invoke(app, [*path.split(), "--help"]).output
        lines = [" ".join(line.split()) for line in shown.splitlines()]
        for paragraph in text.replace("`", "").split("\n\n"):
            assert " ".join(paragraph.split()) in " ".join(lines), path
        if path == "crawl":
            second = "even a power failure, run it again: it resumes with the first step that was"
            assert second in lines
