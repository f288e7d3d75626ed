"""Which of several pages with the same content survives?

  1. A page yields to the page that it names as its canonical one, if that has the same content, can
     be found, too, and names no other. So a canonical link is believed only where it is true.
  2. Across domains, the page that was found first stays: anybody can copy it to a better URL. What
     counts is the domain's first page with the content, and since when that had its title: an old
     page that becomes a copy is new. A page yields to one that was found later only if that is
     clearly outranking it: 2^CLEAR_CLASSES times as many independent domains link there. The rank
     itself does not count here, since everybody can raise it by pages of his own.
  3. Of the others, the one with the highest rank survives. Ranks count as their binary logarithms,
     rounded down (affected_pages.py). A canonical page has the highest rank of those that yield to
     it, and was found when the first of them was. So nobody can replace a page by a copy and a
     third page that names it.
  4. Of equal ranks, the one with the shortest URL survives, then the one that was found first, and
     then the first in their order.

Pages are similar in pairs, and similarity is not transitive: of three versions of a page, the first
and the last may differ a lot. So a page is dropped only if it is similar to the very page that
stands for it: pages are taken in the order of the rule, and each that was not dropped survives and
drops all that are similar to it. This is the lexicographically first maximal independent set of the
graph of similar pages. It is a sequential rule, so one task follows it. It holds a number per page,
and reads the pairs in parts.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

from gossamer.links import domains
from gossamer.state import lsm, sorted_rows
from gossamer.storage import parquet, task_output
from gossamer.storage.names import SCRATCH
from gossamer.storage.task_output import ParquetWriter
from gossamer.tables import INLINKS

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from gossamer.state.workspace import Workspace
    from gossamer.storage.task_output import Row

CLEAR_CLASSES = 4
SPAN = 1 << 20
"""Places whose pairs are held at once."""
DROPPED = pa.schema([("page", pa.int64()), ("by", pa.int64()), ("similarity", pa.float64())])


def add_owners(work: Workspace, pages: DataFrame) -> DataFrame:
    """Add the `domain` of pages, and its `voters`: a class by the domains that link to the page."""
    owners = domains.add_domains(work, pages.select("host").distinct())
    linked = lsm.rows_for_some(work, INLINKS, pages.select("url"), ["domains"])
    voters = F.floor(F.log2(1 + F.coalesce("domains", F.lit(0)))).cast("int")
    known = linked.withColumnRenamed("dst", "url").join(pages, on="url", how="right")
    hosted = F.broadcast(owners).join(known, on="host", how="inner")
    return hosted.withColumn("voters", voters).drop("domains")


def add_standing(pages: DataFrame, agreed: DataFrame) -> DataFrame:
    """Add `yields` and `lent`, on which the `survivor_order` depends, and lend `first_ms`.

    `agreed`: the pages (`copy`, its `rank` and `first_ms`) whose canonical page (`url`) has the
    same content and names no other.
    """
    copies = agreed.select(
        F.col("copy").alias("url"), F.lit(1).alias("yields"), "rank", F.lit(None).alias("lent_ms")
    )
    named = agreed.groupBy("url").agg(
        F.lit(0).alias("yields"), F.max("rank").alias("rank"), F.min("first_ms").alias("lent_ms")
    )
    standing = copies.unionByName(named).withColumnRenamed("rank", "lent")
    # The hash table is built from the left side of a join.
    joined = standing.join(pages, on="url", how="right")
    return joined.withColumns(
        {"yields": F.coalesce("yields", F.lit(0)), "first_ms": F.least("first_ms", "lent_ms")}
    )


def survivor_order() -> list[Column]:
    """The order of pages with the columns of `add_standing` and `is_copy`, the best first.

    `is_copy`: of a page of another domain.
    """
    return [
        F.col("yields"),
        F.col("is_copy"),
        F.desc(F.greatest("rank", F.coalesce("lent", "rank"))),
        F.length("url"),
        F.asc_nulls_last("found_ms"),
        F.col("url"),
    ]


def select_survivors(work: Workspace, pairs: DataFrame, pages: int) -> tuple[DataFrame, DataFrame]:
    """Find the pages that are dropped (`page`), by which one (`by`), and their `similarity`.

    `pairs` (`one`, `other`, `similarity`) of `pages` pages, by their places in the order, from 1:
    `one` < `other`. They are materialised, and returned, too.
    """
    part = F.expr(f"one div {SPAN}").cast("int").alias("part")
    files = work.scratch_files(pairs.select("one", "other", "similarity", part), by=["part"])
    parts = tuple(
        tuple(file.path for file in held) for held in sorted_rows.files_of_parts(files).values()
    )
    task = SurvivorTask(work.root, parts, pages, work.scratch_attempt())
    written = work.engine.map_tasks(
        [task], drop_similar, task_output.YIELD, task_output.YIELD_DDL, at_home=True
    )
    lost, edges = (
        [f"{work.root}/{path}" for path in paths]
        for paths in ((row["path"] for row in written), (file.path for file in files))
    )
    return (
        work.engine.read(lost, "page long, by long, similarity double"),
        work.engine.read(edges, "one long, other long, similarity double"),
    )


class SurvivorTask(NamedTuple):
    """The input of a task: for each span of places, the files with the pairs that begin in it."""

    root: str
    parts: tuple[tuple[str, ...], ...]
    pages: int
    attempt: str


def drop_similar(task: SurvivorTask) -> list[Row]:
    """Write the pages that are dropped."""
    # Most pages are in one or two pairs. One by one, numbers are faster read from Python's arrays.
    by, similarity = array("q", [0]) * (task.pages + 1), array("d", [0.0]) * (task.pages + 1)
    for files in task.parts:
        pairs = pa.concat_tables(
            parquet.read_table(f"{task.root}/{path}", partitioning=None) for path in files
        )
        one, other, similar = (
            column.to_pylist()
            for column in pairs.sort_by("one").select(["one", "other", "similarity"]).columns
        )
        for better, worse, alike in zip(one, other, similar, strict=True):
            if not by[better] and not by[worse]:
                by[worse], similarity[worse] = better, alike
    survivors = np.frombuffer(by, np.int64)
    (dropped,) = survivors.nonzero()
    columns = [dropped, survivors[dropped], np.frombuffer(similarity)[dropped]]
    writer = ParquetWriter(task.root, SCRATCH, task.attempt, schema=DROPPED)
    writer.write(pa.table(columns, schema=DROPPED))
    return writer.close()
