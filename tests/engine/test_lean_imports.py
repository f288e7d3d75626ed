from __future__ import annotations

import gc
import importlib
import subprocess
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


POSTPONED = """
import os
import sys
import types
from gossamer.engine.lean_imports import postpone_pandas
from gossamer.engine.spark_client import import_client

def is_imported():
    return "pandas.core" in sys.modules

postpone_pandas()
import_client()
from pyspark.sql.connect import session
import pandas
DataFrame = pandas.DataFrame
print(is_imported(), isinstance([], DataFrame), pandas.__version__ > "2", is_imported(), flush=True)
for use in sys.argv[1:]:
    if not os.fork():
        print(eval(use), is_imported(), flush=True)
        os._exit(0)
    os.wait()
"""
USES = {
    "the name of a class": "isinstance(DataFrame({'n': [1]}), DataFrame)",
    "a method of it": "isinstance(DataFrame.from_dict({'n': [1]}), session.pd.DataFrame)",
    "a class of its own": "isinstance(types.new_class('Own', (DataFrame,))(), DataFrame)",
    "a constant": "pandas.NA is __import__('pandas').NA",
    "a function": "session.is_datetime64_dtype(pandas.Series(pandas.to_datetime(['2026-11-29'])))",
    "a name": "__import__('pandas', fromlist=['NA']).NA is pandas.NA",
    "a module": "__import__('pandas.core.frame').DataFrame is pandas.core.frame.DataFrame",
}


@pytest.mark.server
def test_pandas_is_imported_when_somebody_uses_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", POSTPONED, *USES.values()],
        capture_output=True,
        text=True,
        check=True,
    )
    first, *used = done.stdout.splitlines()
    assert first == "False False True False"
    assert dict(zip(USES, used, strict=True)) == dict.fromkeys(USES, "True True")
