"""Tests lie in folders of the packages that they test; what they share is in tests/support/."""

from __future__ import annotations

import ast
import re
import sys
import tomllib

from tests.support.repository import ROOT

TESTS = ROOT / "tests"
OTHERS = {"bench", "browser", "deploy", "docs", "house", "mutation", "release", "support", "whole"}


def imported_names(source: str) -> set[str]:
    """Modules that a file imports, and what it imports from them, by their dotted names."""
    names = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def test_no_file_imports_a_test_file() -> None:
    assert not [
        f"{path.relative_to(TESTS)}: {name}"
        for path in TESTS.rglob("*.py")
        if "test_" in (source := path.read_text(encoding="utf-8")).replace("def test_", "")
        for name in imported_names(source)
        if ".test_" in f".{name}"
    ]


def test_no_helper_has_the_name_of_another_module() -> None:
    """Neither of Python, nor of a library that we need, nor of a package of gossamer."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    libraries = {re.split(r"[^\w-]", need)[0].replace("-", "_").lower() for need in needed}
    ours = {path.parent.name for path in (ROOT / "src" / "gossamer").rglob("__init__.py")}
    helpers = {path.stem for path in (TESTS / "support").glob("*.py")} - {"__init__"}
    assert not helpers & (sys.stdlib_module_names | libraries | ours)


def test_each_folder_has_the_name_of_a_package() -> None:
    folders = {path.parent.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")}
    packages = {path.parent.name for path in (ROOT / "src" / "gossamer").glob("*/__init__.py")}
    assert folders <= packages | OTHERS
