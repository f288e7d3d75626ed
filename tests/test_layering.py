"""The kinds of module (see the package's docstring), and what each may import."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src"
LONGEST = 400

STEPS = [
    "inject",
    "generate",
    "fetch",
    "parse",
    "update",
    "invert",
    "rank",
    "index",
    "postings",
    "serve",
]
FORMATS = [
    "tables",
    "outcomes",
    "layers",
    "states",
    "lookup",
    "linkgraph",
    "findable",
    "warc",
    "seeds",
    "export",
    "index.analysis",
    "index.layout",
    "index.schema",
    "postings.blocks",
    "postings.retrieval",
    "postings.broker",
]
FOUNDATIONS = [
    "engine",
    "pool",
    "store",
    "backends",
    "urls",
    "encodings",
    "sessions",
    "robots",
    "robots_rules",
    "config",
    "monitor",
    "stopping",
    "errors",
    "workspace",
    "shuffle",
]
EXTENSION_POINTS = ["filters", "traps", "scoring"]
DOORS = ["__init__", "api", "rounds", "overview", "cli"]
FAKEWEB = ["fakeweb"]


def modules() -> Iterator[tuple[str, Path]]:
    """Dotted names below gossamer, and their files."""
    for path in sorted((SRC / "gossamer").rglob("*.py")):
        parts = path.relative_to(SRC / "gossamer").with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" and parts[1:] else parts), path


def imports(path: Path) -> set[str]:
    """What a file imports of gossamer, as dotted names below it; only for types or lazily too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: imports are absolute"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.removeprefix("gossamer.") for name in found if name.startswith("gossamer.")}


def owner(name: str) -> str:
    """The member of the lists above that a dotted name belongs to."""
    known = {*STEPS, *FORMATS, *FOUNDATIONS, *EXTENSION_POINTS, *DOORS, *FAKEWEB}
    parts = name.split(".")
    owners = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((candidate for candidate in owners if candidate in known), "__init__")


ALL = dict(modules())


@pytest.mark.parametrize("name", ALL)
def test_a_module_imports_what_its_kind_may(name: str) -> None:
    mine = owner(name)
    theirs = {owner(imported) for imported in imports(ALL[name])} - {mine, "__init__"}
    if mine in STEPS:
        allowed = {*FORMATS, *FOUNDATIONS, *EXTENSION_POINTS, "overview"}
        assert not theirs & set(STEPS), "a step never imports a step"
    elif mine in FORMATS or mine in EXTENSION_POINTS:
        allowed = {*FORMATS, *FOUNDATIONS, *EXTENSION_POINTS}
    elif mine in FOUNDATIONS:
        allowed = {*FOUNDATIONS, "tables"}
    elif mine == "fakeweb":
        allowed = {"errors"}
    else:
        return
    assert theirs <= allowed, f"{name} ({mine})"


def test_every_module_has_a_kind() -> None:
    assert {name for name in ALL if owner(name) == "__init__"} == {"__init__"}


def test_every_kind_names_modules_that_are_there() -> None:
    listed = {*STEPS, *FORMATS, *FOUNDATIONS, *EXTENSION_POINTS, *DOORS, *FAKEWEB}
    assert listed <= set(ALL)


def test_the_package_s_docstring_names_the_kinds() -> None:
    tour = ast.get_docstring(ast.parse(ALL["__init__"].read_text(encoding="utf-8"))) or ""
    words = set(tour.replace("/", ".").replace("`", " ").split())
    assert {*STEPS, *FORMATS, *FOUNDATIONS, *EXTENSION_POINTS} <= words


@pytest.mark.parametrize("path", ALL.values(), ids=ALL.keys())
def test_modules_are_short_and_have_names(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST
    assert path.stem not in {"utils", "util", "helpers", "common", "misc"}


@pytest.mark.parametrize("path", sorted((ROOT / "tests").glob("*.py")), ids=lambda path: path.stem)
def test_no_test_sleeps(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and "sleep" in ast.unparse(node.func):
            assert ast.unparse(node) == "asyncio.sleep(0)", f"{path.name}:{node.lineno}"
