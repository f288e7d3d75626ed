"""The generated pages are up to date and complete."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import pytest

from gossamer.tables import DATASETS
from gossamer.tables.outcomes import OUTCOMES
from tests.support.repository import ROOT

if TYPE_CHECKING:
    from types import ModuleType

DOCS = ROOT / "docs"


def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["datasets.md", "settings.md"])
def test_generated_pages_are_fresh(page: str) -> None:
    written = (DOCS / page).read_text(encoding="utf-8")
    assert written == generator().PAGES[page](), "run `make docs`"


def test_every_setting_has_a_help_text() -> None:
    for line in generator().settings().splitlines():
        if line.startswith("| `"):
            assert not line.endswith("|  |"), line


def test_every_dataset_column_and_outcome_is_described() -> None:
    page = generator().datasets()
    for dataset in DATASETS.values():
        assert f"\n## {dataset.name}\n" in page
        assert dataset.holds
        assert set(dataset.key) <= set(dataset.column_names)
        for column in dataset.columns:
            assert column.doc
            assert column.type in dataset.ddl
    for outcome in OUTCOMES:
        assert f"| `{outcome}` |" in page
