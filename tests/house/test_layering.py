"""The order of packages in ARCHITECTURE.md, and the circles, sleeps and marks that nobody wants."""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from tests.support.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGE = ROOT / "src" / "gossamer"
NO_NAMES = {"utils", "util", "helpers", "common", "misc"}


def modules() -> Iterator[tuple[str, Path]]:
    """Dotted names below gossamer, and their files; the package itself is the empty name."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


ALL = dict(modules())


def module_of(imported: str) -> str:
    """The module that an imported name is, or is in."""
    parts = imported.split(".")
    names = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((name for name in names if name in ALL), "")


def imports(path: Path) -> set[str]:
    """The modules of gossamer that a file imports; only for types or lazily, too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: imports are absolute"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    prefix = "gossamer."
    return {module_of(name.removeprefix(prefix)) for name in found if name.startswith(prefix)}


@cache
def graph() -> dict[str, set[str]]:
    """By module, the modules that it imports."""
    return {name: imports(path) - {name, ""} for name, path in ALL.items()}


def read_order() -> tuple[dict[str, int], set[str]]:
    """The place of each package in the line of ARCHITECTURE.md, and what the fake web imports."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    ((line, fakeweb),) = re.findall(r"^(errors < .*?) {2,}fakeweb: (.*)$", text, re.MULTILINE)
    groups = [group.strip("{} ").split() for group in line.split(" < ")]
    places = {package: place for place, group in enumerate(groups) for package in group}
    return places, set(fakeweb.split(", "))


def package_of(name: str) -> str:
    package = name.partition(".")[0]
    return "cli" if package == "__main__" else package  # another name of the command


def test_a_package_imports_only_packages_to_its_left() -> None:
    places, of_fakeweb = read_order()

    def may_import(name: str, imported: str) -> bool:
        mine, theirs = package_of(name), package_of(imported)
        if mine in {theirs, ""}:
            return True
        if mine == "fakeweb":
            return imported in of_fakeweb
        return mine == "cli" if theirs == "fakeweb" else places[theirs] < places[mine]

    assert {package_of(name) for name in ALL if name} == {*places, "fakeweb"}
    against = [
        f"{name} imports {imported}"
        for name, found in graph().items()
        for imported in sorted(found)
        if not may_import(name, imported)
    ]
    assert not against


def test_no_modules_import_each_other_in_a_circle() -> None:
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as circle:
        raise AssertionError(" → ".join(circle.args[1])) from None


def test_modules_have_names() -> None:
    assert not {path for path in ALL.values() if path.stem in NO_NAMES}


def test_no_test_sleeps() -> None:
    assert not [
        f"{path.name}:{node.lineno}"
        for path in sorted((ROOT / "tests").rglob("*.py"))
        if "sleep" in (source := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call)
        and "sleep" in ast.unparse(node.func)
        and ast.unparse(node) != "asyncio.sleep(0)"
    ]


def test_marks_are_where_make_looks_for_them() -> None:
    """It runs the test files that contain a mark, and would not see one from a helper."""
    marks = re.compile(r"\bmark[.](slow|fuzz|browser|spark)\b")
    others = {path for path in (ROOT / "tests").rglob("*.py") if path.name[:5] != "test_"}
    assert not [path.name for path in others if marks.search(path.read_text(encoding="utf-8"))]
