"""A program that crawls does without pandas until it uses it."""

from __future__ import annotations

import subprocess
import sys

_PROGRAM = """
import sys
from gossamer.config import EngineConfig
from gossamer.engine import Engine
from gossamer.lean_arrow import forgo_pandas
from gossamer.postponed_pandas import postponed_pandas
from gossamer.spark_client import import_client

forgo_pandas()
with postponed_pandas():
    import_client()
import pandas as pd

with Engine(EngineConfig(workers=1)) as engine:
    rows = engine.map_partitions(engine.spark.range(3), lambda batches: batches, "id long")
    print(rows.count(), "pandas._libs" in sys.modules)
    print(engine.spark.createDataFrame([(7,)], "n long").collect())
    print(type(rows.toPandas()) is pd.DataFrame, sys.modules["pandas"].__file__ == pd.__file__)
"""


def test_the_engine_needs_no_pandas_but_whoever_uses_it_gets_it() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _PROGRAM],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stderr == ""
    assert done.stdout == "3 False\n[Row(n=7)]\nTrue True\n"
