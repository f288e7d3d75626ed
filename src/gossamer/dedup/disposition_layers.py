"""What is known about each document: the dispositions so far, and over them what has changed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from gossamer.state import lsm
from gossamer.tables import DISPOSITIONS

if TYPE_CHECKING:
    from collections.abc import Callable

    from gossamer.state.workspace import Workspace

FINDABLE = "disposition IN ('indexed', 'dropped_duplicate')"
"""Rows of documents that can be found, or that others stand for."""


@dataclass
class DispositionLayers:
    """Rows of `dispositions`, of which those in newer layers replace older ones."""

    work: Workspace
    layers: list[DataFrame]
    """Oldest first. They must be stored or materialised."""

    def where(self, wanted: Callable[[DataFrame], DataFrame]) -> DataFrame:
        """The rows that `wanted` chooses in each layer, without those that are replaced."""
        return lsm.newest_rows(self.layers, "url", wanted)

    def rows_of_urls(self, urls: DataFrame) -> DataFrame:
        """The rows of pages (`url`)."""
        return self.where(lambda layer: layer.join(urls, on="url", how="left_semi"))

    def rows_of_texts(self, texts: DataFrame) -> DataFrame:
        """The rows of documents that have these texts (`text`), whole or as what is compared."""

        def having(layer: DataFrame) -> DataFrame:
            whole = layer.join(texts, on="text", how="left_semi")
            own = layer.where("compared <> text").join(texts, on="text", how="left_anti")
            compared = texts.select(F.col("text").alias("compared"))
            return whole.unionByName(own.join(compared, on="compared", how="left_semi"))

        return self.where(having)

    def rows_of_compared(self, texts: DataFrame) -> DataFrame:
        """The rows of documents of which these texts (`text`) are compared."""
        compared = texts.select(F.col("text").alias("compared"))
        return self.where(lambda layer: layer.join(compared, on="compared", how="left_semi"))

    def rows_of_families(self, families: DataFrame) -> DataFrame:
        """The rows of pages in these families of versions (`family`)."""
        urls = [
            layer.where("families IS NOT NULL")
            .select("url", F.explode("families").alias("family"))
            .join(families, on="family", how="left_semi")
            for layer in self.layers
        ]
        found = reduce(DataFrame.unionByName, urls).select("url").distinct()
        return self.rows_of_urls(self.work.scratch(found)[0])

    def with_layer(self, layer: DataFrame) -> DispositionLayers:
        return DispositionLayers(self.work, [*self.layers, layer])


def one_document_per_text(rows: DataFrame) -> DataFrame:
    """Each `compared` text of rows as `text`, and the `url` and `round` of a document with it.

    Fact (Sail 0.7.2): the least of a struct takes eight times as long as that of a column.
    """
    texts = rows.groupBy(F.col("compared").alias("text"))
    return texts.agg(F.min("url").alias("url"), F.min_by("round", "url").alias("round"))


def read_dispositions(work: Workspace, *, anew: bool) -> DispositionLayers:
    """What the last harvest left; nothing if all is judged `anew`."""
    return DispositionLayers(work, [] if anew else lsm.layer_frames(work, DISPOSITIONS, some=True))
