from __future__ import annotations

import gc
import importlib
import sys
from typing import TYPE_CHECKING

import pytest

from gossamer.engine.lean_imports import hide_package, pause_collections

if TYPE_CHECKING:
    from pathlib import Path


def test_a_package_is_not_found_in_the_block_but_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "superfluous.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    with hide_package("superfluous"), pytest.raises(ModuleNotFoundError):
        importlib.import_module("superfluous")
    importlib.import_module("superfluous")
    del sys.modules["superfluous"]


def test_nothing_is_collected_in_the_block_and_what_it_made_is_never_looked_at_again() -> None:
    try:
        with pause_collections():
            assert not gc.isenabled()
            kept = [[] for _ in range(1000)]  # type: ignore[var-annotated]
        assert gc.isenabled()
        assert gc.get_freeze_count() >= len(kept)
    finally:
        gc.unfreeze()


def test_the_collector_is_on_again_after_an_error() -> None:
    try:
        with pytest.raises(ImportError), pause_collections():
            raise ImportError
        assert gc.isenabled()
    finally:
        gc.unfreeze()
