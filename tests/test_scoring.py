from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

from gossamer import scoring
from gossamer.errors import ConfigError

if TYPE_CHECKING:
    from gossamer.engine import Engine


def score(engine: Engine, name: str, depth: int, inlinks: int) -> float:
    row = engine.spark.createDataFrame([(depth, inlinks)], "depth int, inlinks long")
    column = scoring.load(name)(F.col("depth"), F.col("inlinks"))
    found: float = row.select(column.alias("score")).collect()[0]["score"]
    return found


def test_links_prefers_near_and_linked_pages(engine: Engine) -> None:
    assert score(engine, "links", 0, 0) == 1.0
    assert score(engine, "links", 1, 8) == 1.5
    assert score(engine, "links", 3, 8) == 0.75


def test_breadth_sees_depth_alone(engine: Engine) -> None:
    assert score(engine, "breadth", 3, 0) == score(engine, "breadth", 3, 999) == 0.25


def test_an_unknown_name_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match=r"update\.scoring: no scoring named 'best'"):
        scoring.load("best")


def test_a_plugin_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = EntryPoint("mine", "gossamer.scoring:breadth", "gossamer.scoring")
    monkeypatch.setattr(scoring, "entry_points", lambda **_: [entry])
    assert scoring.load("mine") is scoring.breadth
