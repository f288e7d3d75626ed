"""What is a visit to a page worth? As much as the innermost section that it is in."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
from pyspark.sql import functions as F

from gossamer.schedule.order.sections.section_names import folder_column, innermost_section
from gossamer.schedule.order.sections.section_worth import UNKNOWN
from gossamer.storage import parquet

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace
    from gossamer.storage.store import Layer

LEAST_WORTH = 0.001
"""The worth of a page in a section that was never worth a visit: it comes last, but it comes."""
DRAWS = 1 << 20
"""Random numbers by which pages of a section are drawn for its trial."""


def add_page_worth(work: Workspace, pages: DataFrame, sections: Sequence[Layer]) -> DataFrame:
    """Add the column `worth` to pages (with `url`).

    `sections`: the layers of the dataset; without any, nothing is known.
    """
    paths = tuple(f"{work.root}/{file.path}" for layer in sections for file in layer.files)
    if not paths:
        return pages.withColumn("worth", F.lit(UNKNOWN))
    keyed = pages.withColumn("folder", folder_column(F.col("url")))
    folders = keyed.select("folder").distinct()
    ddl = "folder string, worth double, trial double"
    found, _ = work.map_rows(folders, partial(_look_up_worth, paths), ddl)
    drawn = F.pmod(F.xxhash64("url"), F.lit(DRAWS)) / DRAWS
    on_trial = F.when(drawn < F.col("trial"), F.lit(UNKNOWN)).otherwise(0.0)
    worth = F.greatest("worth", on_trial, F.lit(LEAST_WORTH))
    joined = keyed.join(found, on="folder", how="left")
    return joined.withColumn("worth", worth).drop("folder", "trial")


def _look_up_worth(
    paths: tuple[str, ...], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Add `worth` and `trial` of their innermost sections to folders."""
    stored = parquet.read_table(list(paths), columns=["section", "worth", "trial"])
    known = {name: values for name, *values in zip(*stored.to_pydict().values(), strict=True)}
    for batch in batches:
        folders = batch.column("folder")
        found = [known[innermost_section(name, known)] for name in folders.to_pylist()]
        columns = [pa.array(column, pa.float64()) for column in zip(*found, strict=True)]
        yield pa.RecordBatch.from_arrays([folders, *columns], ["folder", "worth", "trial"])
