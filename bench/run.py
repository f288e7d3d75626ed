"""Runs the scripts here, each in a process of its own, and prints a table of their figures.

    python bench/run.py [NAME ...] [--tiny] [--manual FOLDER] [--collections FOLDER]

Without names it runs all of them one after the other, which takes some hours. It passes other
options on to the scripts: `harness.py` lists those that all have, `NAME.py --help` those of one.
Scripts that lack what they need are listed as skipped. Exits with 1 if a script failed.
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from harness import FIGURE, SKIPPED
from rich.console import Console
from rich.table import Table

HERE = Path(__file__).parent


class Outcome(NamedTuple):
    name: str
    seconds: float
    code: int
    said: str
    """The last line: the figure, or why the script was skipped."""

    @property
    def state(self) -> str:
        return {0: "ok", SKIPPED: "skipped"}.get(self.code, f"failed ({self.code})")


def questions() -> dict[str, str]:
    """The question of each script, by its name. A docstring of a helper does not begin with one."""
    found = {}
    for path in sorted(HERE.glob("*.py")):
        first = (ast.get_docstring(ast.parse(path.read_text())) or "").partition("\n")[0]
        if first.endswith("?"):
            found[path.stem] = first
    return found


def run(name: str, options: list[str]) -> Outcome:
    """Run a script, and print what it prints."""
    print(f"\n# {name}", flush=True)
    began_s = time.monotonic()
    command = [sys.executable, str(HERE / f"{name}.py"), *options]
    last = ""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            last = line.strip() or last
    said = last if last.startswith((FIGURE, "skipped: ")) else ""
    return Outcome(name, time.monotonic() - began_s, process.returncode, said.partition(": ")[2])


def main() -> int:
    asked = questions()
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(asked))
    options, rest = parser.parse_known_args()
    if unknown := set(options.names) - asked.keys():
        parser.error(f"no such script: {', '.join(sorted(unknown))}")
    outcomes = [run(name, rest) for name in options.names or asked]
    table = Table("script", "question", "figure", "s", "outcome", show_lines=True)
    for each in outcomes:
        table.add_row(each.name, asked[each.name], each.said, f"{each.seconds:.0f}", each.state)
    Console(width=None if sys.stdout.isatty() else 150).print(table)
    return int(any(each.code not in {0, SKIPPED} for each in outcomes))


if __name__ == "__main__":
    sys.exit(main())
