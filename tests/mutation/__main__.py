"""Makes mutants of random places of the core, and runs the tests on each that may notice it.

Exits with 1 if a mutant survives that is not in `equivalent.txt`. Libraries such as mutmut and
cosmic-ray try each place of a module, with all tests; this takes a random sample of the whole core.

--record runs tests, given as arguments of pytest, to find out which statements each executes. It
keeps that in build/mutation, and adds to what is there. Without it, the closest files are run.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import random
import subprocess
import sys
from collections import defaultdict
from functools import reduce
from operator import or_
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tests.mutation.closest import Closeness, enclosing
from tests.mutation.marks import copy_with_marks
from tests.mutation.mutators import Mutant, compiles, mutants
from tests.mutation.recorder import FOLDER
from tests.mutation.recording import RecordedTest, Recording, core_files, statements
from tests.mutation.trial import Run, Trial
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

KEPT = ROOT / "build/mutation"
FILES = 8
"""The closest test files, of which those tests are run that were not recorded."""
SECONDS = 8
"""What the tests of a mutant that only call functions take together at most."""
WAITING_S = 60
"""The same of tests that need an engine or a server, or are slow."""
NEAR_S, NEAR_WAITING_S = 0.5, 3
"""What those tests of each kind take that are run before the files of the others are opened."""
CPU_S = 40
"""Processor time after which tests that only call functions are in an endless loop."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--number", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a part of the path, as in links/rank")
    parser.add_argument("--record", nargs=argparse.REMAINDER)
    parser.add_argument("--unexecuted", action="store_true", help="list what no test executes")
    options = parser.parse_args()
    if options.record is not None:
        return record(options.record)
    if options.unexecuted:
        return list_unexecuted(options.only)
    with TemporaryDirectory(prefix="mutants-") as folder:
        return try_mutants(Path(folder), options.number, options.seed, options.only)


def try_mutants(folder: Path, number: int, seed: int, only: str) -> int:
    trial, choice = Trial(ROOT, folder / "src"), Choice()
    known, survivors, killed = equivalents(), 0, 0
    for path, mutant in sample(number, seed, only):
        original = path.read_text()
        before, after = mutant.lines(original)
        print(f"{path.relative_to(ROOT)}:{mutant.line}  {before}  →  {after}", flush=True)
        if reason := known.get((enclosing(original, mutant.line), before, after)):
            print(f"equivalent: {reason}")
            continue
        changed, runs = mutant.apply(original), list(choice.runs(path, mutant.line))
        if killer := next(filter(None, (trial.killer(path, changed, run) for run in runs)), None):
            killed += 1
            print(f"killed by {killer}", flush=True)
        else:
            survivors += 1
            print("SURVIVED", *(file for run in runs for file in run.files[:FILES]))
            print(difference(original, changed), flush=True)
    print(f"{number} mutants: {killed} killed, {survivors} survived")
    if trial.broken:
        print("not counted, because they fail without a mutation:")
        print(*trial.broken.values(), sep="\n")
    return int(survivors > 0)


def sample(number: int, seed: int, only: str) -> Iterator[tuple[Path, Mutant]]:
    """Mutants of different lines. Every line that can be changed is equally likely."""
    chance = random.Random(seed)  # noqa: S311  # not a secret
    places: dict[tuple[Path, int], list[Mutant]] = {}
    for path in core_files(ROOT):
        if only in str(path):
            for mutant in mutants(path.read_text()):
                places.setdefault((path, mutant.line), []).append(mutant)
    lines = sorted(places)
    for path, line in chance.sample(lines, min(number, len(lines))):
        source = path.read_text()
        yield path, chance.choice([m for m in places[path, line] if compiles(m.apply(source))])


class Choice:
    """Chooses the tests of a mutant."""

    def __init__(self) -> None:
        self._recording, self._closeness = Recording(KEPT), Closeness(ROOT)
        self._by_file: dict[str, list[RecordedTest]] = defaultdict(list)
        for test, _ in self._recording.tests:
            if (ROOT / test.file).exists():
                self._by_file[test.file].append(test)

    def runs(self, path: Path, line: int) -> Iterator[Run]:
        """What may notice a change: tests that only call functions, all others, unrecorded ones.

        If no recorded test is known, all tests of the closest files.
        """
        source, name = path.read_text(), str(path.relative_to(ROOT))
        found = [t for t in self._recording.tests_of(source, name, line) if t.file in self._by_file]
        pure = within(SECONDS, [test for test in found if not test.waits])
        yield from map(self._run, near_and_far(NEAR_S, pure))
        waiting = within(WAITING_S, [test for test in found if test.waits])
        for tests in near_and_far(NEAR_WAITING_S, waiting):
            yield Run(_files(tests), only=frozenset(test.id for test in tests))
        closest = [str(test.relative_to(ROOT)) for test in self._closeness.closest(path, line)]
        recorded = (test.id for file in closest[:FILES] for test in self._by_file[file])
        # What is executed when a module is imported has no recorded tests of its own.
        yield Run(closest[:FILES], frozenset(recorded if found else ()))

    def _run(self, chosen: list[RecordedTest]) -> Run:
        """A run of these tests, and of those in their files that were not recorded."""
        files = _files(chosen)
        recorded = {test for file in files for test in self._by_file[file]}
        return Run(files, frozenset(test.id for test in recorded - set(chosen)), cpu_s=CPU_S)


def _files(tests: Iterable[RecordedTest]) -> list[str]:
    return list(dict.fromkeys(test.file for test in tests))


def within(seconds: float, tests: Sequence[RecordedTest]) -> list[RecordedTest]:
    """The first tests, up to that many seconds, without those that would exceed them.

    If each of them takes longer, the first one. What a file starts is paid once.
    """
    total = 0.0
    chosen: list[RecordedTest] = []
    for test in tests:
        if total + test.seconds <= seconds:
            total += test.seconds
            chosen.append(test)
    return chosen or [*tests[:1]]


def near_and_far(seconds: float, tests: list[RecordedTest]) -> list[list[RecordedTest]]:
    """The tests that `within` chooses, and if there are any, the others."""
    near = dict.fromkeys(within(seconds, tests))
    return [part for part in ([*near], [test for test in tests if test not in near]) if part]


def equivalents() -> dict[tuple[str, ...], str]:
    """The reasons of `equivalent.txt` by function, line and changed line."""
    text = Path(__file__).with_name("equivalent.txt").read_text()
    blocks = [block.splitlines() for block in text.split("\n\n")[1:]]
    return {tuple(block[:3]): " ".join(block[3:]) for block in blocks}


def difference(original: str, mutated: str) -> str:
    lines = difflib.unified_diff(original.splitlines(), mutated.splitlines(), lineterm="", n=2)
    return "\n".join(f"    {line}" for line in list(lines)[2:])


def record(arguments: Sequence[str]) -> int:
    with TemporaryDirectory(prefix="marked-") as folder:
        copy = Path(folder, "src")
        copy_with_marks(ROOT, copy, Recording(KEPT))
        path = {"PYTHONPATH": f"{copy}{os.pathsep}{ROOT}", FOLDER: str(KEPT)}
        plugin = ["-p", "tests.mutation.recorder", "-p", "no:cacheprovider", "-p", "no:xdist"]
        command = [sys.executable, "-m", "pytest", *plugin, *arguments]
        return subprocess.run(command, cwd=ROOT, env=os.environ | path, check=False).returncode


def list_unexecuted(only: str) -> int:
    """Print the statements that no test executes."""
    recording = Recording(KEPT)
    marks = reduce(or_, (bits for _, bits in recording.tests), 0)
    executed = {place for place, number in recording.places.items() if marks >> number & 1}
    for path in core_files(ROOT):
        name = str(path.relative_to(ROOT))
        found = [*statements(path.read_text(), name)] if only in name else []
        classes = [node for _, node in found if isinstance(node, ast.ClassDef)]
        imported = {each for node in classes for each in node.body}
        for place, node in found:
            is_said = isinstance(node, ast.Nonlocal) or (
                isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            )
            is_run = place.function and node not in imported and not is_said
            if is_run and place not in executed:
                print(f"{name}:{node.lineno} {place.function}: {place.text}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
