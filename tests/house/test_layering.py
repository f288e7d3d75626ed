"""The order of packages in ARCHITECTURE.md, and the circles, sleeps and marks that nobody wants."""

from __future__ import annotations

import ast
import re
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING

from tests.support.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGE = ROOT / "src" / "gossamer"
ORDER = (
    ("errors",),
    ("web",),
    ("tables",),
    ("config",),
    ("storage",),
    ("engine",),
    ("state",),
    ("rules",),
    ("links",),
    ("schedule",),
    ("upkeep", "fetch", "parse", "dedup", "index"),
    ("search",),
    ("status",),
    ("serve",),
    ("flow",),
    ("api",),
    ("plugins",),
    ("cli",),
)
"""A package imports only those before it. Packages of one place never import each other."""
FAKEWEB = {"errors", "engine.processes"}
"""All that the fake web imports, so that it can be used to test any other crawler."""
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


GRAPH = {name: imports(path) - {name, ""} for name, path in ALL.items()}


PLACES = {package: place for place, group in enumerate(ORDER) for package in group}


def package_of(name: str) -> str:
    return name.partition(".")[0]


def may_import(name: str, imported: str) -> bool:
    mine, theirs = package_of(name), package_of(imported)
    if mine in {theirs, ""}:
        return True
    if mine == "fakeweb":
        return imported in FAKEWEB
    return mine == "cli" if theirs == "fakeweb" else PLACES[theirs] < PLACES[mine]


def test_a_package_imports_only_packages_to_its_left() -> None:
    assert {package_of(name) for name in ALL if name} == {*PLACES, "fakeweb"}
    against = [
        f"{name} imports {imported}"
        for name, found in GRAPH.items()
        for imported in sorted(found)
        if not may_import(name, imported)
    ]
    assert not against


def test_no_modules_import_each_other_in_a_circle() -> None:
    try:
        TopologicalSorter(GRAPH).prepare()
    except CycleError as circle:
        raise AssertionError(" → ".join(circle.args[1])) from None


def test_architecture_md_has_the_same_order() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^(errors < .*?)(?: {2,}|$)", text, re.MULTILINE)
    groups = [tuple(group.strip("{} ").split()) for group in line.split(" < ")]
    assert groups == list(ORDER)


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
