from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import functions as F

from gossamer.errors import ConfigError
from gossamer.schedule.order import scoring

if TYPE_CHECKING:
    from gossamer.engine.engine import Engine


def score(engine: Engine, text: str, **signals: float) -> float:
    values = {name: float(signals.get(name, 1)) for name in scoring.Signals._fields}
    row = engine.spark.createDataFrame([tuple(values.values())], list(values))
    column = scoring.load(text)(scoring.Signals(*map(F.col, values)))
    found: float = row.select(column.alias("score")).collect()[0]["score"]
    return found


def test_links_prefers_near_and_linked_pages(engine: Engine) -> None:
    assert score(engine, "links", depth=0, inlinks=0) == 1.0
    assert score(engine, "links", depth=1, inlinks=8) == 1.5
    assert score(engine, "links", depth=3, inlinks=8) == 0.75


def test_breadth_sees_depth_alone(engine: Engine) -> None:
    few, many = (score(engine, "breadth", depth=3, inlinks=inlinks) for inlinks in (0, 999))
    assert few == many == 0.25


@pytest.mark.parametrize(
    ("name", "signal"),
    [
        ("opic", "opic"),
        ("pagerank", "rank"),
        ("hostrank", "host_rank"),
        ("fit", "worth"),
        ("fit", "promise"),
    ],
)
def test_a_product_multiplies_its_factors(engine: Engine, name: str, signal: str) -> None:
    assert score(engine, name, **{signal: 6}) == 6
    assert score(engine, f" {name}* breadth", depth=1, **{signal: 6}) == 3
    assert score(engine, f"{name}*{name}*breadth", depth=1, **{signal: 6}) == 18


def test_only_scorings_by_rank_need_ranks() -> None:
    texts = ("breadth", "links*opic", "pagerank", "opic*hostrank")
    assert [scoring.load(text).needs_ranks for text in texts] == [False, False, True, True]


def test_only_fitness_needs_worth() -> None:
    texts = ("breadth", "links*opic", "fit", "opic*fit")
    assert [scoring.load(text).needs_worth for text in texts] == [False, False, True, True]


def test_a_product_has_so_few_factors_that_it_is_above_0(engine: Engine) -> None:
    assert score(engine, "*".join(["pagerank"] * scoring.MAX_FACTORS), rank=1e-12) > 0


def test_a_product_of_too_many_factors_is_a_config_error() -> None:
    assert len(scoring.load("*".join(["pagerank"] * 8)).factors) == 8
    with pytest.raises(ConfigError, match="a product of 9 scorings"):
        scoring.load("*".join(["pagerank"] * 9))


@pytest.mark.parametrize(("text", "name"), [("best", "best"), ("opic*best", "best"), ("opic*", "")])
def test_an_unknown_name_is_a_config_error(text: str, name: str) -> None:
    with pytest.raises(ConfigError, match=rf"update\.scoring: no scoring named '{name}'"):
        scoring.load(text)


def test_a_plugin_is_found_and_may_be_a_factor(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = EntryPoint("mine", "operator:sub", "gossamer.scoring")
    monkeypatch.setattr(scoring, "entry_points", lambda **_: [entry])
    assert score(engine, "mine", depth=7, inlinks=2) == 5
    assert score(engine, "mine*opic", depth=7, inlinks=2, opic=3) == 15
