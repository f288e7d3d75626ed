"""In which sections do visits find new pages, and of which sections are these?

A row of `finds` counts the new pages of a section `target` that visits to pages of a section
`source` have found; a row without a target counts the visits. Each round adds a layer, by folders.
When sections are counted, these are merged into one, by the sections that are large enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import functions as F

from gossamer.schedule.order.sections.section_names import folder_column, innermost_sections
from gossamer.tables import FINDS

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer

UNIT = 1 << 20
"""The number that stands for one page: sums of integers do not depend on the engine."""
FORGETTING = 2
"""Finds and visits are divided by this each time: what brings much at first may not later."""
LEAST_FINDS = UNIT // 100


def write_finds(work: Workspace, links: DataFrame, pages: DataFrame) -> tuple[Layer, ...]:
    """Write in which folders a round has found new pages; return the layers of `finds`.

    `links` are those of the round; `pages` have the columns of `new_page_rows`. A page
    that several pages link to counts in equal parts.
    """
    new = pages.where("new").select(F.col("url").alias("dst"))
    links = links.where(~F.col("nofollow")).select("src", "dst")
    found, _ = work.scratch(links.join(new, on="dst", how="left_semi"))
    share = F.floor(F.lit(UNIT) / F.count("*")).cast("long")
    shares = found.groupBy("dst").agg(share.alias("pages"))
    source, target = folder_column(F.col("src")), folder_column(F.col("dst"))
    pairs = found.join(shares, on="dst", how="inner").select(
        source.alias("source"), target.alias("target"), "pages"
    )
    visits = pages.where("asked").select(
        folder_column(F.col("url")).alias("source"),
        F.lit(None).alias("target"),
        F.lit(UNIT).alias("pages"),
    )
    sums = pairs.unionByName(visits).groupBy("source", "target").agg(F.sum("pages").alias("pages"))
    return (*work.store.manifest.layers(FINDS.name), work.write(sums, FINDS.name, work.round))


def merge_finds(work: Workspace, sections: pa.ChunkedArray) -> pa.Table:
    """Return all rows of `finds`, by the innermost of these sections that their folders are in.

    Damaged files are forgotten: their rows only make estimates better.
    """
    paths = [f"{work.root}/{file.path}" for file in work.store.whole(FINDS.name)]
    pairs = work.engine.read(paths, FINDS.ddl).groupBy("source", "target")
    found = pairs.agg(F.sum("pages").alias("pages")).toArrow()
    known = frozenset(sections.to_pylist())
    ends = {name: innermost_sections(found[name], known) for name in ("source", "target")}
    merged = pa.table({**ends, "pages": found["pages"]}).group_by(["source", "target"])
    sums = merged.aggregate([("pages", "sum")]).rename_columns(["source", "target", "pages"])
    kept = pc.divide(sums["pages"], FORGETTING)
    halved = sums.set_column(2, "pages", kept).filter(pc.greater(kept, LEAST_FINDS))
    return halved.sort_by([("source", "ascending"), ("target", "ascending")])
