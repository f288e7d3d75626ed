"""Columns of the documents that some rows name by `url` and `round`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.tables import DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace

FEW = 20
"""Documents that are asked for by their URLs. Fact (Sail 0.7.2): of a filter by so many values, it
asks the statistics of row groups and pages, and leaves out those that have none of them."""


def join_documents(work: Workspace, wanted: DataFrame, *columns: str) -> DataFrame:
    """`wanted` (materialised) with columns of the document with this `url` and `round`.

    Only rows of these rounds are read. A document is in a file of the round that parsed it, which
    may be later than its own. Most are of the last round, whose files are few, so they are looked
    up apart.
    """
    counts = wanted.groupBy("round").agg(F.count("*").alias("number")).collect()
    rounds = {row["round"]: row["number"] for row in counts}
    first, last = min(rounds, default=0), max(rounds, default=0)
    if first == last:
        return _join_documents_since(work, wanted, first, *columns)
    newest = _join_documents_since(work, wanted.where(F.col("round") == last), last, *columns)
    older = wanted.where(F.col("round") < last)
    urls = []
    if sum(rounds.values()) - rounds[last] <= FEW:
        urls = [row["url"] for row in older.select("url").collect()]
    return newest.unionByName(_join_documents_since(work, older, first, *columns, urls=urls))


def _join_documents_since(
    work: Workspace, wanted: DataFrame, first: int, *columns: str, urls: Sequence[str] = ()
) -> DataFrame:
    """As `join_documents`, with files of this round or later ones. `urls`: those of `wanted`."""
    layers = [each for each in work.store.manifest.layers(DOCUMENTS.name) if each.round >= first]
    files = [file for layer in layers for file in layer.files]
    work.store.check(files)
    paths = [f"{work.root}/{file.path}" for file in files]
    # Many without a filter: the engine takes filtered rows for a fifth of all, which may be fewer
    # than the wanted ones, and would then hold all texts in its hash table.
    rows = work.engine.read_some(paths, DOCUMENTS.ddl).select("url", "round", *columns)
    if urls:
        rows = rows.where(F.col("url").isin(*urls))
    return wanted.join(rows, on=["url", "round"], how="inner")
