"""What the filters say about known pages, without a crawl."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from gossamer.config import FilterConfig
from gossamer.rules.filter_rules.filter_recipe import RULE_LINES, FilterRecipe, RuleFile
from gossamer.schedule.refilter import REFUSED, RESTORED, SEED, STILL, _judge_batches
from gossamer.tables.outcomes import FILTERED, FILTERED_TYPE

if TYPE_CHECKING:
    from pathlib import Path

URL = "https://a.test/"
PAGE: dict[str, Any] = {
    "url": URL,
    "depth": 0,
    "hops": 0,
    "source": "link",
    "status": "fetched",
    "outcome": "ok",
    "content_type": None,
}
EXCLUDED = {"status": "excluded", "outcome": FILTERED}
BY_TYPE = {"status": "excluded", "outcome": FILTERED_TYPE}
REFUSED_URL = {"url": f"{URL}refused"}
PICTURE = {"content_type": "image/png"}
RULES = ["deny prefix https://a.test/rule/", "deny type image/"]


def judged(recipe: FilterRecipe, *pages: dict[str, Any]) -> list[tuple[Any, ...]]:
    batches = [pa.RecordBatch.from_pylist([PAGE | page]) for page in pages]
    return [
        tuple(row.values())[1:]
        for batch in _judge_batches(recipe, iter(batches))
        for row in batch.to_pylist()
    ]


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ({}, []),
        (REFUSED_URL, [(REFUSED, FILTERED, "deny", None)]),
        (REFUSED_URL | EXCLUDED, [(STILL, FILTERED, "deny", None)]),
        (REFUSED_URL | BY_TYPE, [(REFUSED, FILTERED, "deny", None)]),
        (REFUSED_URL | {"outcome": FILTERED}, [(REFUSED, FILTERED, "deny", None)]),
        (REFUSED_URL | {"source": "seed"}, [(SEED, FILTERED, "deny", None)]),
        (REFUSED_URL | EXCLUDED | {"source": "seed"}, [(STILL, FILTERED, "deny", None)]),
        (EXCLUDED, [(RESTORED, None, None, None)]),
        (BY_TYPE, [(RESTORED, None, None, None)]),
        (EXCLUDED | {"outcome": "robots_denied"}, []),
        ({"depth": 5}, []),
        ({"depth": 6}, [(REFUSED, FILTERED, "depth", None)]),
        (PICTURE, []),
    ],
)
def test_what_becomes_of_a_page(page: dict[str, Any], expected: list[tuple[Any, ...]]) -> None:
    recipe = FilterRecipe(FilterConfig(scope="any", deny=("refused",), max_depth=5), (), 2026, None)
    assert judged(recipe, page) == expected


@pytest.mark.parametrize(
    ("page", "expected"),
    [
        ({}, []),
        ({"url": f"{URL}rule/x"}, [(REFUSED, FILTERED, "rule_prefix", 0)]),
        (PICTURE, [(REFUSED, FILTERED_TYPE, "rule_type", 1)]),
        ({"content_type": "text/html"}, []),
        (
            PICTURE | {"source": "seed"},
            [(REFUSED, FILTERED_TYPE, "rule_type", 1)],
        ),
        (PICTURE | BY_TYPE, [(STILL, FILTERED_TYPE, "rule_type", 1)]),
        (PICTURE | EXCLUDED, [(REFUSED, FILTERED_TYPE, "rule_type", 1)]),
        (
            PICTURE | {"url": f"{URL}rule/x"},
            [(REFUSED, FILTERED, "rule_prefix", 0)],
        ),
        (REFUSED_URL | PICTURE, [(REFUSED, FILTERED, "deny", None)]),
    ],
)
def test_rules_of_the_owner(
    tmp_path: Path, page: dict[str, Any], expected: list[tuple[Any, ...]]
) -> None:
    pq.write_table(pa.table({"rule": RULES}, schema=RULE_LINES), tmp_path / "rules.parquet")
    rules = RuleFile("of this test", str(tmp_path / "rules.parquet"), True, False)
    recipe = FilterRecipe(FilterConfig(scope="any", deny=("refused",)), (), 2026, rules)
    assert judged(recipe, page) == expected


def test_batches_follow_each_other() -> None:
    recipe = FilterRecipe(FilterConfig(scope="any", deny=("refused",)), (), 2026, None)
    assert len(judged(recipe, REFUSED_URL, {}, EXCLUDED)) == 2
