"""What does a page say that its host does not repeat? Its main text without boilerplate.

The step `boilerplate` finds the lines of a host (dataset `boilerplate`), and describes the
documents of such hosts without them (`own_texts`). Pages are compared by what is read here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from gossamer.state import lsm
from gossamer.state.documents import join_documents
from gossamer.tables import BOILERPLATE, OWN_TEXTS
from gossamer.web.boilerplate_lines import BoilerplateLines

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from gossamer.state.workspace import Workspace

MAX_HOSTS = 100
"""Hosts whose lines a task remembers."""


def texts_with_boilerplate(work: Workspace) -> DataFrame:
    """The rows of `own_texts` of documents with lines that their host repeats."""
    return lsm.current(work, OWN_TEXTS).where("has_boilerplate")


def own_sketches(work: Workspace, wanted: DataFrame) -> DataFrame:
    """`text` of `wanted` and the document's `sketch`; null if too few of its words are its own."""
    documents = join_documents(work, wanted, "sketch")
    if not work.store.manifest.layers(OWN_TEXTS.name):
        return documents.select("text", "sketch")
    own = texts_with_boilerplate(work).select(
        "url", "round", "has_boilerplate", F.col("sketch").alias("own_sketch")
    )
    ours = F.when(F.col("has_boilerplate"), F.col("own_sketch")).otherwise(F.col("sketch"))
    return own.join(documents, on=["url", "round"], how="right").select(
        "text", ours.alias("sketch")
    )


def join_boilerplate_lines(work: Workspace, wanted: DataFrame) -> DataFrame:
    """`wanted` with the document's `host`, `main_text` and, null if there are none, host's `lines`.

    For `BoilerplateSplitter`.
    """
    texts = join_documents(work, wanted, "host", "main_text")
    if not work.store.manifest.layers(BOILERPLATE.name):
        return texts.withColumn("lines", F.lit(None).cast("array<bigint>"))
    lines = lsm.current(work, BOILERPLATE).select("host", "lines")
    return lines.join(texts, on="host", how="right")


class BoilerplateSplitter:
    """Splits main texts. The lines of a host are read once as long as there are few hosts."""

    def __init__(self) -> None:
        self._hosts: dict[str, BoilerplateLines] = {}

    def split(self, batch: pa.RecordBatch) -> Iterator[tuple[str, str]]:
        """Yield the own text and the boilerplate of each row of `join_boilerplate_lines`."""
        hosts, texts = (batch.column(name).to_pylist() for name in ("host", "main_text"))
        for host, text, lines in zip(hosts, texts, batch.column("lines"), strict=True):
            held = self._hosts.get(host)
            if held is None:
                if len(self._hosts) >= MAX_HOSTS:
                    self._hosts.clear()
                held = self._hosts[host] = BoilerplateLines(lines.as_py())
            yield held.split(text or "")
