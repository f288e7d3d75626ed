"""Which aliases are fetched all the same, to be compared with their targets?

Each comparison may show that a rule is wrong, so there are more of them while there is little
evidence for it. A target is compared once.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa
import xxhash
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from gossamer.rules.url_rules.rewriting import rewriter_of
from gossamer.state import lsm
from gossamer.tables import ALIASES, PAGES, REWRITTEN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gossamer.state.workspace import Workspace

RULE_OF_THREE = 3
"""Of n agreements without exception follows that at most 3/n differ (`learning`)."""
MARGIN = 1.5
"""So many times the comparisons that a rule on trial needs are made: some are inconclusive."""
DRAWN_DDL = f"{REWRITTEN.ddl}, fetched boolean, turn long, lot double, supports long, missing long"


def choose_samples(firsts: DataFrame, sample: float) -> DataFrame:
    """The aliases that are compared with their targets; `firsts` has one alias for each target.

    For rules on trial, these are as many as are needed, rather of pages that were not fetched yet.

    Each comparison that is made counts for the next one, because a single one that differs drops
    the rule. If the share is 3/(n + k) after k of m comparisons, then dk/dm = 3/(n + k), and
    k = sqrt(n² + 6 m) - n.
    """
    alike = Window.partitionBy(F.array_join("rules", " "))
    count, supports = F.count("*").over(alike), F.col("supports").cast("double")
    expected = F.sqrt(supports * supports + 2 * RULE_OF_THREE * count) - supports
    place = F.row_number().over(alike.orderBy("fetched", "lot"))
    placed = firsts.withColumn("share", expected / count).withColumn("place", place)
    by_chance = F.col("lot") < F.greatest(F.lit(sample), F.col("share"))
    return placed.where(by_chance | (F.col("place") <= F.col("missing") * MARGIN))


def draw_lots(
    rules: tuple[str, ...], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Add a random order of aliases (`turn`), a lot for their target, and the rules' evidence."""
    rewriter = rewriter_of(rules)
    for batch in batches:
        urls, targets, used = (batch.column(n).to_pylist() for n in ("url", "target", "rules"))
        columns = [
            pa.array([xxhash.xxh3_64_intdigest(url.encode()) >> 1 for url in urls], pa.int64()),
            pa.array(map(_lot, targets), pa.float64()),
            pa.array([rewriter.least_supports(each) for each in used], pa.int64()),
            pa.array([rewriter.most_missing(each) for each in used], pa.int64()),
        ]
        yield pa.RecordBatch.from_arrays(
            [*batch.columns, *columns],
            names=[*batch.schema.names, "turn", "lot", "supports", "missing"],
        )


def _lot(target: str) -> float:
    """A random number below 1 that belongs to a target."""
    return xxhash.xxh3_64_intdigest(target.encode()) / 2**64


def rules_with_open_samples(work: Workspace, rules: DataFrame, answers: DataFrame) -> DataFrame:
    """Those of `rules` with samples that were not compared yet: rows with `rule`."""
    uses = F.explode("rules").alias("rule")
    samples = [
        layer.where("sampled").select("url", "target", uses).join(rules, on="rule", how="left_semi")
        for layer in lsm.layer_frames(work, ALIASES)
    ]
    sampled, _ = work.scratch(reduce(DataFrame.union, samples))
    active = lsm.rows_for(work, ALIASES, sampled.select("url")).where("active").select("url")
    pages, _ = work.scratch(
        sampled.join(active, on="url", how="left_semi").select(
            "rule", F.explode(F.array("url", "target")).alias("url")
        )
    )
    return (
        pages.join(lsm.rows_for(work, PAGES, pages.select("url")), on="url", how="inner")
        .where("status = 'unfetched'")
        .join(answers.where("outcome <> 'postponed'"), on="url", how="left_anti")
        .select("rule")
        .distinct()
    )
