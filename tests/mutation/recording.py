"""Which tests execute which statements of the core, as `python -m tests.mutation --record` found.

A place is a statement by its path, function and first line, so that a recording stays useful when
other lines change.
"""

from __future__ import annotations

import ast
import json
import re
from base64 import b64decode, b64encode
from collections import Counter
from functools import cached_property, reduce
from itertools import zip_longest
from operator import or_
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import compress, decompress

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

CORE = ["web", "storage", "state", "rules", "links", "schedule"]
CORE += ["fetch", "parse", "dedup", "index", "search"]
Named = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Place(NamedTuple):
    """A statement."""

    path: str
    function: str
    """The name with those of what is around it, as in `Class.method.inner`, or nothing."""
    text: str
    """The first line, normalized."""


class RecordedTest(NamedTuple):
    """A test that was run: `waits` if for an engine, server or browser, or if it is a slow one."""

    id: str
    seconds: float
    waits: bool
    places: int
    """How many it executes: few if it is near to what it tests."""

    @property
    def file(self) -> str:
        return self.id.partition("::")[0]

    @property
    def function(self) -> str:
        return self.id.partition("[")[0]


def core_files(root: Path) -> list[Path]:
    return [path for name in CORE for path in sorted((root / "src/gossamer" / name).rglob("*.py"))]


def statements(source: str, path: str) -> Iterator[tuple[Place, ast.stmt]]:
    """The statements of a module, outer ones first."""
    yield from statements_of(ast.parse(source), path)


def statements_of(node: ast.AST, path: str, function: str = "") -> Iterator[tuple[Place, ast.stmt]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield Place(path, function, ast.unparse(child).partition("\n")[0]), child
        inner = f"{function}.{child.name}".lstrip(".") if isinstance(child, Named) else function
        yield from statements_of(child, path, inner)


class Recording:
    """A folder with a list of places and a row per test."""

    def __init__(self, folder: Path) -> None:
        self._places, self._tests = folder / "places.jsonl", folder / "tests.jsonl"
        self.places: dict[Place, int] = {}
        if self._places.exists():
            for line in self._places.read_text().splitlines():
                self.number(Place(*json.loads(line)))

    def number(self, place: Place) -> int:
        """Return the number of a place, which it gets now if it is new."""
        return self.places.setdefault(place, len(self.places))

    def save_places(self) -> None:
        self._places.parent.mkdir(parents=True, exist_ok=True)
        self._places.write_text("".join(json.dumps(place) + "\n" for place in self.places))

    def add(self, test: str, seconds: float, waits: bool, marks: np.ndarray[Any, Any]) -> None:
        """Append a test. `marks` says of each place whether the test executes it."""
        bits = b64encode(compress(np.packbits(marks, bitorder="little").tobytes())).decode()
        row = [test, round(seconds, 3), waits, int(marks.sum()), bits]
        with self._tests.open("a") as file:
            file.write(json.dumps(row) + "\n")

    @cached_property
    def tests(self) -> list[tuple[RecordedTest, int]]:
        """Tests and the bits of their places. Of a test that ran again, the last run counts."""
        rows: dict[str, tuple[RecordedTest, int]] = {}
        if self._tests.exists():
            for line in self._tests.read_text().splitlines():
                *test, bits = json.loads(line)
                packed = int.from_bytes(decompress(b64decode(bits)), "little")
                rows[test[0]] = RecordedTest(*test), packed
        return [*rows.values()]

    def tests_at(self, places: Iterable[Place]) -> list[RecordedTest]:
        """The tests that execute any of these places."""
        numbers = (self.places[place] for place in places if place in self.places)
        wanted = reduce(or_, (1 << number for number in numbers), 0)
        return [test for test, bits in self.tests if bits & wanted]

    def tests_of(self, source: str, path: str, line: int) -> list[RecordedTest]:
        """The tests that may notice a change of that line.

        Those that execute its statement; else, of constants and classes, those that execute the
        statements that use them; of defaults, those that execute the function. None are known for
        other statements that no test of the recording executes. The tests are in an order in which
        the first ones differ most.
        """
        around = [
            (place, node)
            for place, node in statements(source, path)
            if node.lineno <= line <= (node.end_lineno or line)
        ]
        for place, node in around[::-1]:
            if found := self.tests_at([place]):
                others = by_function(self._tests_behind_caches(source, place))
                return list(dict.fromkeys([*self._various(found, place), *others]))
            if found := self._users(node, path) or self._tests_inside(place, node):
                return by_function(found)
        return []

    def _tests_inside(self, place: Place, node: ast.stmt) -> list[RecordedTest]:
        """The tests that execute any statement of a function, whose defaults may be changed."""
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return []
        name = f"{place.function}.{node.name}".lstrip(".")
        return self.tests_at(each for each in self.places if each[:2] == (place.path, name))

    def _tests_behind_caches(self, source: str, place: Place) -> list[RecordedTest]:
        """The tests of what calls the function of a place, if that is cached.

        It is executed once per process, so the recording has only the first test that called it.
        """
        cached = {
            node.name
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.FunctionDef) and any(map(_is_cache, node.decorator_list))
        }
        names, calling = cached & set(place.function.split(".")), list[Place]()
        while names:
            pattern = re.compile(rf"\b({'|'.join(sorted(names))})\b")
            found = [each for each in self.places if each.function and pattern.search(each.text)]
            calling += found
            cached -= names
            names = {each.function.rpartition(".")[2] for each in found} & cached
        return self.tests_at(calling)

    def _various(self, tests: list[RecordedTest], place: Place) -> list[RecordedTest]:
        """In turn, one that also executes each statement of the function, the rarest first."""
        beside = [each for each in self.places if each[:2] == place[:2]]
        found = (set(tests).intersection(self.tests_at([each])) for each in beside)
        turns = zip_longest(*(by_function(each) for each in sorted(found, key=len)))
        return list(dict.fromkeys(test for turn in turns for test in turn if test is not None))

    def _users(self, node: ast.stmt, path: str, depth: int = 3) -> list[RecordedTest]:
        """The tests of the functions that name what a statement defines, or that name these."""
        names = _defined(node)
        for _ in range(depth):
            if not names:
                break
            pattern = re.compile(rf"\b({'|'.join(sorted(names))})\b")
            using = [place for place in self.places if pattern.search(place.text)]
            near = [place for place in using if place.path == path]
            if found := self.tests_at(near) or self.tests_at(using):
                return found
            names = {place.function.rpartition(".")[2] for place in using} - {""} - names
        return []


def by_function(tests: Iterable[RecordedTest]) -> list[RecordedTest]:
    """Each function's case that executes the fewest places, then each function's second one."""
    ordered = sorted(tests, key=lambda test: (test.places, test.id))
    cases = Counter[str]()
    ranks = {}
    for test in ordered:
        cases[test.function] += 1
        ranks[test] = cases[test.function]
    return sorted(ordered, key=ranks.__getitem__)


def _is_cache(decorator: ast.expr) -> bool:
    return re.search(r"\b(?:lru_)?cache\b", ast.unparse(decorator)) is not None


def _defined(node: ast.stmt) -> set[str]:
    """The names of what its users execute in its place."""
    if isinstance(node, ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return {each.id for each in targets if isinstance(each, ast.Name)}
