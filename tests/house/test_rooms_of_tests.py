"""Tests lie in folders of the packages that they test; what they share is in tests/support/."""

from __future__ import annotations

import ast

from tests.support.repository import ROOT

TESTS = ROOT / "tests"
OTHERS = {"bench", "browser", "deploy", "docs", "house", "mutation", "support", "whole"}


def test_no_file_imports_a_test_file() -> None:
    assert not [
        f"{path.relative_to(TESTS)}: {node.module}"
        for path in TESTS.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and ".test_" in f".{node.module}"
    ]


def test_each_folder_has_the_name_of_a_package() -> None:
    folders = {path.parent.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")}
    packages = {path.parent.name for path in (ROOT / "src" / "gossamer").glob("*/__init__.py")}
    assert folders <= packages | OTHERS
