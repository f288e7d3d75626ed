"""Spellings of links in frames are those of the functions on single ones."""

from __future__ import annotations

from functools import reduce
from itertools import product
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.rules.spellings import (
    FOREIGN,
    linked_spelling,
    plainer,
    plainest,
    spelling_after,
    spelling_from,
    spelling_rank,
)

if TYPE_CHECKING:
    from gossamer.state.workspace import Workspace

OWN, OTHER = "http://a.test/x?s", "http://a.test/X"
BY_RANK = [(None, 0), (OWN, 1), (OTHER, 1), (FOREIGN, 2), (OWN + FOREIGN, 3), (OTHER + FOREIGN, 3)]
SPELLINGS = [spelling for spelling, _ in BY_RANK]


def test_the_spelling_of_a_link(work: Workspace) -> None:
    sources = ("http://a.test/", "http://b.test/")
    links = [*product(sources, ["http://a.test/x"], [None, OWN])]
    rows = work.engine.spark.createDataFrame(links, "src string, dst string, spelling string")
    found = rows.select("src", "dst", "spelling", linked_spelling().alias("found")).collect()
    assert [row.found for row in found] == [spelling_from(*link) for link in links]


def test_the_rank_of_a_spelling(work: Workspace) -> None:
    rows = work.engine.spark.createDataFrame(BY_RANK, "spelling string, rank int")
    found = rows.select("rank", spelling_rank(F.col("spelling")).alias("found")).collect()
    assert [row.found for row in found] == [row.rank for row in found]


def test_the_plainest_spelling_of_a_group(work: Workspace) -> None:
    groups = [*product(SPELLINGS, repeat=2), *product(SPELLINGS, repeat=1), tuple(SPELLINGS[1:])]
    pairs = [(number, each) for number, group in enumerate(groups) for each in group]
    rows = work.engine.spark.createDataFrame(pairs, "number int, spelling string")
    for column in ("spelling", F.col("spelling")):
        found = rows.groupBy("number").agg(plainest(column).alias("found")).collect()
        assert {row.number: row.found for row in found} == {
            number: reduce(plainer, group) for number, group in enumerate(groups)
        }


def test_of_equal_rank_the_later_spelling_stays(work: Workspace) -> None:
    pairs = [*product(BY_RANK, repeat=2)]
    rows = work.engine.spark.createDataFrame(
        [(before[0], found[0]) for before, found in pairs], "before string, found string"
    )
    after = rows.select(spelling_after(F.col("before"), F.col("found")).alias("after")).collect()
    assert [row.after for row in after] == [
        before[0] if before[1] < found[1] else found[0] for before, found in pairs
    ]
