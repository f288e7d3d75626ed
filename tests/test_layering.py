"""The kinds of module of ARCHITECTURE.md, what each may import, and how long a module may be."""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src"
MAX_LINES = 400
TOUR = "__init__"
"""The package itself, which every module may import."""


class Kind(NamedTuple):
    modules: frozenset[str]
    """Names below gossamer. A package stands for all of its modules but those that are named."""
    may_import: frozenset[str]
    """Kinds, and single modules. A module may always import others of its own package."""


def kind(modules: str, may_import: str) -> Kind:
    return Kind(frozenset(modules.split()), frozenset(may_import.split()))


KINDS = {
    "step": kind(
        "inject refresh refilter mark generated_rules generate fetch parse update compaction prune "
        "invert graph farms rank boilerplate dedup index postings serve",
        "format foundation extension-point search status",
    ),
    "format": kind(
        "tables outcomes task_output handover lsm inputs lookup linkgraph farm_signs duplicates "
        "domains discoveries growth depths dealing due marks fitness promise recrawl habits "
        "polling pace opic due_times sections page_ranks page_lines page_sample score_buckets "
        "own_texts url_rules filter_rules warc seeds export fulltext "
        "postings.blocks postings.retrieval postings.reader bvgraph graph.text graph.names "
        "graph.naming graph.overlaid graph.stored graph.covered graph.host_links graph.rows "
        "graph.components graph.hyperball graph.harmonic graph.paths graph.neighbourhood "
        "graph.export graph.queries",
        "format foundation",
    ),
    "foundation": kind(
        "engine pool messages lean_arrow store branches intact manifest listings garbage filenames "
        "checksums places files parquet local_copies vacancy backends holders objects leases "
        "buckets bucket_errors system_errors aws_profiles "
        "damage ownership urls addresses own egress patterns encodings session_ids "
        "suffixes robots robots_rules config monitor stopping pausing supervision errors "
        "workspace sorted_parts processes settings_file spark_client worker_start lean_imports "
        "sketches classifier version_names filter_rules.language filter_rules.index "
        "filter_rules.recipe filter_rules.rule_files",
        "foundation tables",
    ),
    "extension-point": kind("filters traps scoring", "extension-point foundation"),
    "search": kind("search", "format foundation extension-point"),
    "door": kind(
        "api plugins filtering check cli rounds forever harvests status unfetched explanation "
        "compile_ahead preparation",
        "step format foundation extension-point search door world",
    ),
    "world": kind("fakeweb", "errors processes"),
}
TABLES_READERS = {"filenames", "workspace"}
"""Foundations that know the datasets."""
NO_NAMES = {"utils", "util", "helpers", "common", "misc"}


def modules() -> Iterator[tuple[str, Path]]:
    """Dotted names below gossamer, and their files."""
    for path in sorted((SRC / "gossamer").rglob("*.py")):
        parts = path.relative_to(SRC / "gossamer").with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == TOUR and parts[1:] else parts), path


ALL = dict(modules())
OWNERS = {module: name for name, each in KINDS.items() for module in each.modules}


def owner(name: str) -> str:
    """The module or package of KINDS that a dotted name belongs to."""
    parts = name.split(".")
    owners = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((candidate for candidate in owners if candidate in OWNERS), TOUR)


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


def module_of(imported: str) -> str:
    """The module that an imported name is, or is in."""
    parts = imported.split(".")
    names = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((name for name in names if name in ALL), TOUR)


@cache
def graph() -> dict[str, set[str]]:
    """Which modules each imports."""
    return {name: {module_of(each) for each in imports(ALL[name])} - {name, TOUR} for name in ALL}


def test_a_module_imports_what_its_kind_may() -> None:
    forbidden = [
        f"{name} ({OWNERS[mine]}) imports {imported} ({OWNERS[theirs]})"
        for name, found in graph().items()
        if (mine := owner(name)) != TOUR
        for imported in sorted(found)
        if (theirs := owner(imported)) not in {mine, TOUR}
        and not {theirs, OWNERS[theirs]} & KINDS[OWNERS[mine]].may_import
    ]
    assert not forbidden


def test_a_step_may_not_import_a_step() -> None:
    assert "step" not in KINDS["step"].may_import


def test_few_foundations_know_the_datasets() -> None:
    foundations = KINDS["foundation"].modules
    found = {owner(name) for name, imported in graph().items() if "tables" in imported}
    assert found & foundations == TABLES_READERS


def test_no_modules_import_each_other_in_a_circle() -> None:
    try:
        TopologicalSorter(graph()).prepare()
    except CycleError as circle:
        raise AssertionError(" → ".join(circle.args[1])) from None


def test_every_module_has_a_kind() -> None:
    assert [name for name in ALL if owner(name) == TOUR] == [TOUR]


def test_every_kind_names_modules_that_are_there() -> None:
    assert set(OWNERS) <= set(ALL)


def test_architecture_md_has_the_same_kinds() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    text = text.partition("## Kinds of module\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| ([a-z ]+) \| ([^|]+) \| [^|]+ \|$", text, re.MULTILINE)
    described = {
        name.replace(" ", "-"): frozenset(modules.replace("/", ".").split())
        for name, modules in rows
        if name != "kind"
    }
    assert described == {name: each.modules for name, each in KINDS.items()}


def test_the_package_s_docstring_names_the_kinds() -> None:
    tour = ast.get_docstring(ast.parse(ALL[TOUR].read_text(encoding="utf-8"))) or ""
    words = set(tour.replace("/", ".").replace("`", " ").split())
    named = ("step", "format", "foundation", "extension-point")
    assert set().union(*(KINDS[each].modules for each in named)) <= words


def test_modules_are_short_and_have_names() -> None:
    lines = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in ALL.items()}
    assert not {name: count for name, count in lines.items() if count > MAX_LINES}
    assert not {path for path in ALL.values() if path.stem in NO_NAMES}


def test_no_test_sleeps() -> None:
    assert not [
        f"{path.name}:{node.lineno}"
        for path in sorted((ROOT / "tests").glob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and "sleep" in ast.unparse(node.func)
        and ast.unparse(node) != "asyncio.sleep(0)"
    ]


def test_marks_are_where_make_looks_for_them() -> None:
    """It runs the test files that contain a mark, and would not see one from a helper."""
    marks = re.compile(r"\bmark[.](slow|fuzz|browser|spark)\b")
    others = set((ROOT / "tests").glob("*.py")) - set((ROOT / "tests").glob("test_*.py"))
    assert not [path.name for path in others if marks.search(path.read_text(encoding="utf-8"))]
