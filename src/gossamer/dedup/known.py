"""What is known about each document: the dispositions so far, and over them what has changed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from gossamer import lsm
from gossamer.tables import DISPOSITIONS, DOCUMENTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.workspace import Workspace

FIT = "disposition IN ('indexed', 'dropped_duplicate')"
"""Rows of documents that can be found, or that others stand for."""


MAX_NAMED = 300
"""Pages whose URLs a query names, so that the engine decodes only their rows."""


@dataclass
class Known:
    """Rows of `dispositions`, of which those in newer layers replace older ones."""

    work: Workspace
    layers: list[DataFrame]
    """Oldest first. They must be stored or materialised."""

    def where(self, wanted: Callable[[DataFrame], DataFrame]) -> DataFrame:
        """The rows that `wanted` chooses in each layer, without those that are replaced."""
        return lsm.newest(self.layers, "url", wanted)

    def of_urls(self, urls: DataFrame) -> DataFrame:
        """The rows of pages (`url`)."""
        return self.where(lambda layer: layer.join(urls, on="url", how="left_semi"))

    def of_texts(self, texts: DataFrame) -> DataFrame:
        """The rows of documents with these texts (`text`)."""
        return self.where(lambda layer: layer.join(texts, on="text", how="left_semi"))

    def of_families(self, families: DataFrame) -> DataFrame:
        """The rows of pages in these families of versions (`family`)."""
        urls = [
            layer.where("families IS NOT NULL")
            .select("url", F.explode("families").alias("family"))
            .join(families, on="family", how="left_semi")
            for layer in self.layers
        ]
        found = reduce(DataFrame.unionByName, urls).select("url").distinct()
        return self.of_urls(self.work.scratch(found)[0])

    def with_layer(self, layer: DataFrame) -> Known:
        return Known(self.work, [*self.layers, layer])


def stored(work: Workspace, *, anew: bool) -> Known:
    """What the last harvest left; nothing if all is judged `anew`."""
    empty = [work.engine.read([], DISPOSITIONS.ddl)]
    return Known(work, empty if anew else lsm.layers(work, DISPOSITIONS))


def of_documents(work: Workspace, wanted: DataFrame, column: str) -> DataFrame:
    """`text` of `wanted` (materialised), with a column of the document with this `url` and `round`.

    Only the files of these rounds are read.
    """
    rounds = [row["round"] for row in wanted.select("round").distinct().collect()]
    paths = [path for round_ in rounds for path in work.paths(DOCUMENTS.name, round_)]
    urls = [row["url"] for row in wanted.select("url").limit(MAX_NAMED + 1).collect()]
    rows = (
        work.engine.read(paths, DOCUMENTS.ddl)
        if len(urls) > MAX_NAMED
        else work.engine.read_some(paths, DOCUMENTS.ddl, "url", urls)
    )
    return wanted.join(rows.select("url", "round", column), on=["url", "round"]).select(
        "text", column
    )
