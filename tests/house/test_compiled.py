"""The modules that hatch_build.py compiles: Python prefers a compiled module to its source."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from tests.support.repository import ROOT

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
HOOK = SETTINGS["tool"]["hatch"]["build"]["hooks"]["custom"]
SOURCES = [ROOT / module for module in HOOK["modules"]]


IN_C = {"_loops": "native", "_texts": "native/texts"}
"""Modules in C, and the folders of their sources."""
PACKAGE = ROOT / "src/gossamer"


def compiled(source: Path) -> list[Path]:
    return list(source.parent.glob(f"{source.stem}.*.so"))


def test_no_compiled_module_is_older_than_its_source() -> None:
    made = [(source, file) for source in SOURCES for file in compiled(source)]
    made += [
        (source, file)
        for module, folder in IN_C.items()
        for source in (PACKAGE / folder).glob("*.[ch]")
        for file in compiled(PACKAGE / module)
    ]
    stale = [
        str(source.relative_to(ROOT))
        for source, file in made
        if file.stat().st_mtime < source.stat().st_mtime
    ]
    assert not stale, f"run `make setup`, which compiles them again: {stale}"


def test_all_modules_are_compiled_or_none() -> None:
    in_c = [PACKAGE / module for module in IN_C]
    assert len({bool(compiled(source)) for source in [*SOURCES, *in_c]}) == 1
