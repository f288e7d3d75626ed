"""invert: links → inlinks. The pages that link to each page, with their anchor texts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from gossamer import linkgraph
from gossamer.tables import INLINKS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gossamer.store import StepReport
    from gossamer.workspace import Workspace

MAX_SOURCES = 200
"""Linking pages listed per page, the first by URL: a front page may have millions."""

GROUP_ROWS = 1_024
"""Rows of a row group. A look-up decodes half of one on average, and a row may be long."""


def run(work: Workspace) -> StepReport:
    with work.step("invert", work.round) as draft:
        inlinks = inverted(linkgraph.votes(work))
        layer = work.write(inlinks, INLINKS.name, work.round, GROUP_ROWS)
        draft.replace["inlinks"] = (layer,) if layer.files else ()
        draft.counts["pages"] = layer.rows
    return draft.done


def inverted(links: DataFrame) -> DataFrame:
    """The rows of `inlinks`: per target, the number of links and the first MAX_SOURCES of them."""
    to_dst = Window.partitionBy("dst")
    return (
        links.select(
            "dst",
            F.struct("src", "anchor").alias("source"),
            F.row_number().over(to_dst.orderBy("src")).alias("place"),
            F.count("*")
            .over(to_dst.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing))
            .alias("count"),
        )
        .where(F.col("place") <= MAX_SOURCES)
        .groupBy("dst")
        .agg(
            F.max("count").alias("count"),
            F.sort_array(F.collect_list("source")).alias("sources"),
        )
    )
