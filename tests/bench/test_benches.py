"""Each script of bench/ runs at a tiny size. Most are run by hand, and rarely otherwise."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from importlib.metadata import packages_distributions
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.repository import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator

BENCH = ROOT / "bench"
SKIPPED = 77
ON_SPARK = {"cluster_steps", "driver_memory", "workers"}
LONGEST_S = 900


def runner() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCH)
        spec = importlib.util.spec_from_file_location("run", BENCH / "run.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return module


SCRIPTS = list(runner().questions())


def marks_of(name: str) -> list[pytest.MarkDecorator]:
    if name in ON_SPARK:  # a cluster takes minutes to start and plan
        return [pytest.mark.spark, pytest.mark.long]
    return [pytest.mark.slow]


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=BENCH,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (ROOT / "src", ROOT)))},
        capture_output=True,
        text=True,
        check=False,
        timeout=LONGEST_S,
    )


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks_of(name)) for name in SCRIPTS])
def test_script_answers_at_a_tiny_size(name: str) -> None:
    done = run(f"{name}.py", "--tiny")
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    assert done.stdout.splitlines()[-1].startswith("figure: ")


@pytest.mark.slow
def test_table_names_scripts_that_ran_failed_or_lack_something() -> None:
    done = run("run.py", "graph", "maintext", "--tiny", "--nodes", "200", "--links", "1000")
    assert done.returncode == 1  # maintext has no such sizes
    table = done.stdout.partition("question")[2]
    assert re.search(r"graph.*bits per link.* ok ", table)
    assert re.search(r"maintext.*failed", table)
    assert "needs --collections" in run("run.py", "maintext").stdout
    assert run("run.py", "nothing").returncode == 2


def test_scripts_do_not_hide_installed_packages() -> None:
    """A script's folder comes first in sys.path: incremental.py once hid a package from Scrapy."""
    installed = {*packages_distributions(), *sys.stdlib_module_names}
    assert not {path.stem for path in BENCH.glob("*.py")} & installed


def texts() -> Iterator[tuple[str, str]]:
    """The names and texts of all modules and pages of the repository."""
    folders = [ROOT / name for name in ("bench", "deploy", "docs", "examples", "src", "tests")]
    paths = [path for folder in folders for path in folder.rglob("*.*")]
    for path in (*paths, *ROOT.glob("*.*"), ROOT / "Makefile"):
        if path.is_file() and path.suffix in {".md", ".py", ".toml", ""}:
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def test_scripts_that_are_named_anywhere_exist() -> None:
    named = {
        (where, name)
        for where, text in texts()
        for name in re.findall(r"(?<!tests/)\bbench/(\w+\.py)", text)
    }
    assert len(named) > 30
    assert not {each for each in named if not (BENCH / each[1]).exists()}


def test_performance_page_has_every_script() -> None:
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    assert set(re.findall(r"`bench/(\w+)\.py", page)) == set(SCRIPTS)
