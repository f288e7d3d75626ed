"""Benches can be imported. Most are run by hand, and rarely, so nothing else would notice."""

from __future__ import annotations

import ast
import re
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

from tests.support.repository import ROOT

BENCH = ROOT / "bench"


def defined(module: str) -> set[str]:
    """Return the functions, classes and variables at the top level of a bench."""
    tree = ast.parse((BENCH / f"{module}.py").read_text())
    functions = {
        node.name
        for node in tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    assigned = {
        node.id
        for statement in tree.body
        if isinstance(statement, ast.Assign | ast.AnnAssign)
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    return functions | assigned


def test_benches_do_not_hide_installed_packages() -> None:
    """A script's folder comes first in sys.path: incremental.py once hid a package from Scrapy."""
    installed = {*packages_distributions(), *sys.stdlib_module_names}
    assert not {path.stem for path in BENCH.glob("*.py")} & installed


def test_benches_import_names_that_exist() -> None:
    benches = {path.stem for path in BENCH.glob("*.py")}
    imported = [
        (path.name, node.module, alias.name)
        for path in BENCH.glob("*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ImportFrom) and node.module in benches
        for alias in node.names
    ]
    assert imported
    missing = [each for each in imported if each[2] not in defined(each[1] or "")]
    assert not missing


def test_make_bench_runs_benches_that_exist() -> None:
    recipe = Path(BENCH.parent, "Makefile").read_text().partition("\nbench:")[2]
    recipe = recipe.partition("\n\n")[0]
    listed = re.findall(r"[a-z_]+", " ".join(re.findall(r"\bin ((?:[^;]|\n)*);", recipe)))
    named = {name for name in listed if name not in {"py", "docs"}}
    assert {"page_state", "searchable"} <= named
    assert named <= {path.stem for path in BENCH.glob("*.py")}
