"""The generated pages are up to date and complete."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

import msgspec
import pytest

from gossamer.config import Config, FetchConfig, Secret
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


def test_every_setting_has_a_docstring() -> None:
    page = generator().settings().splitlines()
    settings = [line for line in page if line.startswith("| `")]
    assert len(settings) > len(msgspec.structs.fields(Config))
    for line in settings:
        assert not line.endswith("|  |"), line


def test_the_docstring_of_a_setting_is_the_one_below_it() -> None:
    texts = generator().docstrings(FetchConfig)
    assert texts.keys() == {field.name for field in msgspec.structs.fields(FetchConfig)}
    assert texts["verify_tls"] == "reject invalid TLS certificates, as browsers do"
    assert texts["nameservers"].startswith("DNS servers, ")
    assert generator().docstrings(Secret).keys() == {"file"}


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
