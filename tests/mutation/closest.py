"""Which test files are the closest to a place of the sources.

Coverage would not see the worker processes that run most of the steps. So the files are chosen by
what they import, directly or not, by their names, and by whether they name the function.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FAR = 9
OTHERS = {"docs", "house", "deploy", "browser", "bench", "mutation"}
"""Folders of tests that do not run the core."""


class Closeness:
    """The imports of a checkout, and how close its tests are to places of its sources."""

    def __init__(self, root: Path) -> None:
        self.files = {
            ".".join(path.relative_to(top).with_suffix("").parts).removesuffix(".__init__"): path
            for top, below in ((root / "src", "gossamer"), (root, "tests"))
            for path in sorted((top / below).rglob("*.py"))
        }
        self.tests = {
            name: path
            for name, path in self.files.items()
            if path.name.startswith("test_") and name.split(".")[1] not in OTHERS
        }
        self.imported = cache(self._imported)

    def closest(self, path: Path, line: int) -> list[Path]:
        """The test files that may notice a change of that line, the closest first."""
        module = next(name for name, each in self.files.items() if each == path)
        function = enclosing(path.read_text(), line)
        scores = {test: self._score(test, module, function) for test in self.tests}
        return [self.tests[test] for test in sorted(scores, key=scores.__getitem__, reverse=True)]

    def _score(self, test: str, module: str, function: str) -> float:
        words = set(re.split(r"[._]", module)) - {"gossamer", module.split(".")[1]}
        same = words & (set(re.split(r"[._]", test)) - {"tests", "test"})
        package = module.split(".")[1] == test.split(".")[1]
        named = re.search(rf"\b{function}\b", self.tests[test].read_text()) is not None
        stem = test.rpartition("test_")[2] == module.rpartition(".")[2]
        return 3 * stem + 2 * package + 2 * len(same) + named - self._distance(test, module)

    @cache  # noqa: B019  # one instance in a run
    def _distance(self, test: str, module: str) -> int:
        """The number of imports from a test file to a module."""
        seen, reached, distance = {test}, {test}, 0
        while module not in seen and distance < FAR and reached:
            reached = {to for name in reached for to in self.imported(name)} - seen
            seen |= reached
            distance += 1
        return distance if module in seen else FAR

    def _imported(self, name: str) -> set[str]:
        names: set[str] = set()
        for node in ast.walk(ast.parse(self.files[name].read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        return names & self.files.keys()


def enclosing(source: str, line: int) -> str:
    """The name of the innermost function or class of a line."""
    name = "no function"
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and node.end_lineno is not None
            and node.lineno <= line <= node.end_lineno
        ):
            name = node.name  # those inside come later
    return name
