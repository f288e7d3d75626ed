"""Makes mutants of random places of the core, and runs the closest tests on each.

Exits with 1 if a mutant survives that is not in `equivalent.txt`. Libraries such as mutmut and
cosmic-ray try each place of a module, with all tests; this takes a random sample of the whole core.
"""

from __future__ import annotations

import argparse
import difflib
import random
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from tests.mutation.closest import Closeness, enclosing
from tests.mutation.mutators import Mutant, compiles, mutants
from tests.mutation.trial import Trial
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

CORE = [
    "web",
    "storage",
    "state",
    "rules",
    "links",
    "schedule",
    "fetch",
    "parse",
    "dedup",
    "index",
    "search",
]
FILES = 8
"""Test files that are run on a mutant at most."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--number", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="a part of the path, as in links/rank")
    options = parser.parse_args()
    closeness = Closeness(ROOT)
    known, survivors, killed = equivalents(), 0, 0
    with TemporaryDirectory(prefix="mutants-") as folder:
        trial = Trial(ROOT, Path(folder, "src"))
        for path, mutant in sample(options.number, options.seed, options.only):
            original = path.read_text()
            before, after = mutant.lines(original)
            print(f"{path.relative_to(ROOT)}:{mutant.line}  {before}  →  {after}", flush=True)
            if reason := known.get((enclosing(original, mutant.line), before, after)):
                print(f"equivalent: {reason}")
                continue
            tests = closeness.closest(path, mutant.line)[:FILES]
            if killer := trial.killer(path, mutant.apply(original), tests):
                killed += 1
                print(f"killed by {killer}", flush=True)
            else:
                survivors += 1
                print("SURVIVED", *(test.relative_to(ROOT) for test in tests))
                print(difference(original, mutant.apply(original)), flush=True)
    print(f"{options.number} mutants: {killed} killed, {survivors} survived")
    if trial.broken:
        print("not counted, because they fail without a mutation:")
        print(*trial.broken.values(), sep="\n")
    return int(survivors > 0)


def sample(number: int, seed: int, only: str) -> Iterator[tuple[Path, Mutant]]:
    """Mutants of different lines. Every line that can be changed is equally likely."""
    chance = random.Random(seed)  # noqa: S311  # not a secret
    places: dict[tuple[Path, int], list[Mutant]] = {}
    for path in (ROOT / "src/gossamer").rglob("*.py"):
        if path.relative_to(ROOT / "src/gossamer").parts[0] in CORE and only in str(path):
            for mutant in mutants(path.read_text()):
                places.setdefault((path, mutant.line), []).append(mutant)
    lines = sorted(places)
    for path, line in chance.sample(lines, min(number, len(lines))):
        source = path.read_text()
        yield path, chance.choice([m for m in places[path, line] if compiles(m.apply(source))])


def equivalents() -> dict[tuple[str, ...], str]:
    """The reasons of `equivalent.txt` by function, line and changed line."""
    text = Path(__file__).with_name("equivalent.txt").read_text()
    blocks = [block.splitlines() for block in text.split("\n\n")[1:]]
    return {tuple(block[:3]): " ".join(block[3:]) for block in blocks}


def difference(original: str, mutated: str) -> str:
    lines = difflib.unified_diff(original.splitlines(), mutated.splitlines(), lineterm="", n=2)
    return "\n".join(f"    {line}" for line in list(lines)[2:])


if __name__ == "__main__":
    sys.exit(main())
